import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import type { AisPlan, AisPlanNode } from '../../../../src/workflow/plan/plan.js'
import { applyPatches, parsePatches } from '../../../../src/workflow/readiness/patch.js'
import { nodeReadiness, ownCondition } from '../../../../src/workflow/readiness/readiness.js'
import { type AisRuntime, prepareRuntime } from '../../../../src/workflow/readiness/runtime.js'
import { answerParts, defaultSolver } from '../../../../src/workflow/readiness/solver.js'
import type { CompileValues } from '../../../../src/workflow/value/compile.js'
import { valuesFor } from '../../../../src/workflow/value/plain.js'
import { aisText, goodPlan, protocolOf } from '../../../support/ais.js'

const usdc = {
  chain_id: 'eip155:1',
  address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  decimals: 6
}
const wallet = `0x${'1'.repeat(40)}`
const inputs = {
  collateral_amount: '0.4',
  borrow_amount: '850.25',
  bridge_amount: '500',
  cex_address: `0x${'2'.repeat(40)}`
}

let plan: AisPlan
let values: CompileValues
beforeAll(async () => {
  plan = (await goodPlan(aisText('bridge'))).plan
  values = await valuesFor({ cel: '' })
})

function runtimeOf(nodes: AisRuntime['nodes'] = {}, more: JsonObject = {}): AisRuntime {
  const ctx = { wallet_address: wallet, wallet_address_solana: 'So1' }
  const prepared = prepareRuntime(plan, { inputs, ctx, calculated: { usdc }, ...more })
  expect(prepared).toMatchObject({ ok: true })
  return { ...(prepared as { readonly runtime: AisRuntime }).runtime, nodes }
}

function nodeOf(id: string): AisPlanNode {
  const node = plan.nodes.find((one) => one.id === id)
  if (node === undefined) throw new Error(id)
  return node
}

const outputs = (given: JsonObject) => ({ outputs: given, calculated: {} })

describe('W3: the nodes of the seed', () => {
  it('resolve their arguments, exactly', () => {
    const ready = nodeReadiness(nodeOf('transfer_to_cex'), runtimeOf(), values)
    expect(ready).toMatchObject({
      state: 'ready',
      params: { amount: '350250000', to: inputs.cex_address },
      execution: {
        type: 'evm_call',
        to: usdc.address,
        args: { to: inputs.cex_address, value: '350250000' }
      }
    })
  })

  it('compare amounts as amounts: 999 is less than 500 million', () => {
    const at = (allowance: Json) =>
      nodeReadiness(
        nodeOf('bridge_approve'),
        runtimeOf({ bridge_allowance: outputs({ allowance }) }),
        values
      )
    expect(at('999')).toMatchObject({
      state: 'ready',
      execution: { args: { value: '500000000' } }
    })
    expect(at('500000000')).toEqual({ state: 'skipped', condition: 0 })
    expect(at('max')).toMatchObject({ state: 'failed', errors: [{ code: 'expression_failed' }] })
  })

  it.each<Json>([1, 'true', null, []])(
    'W3: have conditions that are exactly boolean, which %j is not',
    (given) => {
      const conditions = [{ scope: 'flow', value: { lit: given } }] as const
      const node: AisPlanNode = { ...nodeOf('transfer_to_cex'), conditions }
      expect(nodeReadiness(node, runtimeOf(), values)).toMatchObject({
        state: 'failed',
        errors: [{ code: 'not_boolean' }]
      })
    }
  )

  it('W6: see of a node that was skipped that it is there, without outputs', () => {
    const value = { cel: 'has(nodes.bridge_approve.outputs) == false' }
    const conditions = [{ scope: 'flow', value }] as const
    const node: AisPlanNode = { ...nodeOf('transfer_to_cex'), conditions }
    const runtime = runtimeOf({ bridge_approve: null })
    expect(nodeReadiness(node, runtime, values)).toMatchObject({ state: 'ready' })
  })

  it('take contracts of deployments, unless the runtime says otherwise', () => {
    const contractsAt = (contracts: JsonObject) => {
      const nodes = { bridge_allowance: outputs({ allowance: '0' }) }
      const found = nodeReadiness(nodeOf('bridge_approve'), runtimeOf(nodes, { contracts }), values)
      return found.state === 'ready' ? found.contracts['bridge_spender'] : found
    }
    const [bare, chain, node] = ['3', '4', '5'].map((digit) => `0x${digit.repeat(40)}`)
    expect(contractsAt({})).toBe('0x5427FEFA711Eff984124bFBB1AB6fbf5E3DA1820')
    expect(contractsAt({ bridge_spender: bare ?? '' })).toBe(bare)
    const scoped = { 'eip155:1': { bridge_spender: chain ?? '' } }
    expect(contractsAt({ bridge_spender: bare ?? '', ...scoped })).toBe(chain)
    expect(contractsAt({ bridge_approve: { bridge_spender: node ?? '' }, ...scoped })).toBe(node)
  })

  it('poll until a condition about themselves holds', () => {
    const node = nodeOf('wait_arrival')
    const at = (arrived: Json) =>
      ownCondition('until', node, runtimeOf({ wait_arrival: outputs({ arrived }) }), values)
    expect(at(true)).toEqual({ ok: true, holds: true })
    expect(at(false)).toEqual({ ok: true, holds: false })
    expect(ownCondition('until', node, runtimeOf(), values)).toMatchObject({
      ok: false,
      error: { code: 'missing_reference' }
    })
  })
})

describe('blocked nodes', () => {
  it('say what is missing, and ask for it with its type', () => {
    const { borrow_amount: _, ...rest } = inputs
    const runtime = runtimeOf({}, { inputs: rest })
    const node = nodeOf('transfer_to_cex')
    const blocked = nodeReadiness(node, runtime, values)
    expect(blocked).toEqual({
      state: 'blocked',
      missingRefs: ['inputs.borrow_amount'],
      needsDetect: []
    })
    if (blocked.state !== 'blocked') return
    expect(defaultSolver(plan, node, blocked)).toMatchObject({
      kind: 'ask',
      request: { missing: [{ path: 'inputs.borrow_amount', type: 'token_amount' }] }
    })
    const { patches } = answerParts({ 'inputs.borrow_amount': '850.25' })
    const parsed = parsePatches(patches)
    expect(parsed).toHaveLength(1)
    const patched = applyPatches(plan, runtime, parsed as never)
    expect(patched.audit).toMatchObject({ applied: 1, affectedPaths: ['inputs.borrow_amount'] })
    expect(nodeReadiness(node, patched.runtime, values)).toMatchObject({ state: 'ready' })
  })

  it('fail when what is missing cannot be given any more', () => {
    const node = nodeOf('bridge_approve')
    expect(nodeReadiness(node, runtimeOf(), values)).toMatchObject({
      state: 'failed',
      errors: [{ code: 'missing_reference', place: 'condition' }]
    })
    const without = runtimeOf({}, { calculated: {} })
    expect(nodeReadiness(nodeOf('transfer_to_cex'), without, values)).toMatchObject({
      state: 'failed',
      errors: [
        { place: 'args/token', message: 'it reads calculated.usdc, which is not there' },
        { place: 'args/amount' }
      ]
    })
  })
})

describe('choices', () => {
  it('take the first of choose_one and ask for the others', async () => {
    const protocol = protocolOf({
      schema: 'ais/0.0.2',
      meta: { protocol: 'p', version: '1.0.0' },
      actions: {},
      queries: {
        q: {
          params: [
            { name: 'route', type: 'string' },
            { name: 'pool', type: 'string' }
          ],
          execution: { '*': { type: 'plugin', route: { ref: 'params.route' } } }
        }
      }
    })
    const candidates = [{ lit: 'a' }, { ref: 'ctx.b' }]
    const { plan: own } = await goodPlan(
      {
        schema: 'ais-flow/0.0.3',
        meta: { name: 'demo', version: '1.0.0' },
        default_chain: 'eip155:1',
        nodes: [
          {
            id: 'n',
            type: 'query_ref',
            protocol: 'p@1.0.0',
            query: 'q',
            args: {
              route: { detect: { kind: 'best_quote', provider: 'x', candidates } },
              pool: { detect: { kind: 'choose_one', candidates } }
            }
          }
        ]
      },
      [protocol]
    )
    const node = own.nodes[0]
    const prepared = prepareRuntime(own, { ctx: { b: 'bee' } })
    if (!prepared.ok || node === undefined) throw new Error('not prepared')
    expect(nodeReadiness(node, prepared.runtime, values)).toEqual({
      state: 'blocked',
      missingRefs: [],
      needsDetect: [
        {
          key: 'args/route/0',
          kind: 'best_quote',
          provider: 'x',
          candidates: ['a', 'bee'],
          constraints: null
        }
      ]
    })
    const runtime = { ...prepared.runtime, choices: { n: { 'args/route/0': 'bee' } } }
    expect(nodeReadiness(node, runtime, values)).toMatchObject({
      state: 'ready',
      params: { route: 'bee', pool: 'a' }
    })
  })
})

describe('W3: patches', () => {
  const patched = (patches: Json) => {
    const parsed = parsePatches(patches)
    if (typeof parsed === 'string') return parsed
    const { runtime, audit } = applyPatches(plan, runtimeOf(), parsed)
    return { runtime, rejected: audit.rejected.map(({ problem }) => problem), audit }
  }

  it('change only what was given from outside', () => {
    const at = (path: Json) => patched([{ path, value: 1 }])
    expect(at('nodes.a.outputs')).toMatchObject({
      rejected: ['only inputs, ctx, contracts, policy can be changed']
    })
    expect(at('calculated.usdc')).toMatchObject({ audit: { applied: 0 } })
    expect(at('ctx')).toMatchObject({ rejected: ['it must name what is changed'] })
    expect(at('ctx.__proto__.polluted')).toMatchObject({ rejected: ['it is not a path'] })
    expect(at('inputs.nothing')).toMatchObject({ rejected: ['the workflow has no input nothing'] })
    expect(at('inputs.cex_address')).toMatchObject({ rejected: ['it is not an address'] })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('are applied one by one, and tell which were not', () => {
    const result = patched([
      { op: 'merge', path: 'policy.limits', value: { a: 1 } },
      { op: 'merge', path: 'policy.limits', value: { b: 2 } },
      { path: ['contracts', 'eip155:1', 'pool'], value: '0x' },
      { path: 'nodes.x', value: 1 }
    ])
    expect(result).toMatchObject({
      runtime: {
        policy: { limits: { a: 1, b: 2 } },
        contracts: { 'eip155:1': { pool: '0x' } }
      },
      audit: { patchCount: 4, applied: 3, partialSuccess: true }
    })
  })

  it.each([
    [5, 'list'],
    [[5], 'object'],
    [[{ path: 'a.b' }], 'value'],
    [[{ path: 1, value: 1 }], 'path'],
    [[{ path: 'a', value: 1, op: 'delete' }], 'op'],
    [[{ path: 'a', value: 1, more: 1 }], 'more']
  ])('refuses %j', (patches, part) => {
    expect(parsePatches(patches as Json)).toContain(part)
  })
})

describe('W4: inputs', () => {
  it('are held to their types', () => {
    expect(prepareRuntime(plan, { inputs: { ...inputs, bridge_amount: '-5' } })).toMatchObject({
      ok: false,
      problems: [{ name: 'bridge_amount' }]
    })
    expect(prepareRuntime(plan, { inputs: { ...inputs, more: 1 } })).toMatchObject({
      ok: false,
      problems: [{ name: 'more', problem: 'the workflow has no such input' }]
    })
    expect(prepareRuntime(plan, {})).toMatchObject({
      ok: true,
      missing: ['collateral_amount', 'borrow_amount', 'bridge_amount', 'cex_address']
    })
  })
})

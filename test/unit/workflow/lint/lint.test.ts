import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../../src/core/index.js'
import type { LintCode } from '../../../../src/workflow/document/issue.js'
import { checkAisDocument, isAisDocument } from '../../../../src/workflow/lint/check.js'
import { aisText, protocolOf, seedCatalogue } from '../../../support/ais.js'

const asset = { lit: { chain_id: 'eip155:1', address: `0x${'a'.repeat(40)}`, decimals: 6 } }
const owner = { lit: `0x${'b'.repeat(40)}` }
const retry = { interval_ms: 5, max_attempts: 3 }

function balance(id: string, more: JsonObject = {}): JsonObject {
  const args = { token: asset, owner }
  return { id, type: 'query_ref', protocol: 'erc20@0.0.2', query: 'balance', args, ...more }
}

function action(id: string, name: string, args: JsonObject, more: JsonObject = {}): JsonObject {
  return { id, type: 'action_ref', protocol: 'erc20@0.0.2', action: name, args, ...more }
}

const transferArgs = { token: asset, to: owner, amount: { lit: '5' } }

async function found(nodes: readonly JsonObject[], more: JsonObject = {}) {
  const document = {
    schema: 'ais-flow/0.0.3',
    meta: { name: 'demo', version: '1.0.0' },
    default_chain: 'eip155:1',
    nodes,
    ...more
  }
  const text = JSON.stringify(document, null, 1)
  const { issues } = await checkAisDocument(text, {
    protocols: [...seedCatalogue(), oddProtocol]
  })
  return issues.map(({ code, nodeId, severity }) => `${severity} ${code} ${nodeId ?? ''}`.trim())
}

const has = (code: string, node = 'a') =>
  expect.arrayContaining([expect.stringContaining(`${code} ${node}`)])

describe('W12: lint', () => {
  it('finds nothing wrong with the workflow of the seed, and says what is recommended', async () => {
    const { issues } = await checkAisDocument(aisText('bridge'), { protocols: seedCatalogue() })
    expect(issues.filter(({ severity }) => severity !== 'info')).toEqual([])
    expect(issues.map(({ code, nodeId, line }) => [code, nodeId, line])).toEqual([
      ['recommended_check', 'transfer_to_cex', 28]
    ])
  })

  it('recommends the checks of the protocol until they are there', async () => {
    const send = action('a', 'transfer', transferArgs)
    expect(await found([send])).toEqual(has('recommended_check'))
    expect(await found([balance('b'), { ...send, deps: ['b'] }])).toEqual([])
  })

  it('warns of reads of nodes that may be skipped, unless they are guarded', async () => {
    const skippable = balance('b', { condition: { ref: 'inputs.go' } })
    const inputs = { go: { type: 'bool', required: true } }
    const at = (condition: Json) => found([skippable, balance('a', { condition })], { inputs })
    expect(await at({ cel: 'nodes.b.outputs.balance > 0' })).toEqual(has('skipped_reference'))
    const guard = 'has(nodes.b.outputs) && nodes.b.outputs.balance > 0'
    expect(await at({ cel: guard })).toEqual([])
    const same = balance('a', {
      condition: { ref: 'inputs.go' },
      assert: { cel: 'nodes.b.outputs.balance > 0' }
    })
    expect(await found([skippable, same], { inputs })).toEqual([])
  })

  it('warns of inputs that may be absent, and notes inputs that no node reads', async () => {
    const read = balance('a', { condition: { cel: 'inputs.go' } })
    const at = (go: Json) => found([read], { inputs: { go } })
    expect(await at({ type: 'bool' })).toEqual(has('missing_default'))
    expect(await at({ type: 'bool', default: true })).toEqual([])
    expect(await found([balance('a')], { inputs: { go: { type: 'bool' } } })).toEqual([
      'info unused_input'
    ])
  })

  it('warns of nodes that never run and of polls without an end', async () => {
    const never = [
      balance('b', { condition: { lit: false } }),
      balance('a', { condition: { cel: 'nodes.b.outputs.balance > 0' } })
    ]
    expect(await found(never)).toEqual(has('unreachable_node', 'b'))
    expect(await found(never)).toEqual(has('unreachable_node'))
    const until = { cel: 'nodes.a.outputs.balance > 0' }
    expect(await found([balance('a', { until, retry: { interval_ms: 5 } })])).toEqual(
      has('unbounded_poll')
    )
    expect(await found([balance('a', { until, retry })])).toEqual([])
    const bounded = { until, retry: { interval_ms: 5 }, timeout_ms: 50 }
    expect(await found([balance('a', bounded)])).toEqual([])
  })

  it('notes ids with "-"', async () => {
    expect(await found([balance('a-b')])).toEqual(has('hyphenated_id', 'a-b'))
  })

  it('warns of lost digits', async () => {
    const condition = (cel: string) => found([balance('b'), balance('a', { condition: { cel } })])
    expect(await condition('nodes.b.outputs.balance / 3 > 1')).toEqual(has('precision_loss'))
    expect(await condition('mul_div(nodes.b.outputs.balance, 1, 3) > 1')).toEqual([])
    const args = { token: asset, spender: owner, amount: { lit: '1.2345678' } }
    expect(await found([action('a', 'approve', args)])).toEqual(has('precision_loss'))
  })

  it('warns of approvals without limit, to anybody, or without need', async () => {
    const approve = (args: JsonObject, more: JsonObject = {}) =>
      found([action('a', 'approve', { token: asset, spender: owner, ...args }, more)], {
        inputs: { who: { type: 'address', required: true } }
      })
    expect(await approve({ amount: { lit: 'max' } })).toEqual(
      expect.arrayContaining(['warning risky_approval a'])
    )
    expect(await approve({ amount: { lit: '1' }, spender: { ref: 'inputs.who' } })).toEqual(
      expect.arrayContaining(['warning risky_approval a'])
    )
    expect(await approve({ amount: { lit: '1' } })).toContain('info risky_approval a')
  })

  it('asks for arrival where something is sent to another chain', async () => {
    const args = {
      token: asset,
      amount: { lit: '1' },
      to_chain: { lit: 'solana:x' },
      to_address: { lit: 'So1' }
    }
    const send = {
      id: 'a',
      type: 'action_ref',
      protocol: 'some-bridge@0.0.2',
      action: 'send',
      args
    }
    expect(await found([send])).toEqual(has('recommended_check'))
  })
})

interface Doubt {
  readonly doubtful: readonly JsonObject[]
  readonly fine: readonly JsonObject[]
  /** More of the document: for both, or for the doubtful one. */
  readonly both?: JsonObject
  readonly added?: JsonObject
}

const optional = { inputs: { go: { type: 'bool' } } }
const whole = { type: 'uint256', required: true }
const conditional = (cel: string) => [balance('b'), balance('a', { condition: { cel } })]
const polling = (more: JsonObject) => [
  balance('a', { until: { cel: 'nodes.a.outputs.balance > 0' }, ...more })
]
const approving = (lit: Json, more: JsonObject = {}) =>
  action('a', 'approve', { token: asset, spender: owner, amount: { lit } }, more)
const asksFirst = {
  id: 'b',
  type: 'query_ref',
  protocol: 'erc20@0.0.2',
  query: 'allowance',
  args: { token: asset, owner, spender: owner }
}
const spendsTo = (contract: string) => ({ token: asset, owner, spender: { ref: contract } })

function callOf(name: string): JsonObject {
  return { type: 'evm_call', to: owner, abi: { name } }
}

const elsewhere = { lit: { ...asset.lit, chain_id: 'eip155:2' } }
const evmCall = (more: JsonObject) => ({
  type: 'evm_call',
  to: { lit: 'vitalik.eth' },
  abi: { type: 'function', name: 'f', inputs: [] },
  ...more
})

/** Actions with a precondition in text, and with one that is checked. */
const oddProtocol = protocolOf({
  schema: 'ais/0.0.2',
  meta: { protocol: 'odd', version: '1.0.0' },
  actions: {
    texts: { pre_conditions: ['the moon is full'], execution: { '*': { type: 'some_plugin' } } },
    values: { pre_conditions: [{ lit: true }], execution: { '*': { type: 'some_plugin' } } },
    calls: { execution: { '*': evmCall({}) } },
    strange: { hard_constraints: { max_spend: '5' }, execution: { '*': callOf('price') } },
    known: { hard_constraints: { max_spend: '5' }, execution: { '*': callOf('deposit') } }
  }
})
const odd = (name: string) => ({ id: 'a', type: 'action_ref', protocol: 'odd@1.0.0', action: name })

/** Every rule, on a document that it is for and on one that it is not for. */
const doubts: Readonly<Record<LintCode, Doubt>> = {
  recommended_check: {
    doubtful: [action('a', 'transfer', transferArgs)],
    fine: [balance('b'), action('a', 'transfer', transferArgs, { deps: ['b'] })]
  },
  unit_mismatch: {
    doubtful: [action('a', 'transfer', { ...transferArgs, amount: { ref: 'inputs.human' } })],
    fine: [action('a', 'transfer', { ...transferArgs, amount: { ref: 'inputs.whole' } })],
    both: { inputs: { whole, human: { type: 'token_amount', required: true } } }
  },
  skipped_reference: {
    doubtful: [
      balance('b', { condition: { lit: true } }),
      balance('a', {
        condition: { cel: 'nodes.b.outputs.balance > 0' }
      })
    ],
    fine: conditional('nodes.b.outputs.balance > 0')
  },
  missing_default: {
    doubtful: [balance('a', { condition: { cel: 'inputs.go' } })],
    fine: [balance('a', { condition: { cel: 'has(inputs.go) && inputs.go' } })],
    both: optional
  },
  unused_input: {
    doubtful: [balance('a')],
    fine: [balance('a', { condition: { ref: 'inputs.go' } })],
    both: optional
  },
  unused_import: {
    doubtful: [balance('a')],
    fine: [balance('a')],
    added: { imports: { protocols: [{ protocol: 'aave@0.0.2', path: './aave.yaml' }] } }
  },
  unreachable_node: {
    doubtful: [balance('a', { condition: { cel: '!true' } })],
    fine: [balance('a', { condition: { cel: '1 < 2' } })]
  },
  unbounded_poll: {
    doubtful: polling({ retry: { interval_ms: 5 } }),
    fine: polling({ retry })
  },
  hyphenated_id: { doubtful: [balance('a-b')], fine: [balance('a_b')] },
  precision_loss: {
    doubtful: conditional('nodes.b.outputs.balance / 3 > 1'),
    fine: conditional('mul_div(nodes.b.outputs.balance, 1, 3) > 1 && "a/b" != "/"')
  },
  risky_approval: {
    doubtful: [asksFirst, approving('max', { deps: ['b'] })],
    fine: [
      asksFirst,
      approving('1', { condition: { cel: 'nodes.b.outputs.allowance < to_atomic("1", 6)' } })
    ]
  },
  contract_not_deployed: {
    doubtful: [{ ...asksFirst, args: spendsTo('contracts.nowhere') }],
    fine: [asksFirst]
  },
  not_checked: { doubtful: [odd('texts')], fine: [odd('values')] },
  fails_when_run: { doubtful: [odd('calls')], fine: [odd('values')] },
  other_chain: {
    doubtful: [balance('a', { args: { token: elsewhere, owner } })],
    fine: [balance('a')]
  },
  unmeasured_bound: { doubtful: [odd('strange')], fine: [odd('known')] }
}

describe('W12: every rule', () => {
  it.each(Object.entries(doubts))('%s', async (code, { doubtful, fine, both = {}, added = {} }) => {
    const isTold = (issues: readonly string[]) =>
      issues.some((issue) => issue.split(' ')[1] === code)
    expect(isTold(await found(doubtful, { ...both, ...added }))).toBe(true)
    expect(isTold(await found(fine, both))).toBe(false)
  })
})

describe('W12: what fails whenever it is run', () => {
  const abi = (type: string, components?: Json) => ({
    type: 'function',
    name: 'f',
    inputs: [{ name: 'x', type, ...(components === undefined ? {} : { components }) }]
  })
  const to = owner
  const args = { x: { ref: 'params.x' } }
  const of = (type: string, components?: Json) => evmCall({ to, args, abi: abi(type, components) })
  const cases: Readonly<Record<string, readonly [JsonObject, boolean, string?]>> = {
    'a call of a contract': [evmCall({ to }), false],
    'a call of no address': [evmCall({}), true],
    'a call on another kind of chain': [evmCall({ to }), true, 'solana:x'],
    'a read by an action': [evmCall({ to, type: 'evm_read' }), true],
    'a type that is none': [of('uint257'), true],
    'lists of a size and of none': [of('uint8[][2]'), false],
    'a tuple': [of('tuple[]', [{ name: 'y', type: 'int' }]), false],
    'a tuple of what is no type': [of('tuple', [{ name: 'y', type: 'text' }]), true],
    'an argument that is no address': [{ ...of('address'), args: { x: { lit: '0x1' } } }, true]
  }

  it.each(Object.entries(cases))('%s', async (_, [execution, isTold, chain = 'eip155:1']) => {
    const protocol = protocolOf({
      schema: 'ais/0.0.2',
      meta: { protocol: 'p', version: '1.0.0' },
      actions: { go: { params: [{ name: 'x', type: 'string' }], execution: { '*': execution } } }
    })
    const node = { id: 'a', type: 'action_ref', protocol: 'p@1.0.0', action: 'go', chain }
    const text = JSON.stringify({
      schema: 'ais-flow/0.0.3',
      meta: { name: 'demo', version: '1.0.0' },
      nodes: [{ ...node, args: { x: { lit: 'x' } } }]
    })
    const { issues } = await checkAisDocument(text, { protocols: [protocol] })
    expect(issues.some(({ code }) => code === 'fails_when_run')).toBe(isTold)
  })
})

describe('checking documents', () => {
  it('knows them by their schema', async () => {
    expect(isAisDocument({ schema: 'ais/0.0.2' })).toBe(true)
    expect(isAisDocument({ schema: 'ais-flow/9' })).toBe(true)
    expect(isAisDocument({ schema: 'tally-composite/1' })).toBe(false)
    expect(await checkAisDocument(aisText('erc20'))).toMatchObject({ kind: 'protocol', issues: [] })
    expect(await checkAisDocument('schema: ais-pack/0.0.2')).toMatchObject({ kind: 'pack' })
  })

  it('tells the place of what is wrong', async () => {
    const text = aisText('bridge').replace('action: "transfer"', 'action: "transfers"')
    const { issues } = await checkAisDocument(text, { protocols: seedCatalogue() })
    expect(issues[0]).toMatchObject({ code: 'unknown_action', line: 32 })
  })
})

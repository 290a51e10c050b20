import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import { readDocument } from '../../../../src/core/index.js'
import { drawPlanMermaid, drawPlanText } from '../../../../src/workflow/plan/draw.js'
import { selectPattern } from '../../../../src/workflow/plan/select.js'
import {
  aisText,
  errorsOf,
  goodPlan,
  packOf,
  planOf,
  protocolOf,
  seedCatalogue
} from '../../../support/ais.js'
import { asset, balance, flow, owner, transfer } from '../../../support/ais-flows.js'

const among = (patterns: readonly string[]) => (pattern: string) => patterns.includes(pattern)

describe('W1: executions', () => {
  it('selects exact, then the namespace, then any', () => {
    const patterns = ['*', 'eip155:*', 'eip155:1']
    expect(selectPattern(among(patterns), 'eip155:1')).toBe('eip155:1')
    expect(selectPattern(among(patterns), 'eip155:10')).toBe('eip155:*')
    expect(selectPattern(among(patterns), 'solana:x')).toBe('*')
    expect(selectPattern(among(['eip155:1']), 'eip155:10')).toBeUndefined()
  })

  it('W3: refuses a condition that cannot be exactly true or false', async () => {
    const retry = { interval_ms: 1, max_attempts: 2 }
    const wrong: readonly Json[] = [
      { lit: 'text' },
      { lit: 1 },
      { lit: null },
      { array: [] },
      { object: { a: { lit: true } } }
    ]
    for (const which of ['assert', 'condition', 'until']) {
      const errors = (value: Json) => errorsOf(flow([balance('a', { retry, [which]: value })]))
      for (const value of wrong) expect(await errors(value)).toEqual(['invalid_value'])
      for (const value of [{ lit: true }, { lit: false }, { cel: '1 < 2' }]) {
        expect(await errors(value)).toEqual([])
      }
    }
  })

  it('refuses what leads nowhere', async () => {
    expect(await errorsOf(flow([balance('a')], { default_chain: 'solana:x' }))).toEqual([
      'no_execution'
    ])
    const { default_chain: _, ...chainless } = flow([balance('a')])
    expect(await errorsOf(chainless)).toEqual(['no_chain'])
    expect(await errorsOf(flow([balance('a', { protocol: 'erc20@9.0.0' })]))).toEqual([
      'unknown_protocol'
    ])
    expect(await errorsOf(flow([balance('a', { query: 'nothing' })]))).toEqual(['unknown_query'])
    expect(await errorsOf(flow([balance('a', { query: 'constructor' })]))).toEqual([
      'unknown_query'
    ])
    expect(await errorsOf(flow([transfer('a', { action: 'mint' })]))).toEqual(['unknown_action'])
    expect(await errorsOf(flow([balance('a'), balance('a')]))).toEqual(['duplicate_node_id'])
  })

  it('refuses missing and extra arguments, and literals of another type', async () => {
    expect(await errorsOf(flow([balance('a', { args: { token: asset } })]))).toEqual([
      'missing_argument'
    ])
    const args = { token: asset, owner, extra: { lit: 1 } }
    expect(await errorsOf(flow([balance('a', { args })]))).toEqual(['extra_argument'])
    for (const lit of ['1.5', '-1', (2n ** 256n).toString(), 'max', 2 ** 53]) {
      const wrong = { token: asset, to: owner, amount: { lit } }
      expect(await errorsOf(flow([transfer('a', { args: wrong })]))).toEqual(['invalid_value'])
    }
  })
})

describe('preflight', () => {
  it('simulates every node, or those that are named', async () => {
    const nodes = [transfer('a'), transfer('b')]
    const simulated = async (simulate: Json) => {
      const { plan } = await goodPlan(flow(nodes, { preflight: { simulate } }))
      return plan.nodes.map((node) => node.simulate)
    }
    expect(await simulated(true)).toEqual([true, true])
    expect(await simulated({ b: true })).toEqual([false, true])
    expect(await simulated(false)).toEqual([false, false])
  })
})

describe('W2: dependencies', () => {
  it('are found in syntax trees, not in text', async () => {
    const condition = { cel: '"nodes.x.outputs" != "" && nodes.b.outputs.balance > 0' }
    const { plan } = await goodPlan(flow([transfer('a', { condition }), balance('b')]))
    expect(plan.nodes.map(({ id, deps }) => [id, deps])).toEqual([
      ['b', []],
      ['a', ['b']]
    ])
  })

  it('knows ids with "-" only in quotes', async () => {
    const quoted = { cel: 'nodes["b-c"].outputs.balance > 0' }
    const { plan } = await goodPlan(flow([transfer('a', { condition: quoted }), balance('b-c')]))
    expect(plan.nodes[1]?.deps).toEqual(['b-c'])
    const bare = { cel: 'nodes.b-c.outputs.balance > 0' }
    const nodes = [transfer('a', { condition: bare }), balance('b-c')]
    expect(await errorsOf(flow(nodes))).toEqual(['hyphenated_id'])
  })

  it('refuses unknown ones, cycles, and a node that reads itself', async () => {
    expect(await errorsOf(flow([balance('a', { deps: ['x'] })]))).toEqual(['unknown_dep'])
    expect(await errorsOf(flow([balance('a', { deps: ['a'] })]))).toEqual(['self_dep'])
    const self = { cel: 'nodes.a.outputs.balance > 0' }
    expect(await errorsOf(flow([balance('a', { condition: self })]))).toEqual(['self_dep'])
    const until = { until: self, retry: { interval_ms: 5, max_attempts: 2 } }
    expect(await errorsOf(flow([balance('a', until)]))).toEqual([])
    expect(await errorsOf(flow([balance('a', { until: self })]))).toEqual(['polling_refused'])
    const cyclic = [balance('a', { deps: ['b'] }), balance('b', { deps: ['a'] })]
    const { issues } = await planOf(flow(cyclic))
    expect(issues.map(({ message }) => message)).toEqual(['nodes wait for each other: a -> b -> a'])
    expect(await errorsOf(flow([balance('a', { condition: { ref: 'nodes.x.outputs' } })]))).toEqual(
      ['unknown_reference']
    )
    const dynamic = { cel: 'nodes[inputs.which].outputs.balance > 0' }
    const inputs = { which: { type: 'string', required: true } }
    expect(await errorsOf(flow([balance('a', { condition: dynamic })], { inputs }))).toEqual([
      'dynamic_reference'
    ])
  })
})

describe('W4: units', () => {
  const inputs = { amount: { type: 'token_amount', required: true } }

  it('refuses a number for people where atomic units are wanted', async () => {
    for (const amount of [{ ref: 'inputs.amount' }, { cel: ' inputs.amount ' }]) {
      const args = { token: asset, to: owner, amount }
      expect(await errorsOf(flow([transfer('a', { args })], { inputs }))).toEqual(['unit_mismatch'])
    }
    const cel = { cel: 'to_atomic(inputs.amount, 6)' }
    const args = { token: asset, to: owner, amount: cel }
    expect(await errorsOf(flow([transfer('a', { args })], { inputs }))).toEqual([])
  })

  it('and atomic units where a number for people is wanted', async () => {
    const args = { token: asset, spender: owner, amount: { ref: 'nodes.b.outputs.balance' } }
    const nodes = [transfer('a', { action: 'approve', args }), balance('b')]
    expect(await errorsOf(flow(nodes))).toEqual(['unit_mismatch'])
  })
})

const twoDeployments = (own: string) =>
  protocolOf({
    schema: 'ais/0.0.2',
    meta: { protocol: own, version: '1.0.0' },
    deployments: [
      { chain: 'eip155:1', contracts: { router: `${own}-on-1` } },
      { chain: 'eip155:10', contracts: { router: `${own}-on-10` } }
    ],
    actions: {},
    queries: {
      q: { execution: { '*': { type: 'plugin', to: { ref: 'contracts.router' } } } }
    }
  })
const reader = protocolOf({
  schema: 'ais/0.0.2',
  meta: { protocol: 'reader', version: '1.0.0' },
  actions: {},
  queries: { q: { execution: { '*': { type: 'plugin', to: { ref: 'contracts.router' } } } } }
})

describe('W8: contracts', () => {
  const node = (id: string, protocol: string, chain: string) => ({
    id,
    type: 'query_ref',
    protocol: `${protocol}@1.0.0`,
    query: 'q',
    chain
  })

  it('are those of the own protocol on the own chain, whatever others are called', async () => {
    const protocols = [twoDeployments('one'), twoDeployments('two'), reader]
    const nodes = [
      node('a', 'one', 'eip155:1'),
      node('b', 'two', 'eip155:1'),
      node('c', 'one', 'eip155:10'),
      node('d', 'reader', 'eip155:1')
    ]
    const { plan, issues } = await goodPlan(flow(nodes), protocols)
    const addresses = plan.nodes.map(({ id, contracts }) => [id, contracts[0]?.address])
    expect(addresses).toEqual([
      ['a', 'one-on-1'],
      ['b', 'two-on-1'],
      ['c', 'one-on-10'],
      ['d', null]
    ])
    expect(plan.nodes.every(({ contracts }) => contracts[0]?.isShared === false)).toBe(true)
    expect(issues.map(({ code }) => code)).toEqual(['contract_not_deployed'])
  })

  it('are those of the only other protocol that has the name there', async () => {
    const nodes = [node('a', 'one', 'eip155:1'), node('d', 'reader', 'eip155:1')]
    const { plan } = await goodPlan(flow(nodes), [twoDeployments('one'), reader])
    expect(plan.nodes.map(({ contracts }) => contracts[0])).toEqual([
      { name: 'router', address: 'one-on-1', from: 'one@1.0.0', isShared: true },
      { name: 'router', address: 'one-on-1', from: 'one@1.0.0', isShared: true }
    ])
  })
})

describe('protocols', () => {
  const withErc20 = (change: (text: string) => string) => {
    const text = JSON.stringify(readDocument(aisText('erc20')))
    const changed = change(text)
    expect(changed).not.toBe(text)
    return [protocolOf(JSON.parse(changed))]
  }

  it('hold their ABIs to arguments and returns', async () => {
    const missing = withErc20((text) => text.replace('"account":{"ref":"params.owner"}', ''))
    expect(await errorsOf(flow([balance('a')]), missing)).toEqual(['missing_argument'])
    const extra = withErc20((text) =>
      text.replace('"account":{"ref":"params.owner"}', '$&,"more":{"lit":1}')
    )
    expect(await errorsOf(flow([balance('a')]), extra)).toEqual(['extra_argument'])
    const returns = withErc20((text) =>
      text.replace(
        '"returns":[{"name":"balance","type":"uint256"}]',
        '"returns":[{"name":"balance","type":"uint8"}]'
      )
    )
    expect(await errorsOf(flow([balance('a')]), returns)).toEqual(['returns_mismatch'])
    const unknown = withErc20((text) => text.replace('"ref":"params.owner"', '"ref":"params.own"'))
    expect(await errorsOf(flow([balance('a')]), unknown)).toEqual(['unknown_reference'])
    const nodes = withErc20((text) => text.replace('"ref":"params.owner"', '"ref":"nodes.a"'))
    expect(await errorsOf(flow([balance('a')]), nodes)).toEqual(['invalid_expression'])
  })

  it('refuses calculated fields that need each other, and queries that are composite', async () => {
    const fields = { a: { expr: { ref: 'calculated.b' } }, b: { expr: { ref: 'calculated.a' } } }
    const protocol = protocolOf({
      schema: 'ais/0.0.2',
      meta: { protocol: 'p', version: '1.0.0' },
      actions: {},
      queries: { q: { calculated_fields: fields, execution: { '*': { type: 'plugin' } } } }
    })
    const node = { id: 'a', type: 'query_ref', protocol: 'p@1.0.0', query: 'q' }
    expect(await errorsOf(flow([node]), [protocol])).toEqual(['cycle'])
    const overrides = { ...node, calculated_overrides: { b: { lit: 1 } } }
    expect(await errorsOf(flow([overrides]), [protocol])).toEqual([])
    const unknown = { ...node, calculated_overrides: { a: { lit: 1 }, c: { lit: 1 } } }
    expect(await errorsOf(flow([unknown]), [protocol])).toEqual(['unknown_reference'])
  })

  it('join what an action needs to know to the node that asks it', async () => {
    const protocol = protocolOf({
      schema: 'ais/0.0.2',
      meta: { protocol: 'p', version: '1.0.0' },
      actions: {
        act: {
          requires_queries: ['price'],
          execution: { '*': { type: 'plugin', at: { cel: 'query.price.value * 2' } } }
        }
      },
      queries: {
        price: {
          returns: [{ name: 'value', type: 'uint256' }],
          execution: { '*': { type: 'plugin' } }
        }
      }
    })
    const ask = { id: 'ask', type: 'query_ref', protocol: 'p@1.0.0', query: 'price' }
    const act = { id: 'act', type: 'action_ref', protocol: 'p@1.0.0', action: 'act' }
    expect(await errorsOf(flow([ask, act]), [protocol])).toEqual(['missing_query'])
    const { plan } = await goodPlan(flow([ask, { ...act, deps: ['ask'] }]), [protocol])
    expect(plan.nodes[1]).toMatchObject({
      queries: { price: 'ask' },
      amounts: ['query.price.value']
    })
  })
})

describe('W12: packs', () => {
  const pack = (includes: Json) =>
    packOf({ schema: 'ais-pack/0.0.2', meta: { name: 'safe', version: '1.0.0' }, includes } as Json)

  it('let only what they include be planned', async () => {
    const erc20 = { protocol: 'erc20', version: '0.0.2' }
    const document = flow([balance('a')])
    const with_ = (includes: Json) => errorsOf(document, seedCatalogue(), pack(includes))
    expect(await with_([erc20])).toEqual([])
    expect(await with_([])).toEqual(['pack_mismatch'])
    expect(await with_([{ ...erc20, version: '0.0.3' }])).toEqual(['pack_mismatch'])
    expect(await with_([{ ...erc20, chain_scope: ['solana:*'] }])).toEqual(['pack_mismatch'])
    const wanted = flow([balance('a')], { requires_pack: { name: 'other', version: '1.0.0' } })
    expect(await errorsOf(wanted, seedCatalogue(), pack([erc20]))).toEqual(['pack_mismatch'])
  })
})

describe('drawing', () => {
  it('shows order, chains and conditions', async () => {
    const { plan } = await goodPlan(aisText('bridge'))
    const text = drawPlanText(plan)
    expect(text).toContain('3. aave_borrow  action aave@0.0.2 borrow_usdc [evm_call]  on eip155:1')
    expect(text).toContain('polls every 2000 ms (fixed, 600 times)')
    const mermaid = drawPlanMermaid(plan)
    expect(mermaid).toContain('subgraph chain1["solana:5eyk..."]')
    expect(mermaid).toContain('n_bridge_5f_allowance -. if .-> n_bridge_5f_approve')
  })
})

import { twoOfThree } from './approvers.mjs'

/** The documents of the golden ledgers, by name. */
const composite = (name, fields) => ({
  schema: 'tally-composite/1',
  name,
  version: '1.0.0',
  ...fields
})

const chain = (nodes) => {
  const names = Object.keys(nodes)
  const pairs = names.slice(1).map((name, index) => [names[index], name])
  return { entry_point: names[0], nodes, transitions: Object.fromEntries(pairs) }
}
export const block = (name, more = {}) => ({ block: name, ...more })
const unsafeFirst = {
  side_effects: 'non_idempotent',
  recovery: [{ retry: { max_attempts: 2 } }, { fallback: ['count'] }]
}
const given = (input) => ({ input: { lit: input } })
const atomic = (nodes, more = {}) => ({ composite: { atomic: true, ...chain(nodes) }, ...more })

export const chained = (name, nodes) => composite(name, chain(nodes))
export const single = (name, more = {}) => chained(name, { n: block(name, more) })

export const documents = {
  loop: composite('loop', {
    entry_point: 'count',
    nodes: { count: block('count'), pay: block('pay') },
    transitions: {
      count: [
        { condition: 'isLarge', target: 'pay' },
        { condition: { cel: 'response.data.n > 100' }, target: 'pay' },
        { condition: 'default', target: 'count' }
      ]
    }
  }),
  tags: chained('tags', { set: { block: 'tags' } }),
  signals: chained('signals', {
    a: block('takes', { recovery: [{ retry: { max_attempts: 2 } }] }),
    b: block('takes', { recovery: [{ retry: { max_attempts: 2 } }] })
  }),
  waits: chained('waits', {
    a: block('pay', { confirm: true }),
    b: block('ask'),
    c: block('nap'),
    d: block('post', { confirm: { message: 'really?' } }),
    e: block('mixed')
  }),
  approved: chained('approved', {
    a: block('pay', { confirm: { message: 'Pay?', approvers: twoOfThree } }),
    b: block('ask-approvers')
  }),
  retries: chained('retries', {
    a: block('flaky', { recovery: [{ retry: { max_attempts: 3 } }] }),
    b: block('flaky', { recovery: [{ retry: { max_attempts: 3, interval_ms: 4 } }] }),
    c: block('picky', { recovery: [{ repair: 'halve' }] }),
    d: block('boom', { recovery: [{ fallback: ['count'] }] })
  }),
  confirmed: chained('confirmed', {
    a: block('flaky', { confirm: true, recovery: [{ retry: { max_attempts: 3 } }] })
  }),
  decided: chained('decided', {
    a: block('look'),
    b: block('boom', { on_error: 'ask', recovery: [{ retry: { max_attempts: 2 } }] }),
    c: block('post')
  }),
  // Where 0.1.0 gives up, since the retry is unsafe: it does not come to the fallback.
  givenUp: chained('given_up', { a: block('boom', unsafeFirst) }),
  givenUpLater: chained('given_up_later', { a: block('ask'), b: block('boom', unsafeFirst) }),
  located: chained('located', { a: block('count', { context: ['region'] }), b: block('look') }),
  listed: chained('listed', { a: atomic({ b: block('note'), c: block('ask') }) }),
  failing: chained('failing', { a: block('pay'), b: block('boom') }),
  nested: chained('nested', {
    a: {
      composite: chain({
        b: { composite: chain({ c: block('ask'), d: block('count', { confirm: true }) }) },
        e: block('mixed')
      })
    },
    f: block('pay')
  }),
  atomic: chained('atomic', {
    a: atomic({
      b: block('count'),
      c: atomic({ d: block('count'), e: block('look') }),
      f: block('ask'),
      g: block('note')
    }),
    h: block('count')
  }),
  undone: chained('undone', {
    trip: atomic({
      hotel: block('reserve'),
      flight: block('reserve-by-name'),
      rest: block('ask'),
      fails: block('boom')
    })
  }),
  'undone-and-decided': chained('undone-and-decided', {
    trip: atomic(
      { hotel: block('reserve'), visa: block('reserve-stubborn'), fails: block('boom') },
      { recovery: [{ retry: { max_attempts: 2, interval_ms: 3 } }], on_error: 'ask' }
    ),
    after: block('count')
  }),
  deferred: chained('deferred', {
    trip: atomic({
      hotel: block('reserve'),
      letter: block('mail', { deferred: true }),
      inner: atomic({
        card: block('mail', { deferred: true, confirm: true }),
        count: block('count')
      }),
      last: block('count')
    }),
    after: block('count')
  }),
  plan: {
    schema: 'tally-plan/1',
    name: 'plan',
    version: '1.0.0',
    lanes: { narrow: 1 },
    nodes: [
      { id: 'pay', block: 'pay', lane: 'narrow', confirm: true },
      { id: 'ask', block: 'ask' },
      { id: 'nap', block: 'nap', timeout_ms: 60_000 },
      { id: 'look', block: 'look', lane: 'narrow' },
      { id: 'boom', block: 'boom', on_error: 'continue' },
      { id: 'after', deps: ['boom'], block: 'look' },
      { id: 'asks', block: 'boom', on_error: 'ask', deps: ['nap'] },
      {
        id: 'inner',
        deps: ['pay'],
        composite: { atomic: true, ...chain({ c: block('count'), d: block('note') }) }
      },
      { id: 'last', deps: ['inner', 'asks', 'ask'], block: 'mixed' }
    ]
  },
  'plan-in-order': {
    schema: 'tally-plan/1',
    name: 'plan-in-order',
    version: '1.0.0',
    order: 'declared',
    atomic: true,
    nodes: [
      { id: 'a', block: 'note' },
      { id: 'b', block: 'count' },
      { id: 'c', block: 'note' },
      { id: 'd', block: 'count', deps: ['a'] }
    ]
  },
  large: chained('large', {
    a: block('big', given({ length: 2_000 })),
    b: block('big', given({ length: 100_000 })),
    c: block('secret', given({ card: '4000 0000 0000 0002' })),
    d: block('secret', given({ text: 'abcdefghij'.repeat(300) })),
    e: block('secret-post', given({ text: 'klmnopqrst'.repeat(300) }))
  }),
  'long-nap': chained('long-nap', {
    a: block('count'),
    b: block('nap', given({ ms: 3_600_000 })),
    c: block('count')
  }),
  late: chained('late', {
    a: block('post'),
    b: block('boom', {
      recovery: [{ retry: { max_attempts: 2, interval_ms: 3_600_000 } }],
      on_error: 'ask'
    })
  }),
  between: chained('between', { a: block('count'), b: block('post'), c: block('count') }),
  unknown: chained('unknown', { a: block('count'), b: block('blind'), c: block('count') }),
  reading: chained('reading', { a: block('count'), b: block('look'), c: block('count') })
}

/** Workflows over the token protocol of the AIS vectors. */
const asset = { lit: { chain_id: 'eip155:1', address: `0x${'a'.repeat(40)}`, decimals: 6 } }
const owner = { lit: `0x${'b'.repeat(40)}` }
export const transfers = {
  schema: 'ais-flow/0.0.3',
  meta: { name: 'transfers', version: '1.0.0' },
  default_chain: 'eip155:1',
  nodes: [
    {
      id: 'a',
      type: 'action_ref',
      protocol: 'erc20@0.0.2',
      action: 'transfer',
      args: { token: asset, to: owner, amount: { lit: '5' } }
    },
    {
      id: 'b',
      type: 'query_ref',
      protocol: 'erc20@0.0.2',
      query: 'balance',
      args: { token: asset, owner }
    }
  ]
}

/** The same with a poll that runs out: its node parks the run. */
export const runningOut = {
  ...transfers,
  meta: { name: 'running-out', version: '1.0.0' },
  nodes: transfers.nodes.map((node) =>
    node.id === 'a'
      ? node
      : {
          ...node,
          deps: ['a'],
          until: { cel: 'nodes.b.outputs.balance > 8' },
          retry: { interval_ms: 1, max_attempts: 2 }
        }
  )
}

/** The same in a bundle whose pack names approvers. */
export const bundled = {
  schema: 'ais-bundle/1',
  flow: transfers,
  packs: [
    {
      schema: 'ais-pack/0.0.2',
      meta: { name: 'signed', version: '1.0.0' },
      includes: [{ protocol: 'erc20', version: '0.0.2' }],
      policy: { approvals: { auto_execute_max_risk_level: 0, approvers: twoOfThree } }
    }
  ],
  writes: 'broadcast'
}

export const bridgeInputs = {
  inputs: {
    collateral_amount: '0.4',
    borrow_amount: '850.25',
    bridge_amount: '500',
    cex_address: `0x${'2'.repeat(40)}`
  },
  ctx: { wallet_address_solana: 'So11111111111111111111111111111111111111112' },
  calculated: {
    usdc: {
      chain_id: 'eip155:1',
      address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      decimals: 6
    }
  }
}

/** A flow of one agent, which does what its prompt says. */
export function agentFlow(name, userPrompt, tools, config = {}, policy = {}) {
  return {
    meta: { schemaVersion: '2.0', name, version: '1.0.0' },
    agents: {
      agentDefs: [
        {
          agentId: 'clerk',
          adapterKind: 'fake',
          toolPolicy: { allowedCapabilities: tools, ...policy }
        }
      ]
    },
    graph: {
      startNodeId: 'ask',
      nodes: [
        { nodeId: 'ask', nodeKind: 'agent.main', agentId: 'clerk', config: { userPrompt, ...config } },
        { nodeId: 'finish', nodeKind: 'control.finish' }
      ],
      edges: [{ source: 'ask', target: 'finish' }]
    },
    runtime: {},
    extensions: {}
  }
}

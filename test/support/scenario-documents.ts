import type { Json } from '../../src/core/index.js'
import { twoOfThree } from './approvers.js'

function composite(fields: Readonly<Record<string, Json>>): Json {
  return { schema: 'tally-composite/1', name: 'scenario', version: '1.0.0', ...fields }
}

/** Documents that between them use everything a run can do, by name. */
export const scenarioDocuments: Readonly<Record<string, Json>> = {
  'a loop with a branch': composite({
    entry_point: 'count',
    nodes: { count: { block: 'count' }, pay: { block: 'pay' } },
    transitions: {
      count: [
        { condition: { cel: 'response.data.n >= 3' }, target: 'pay' },
        { condition: 'default', target: 'count' }
      ]
    }
  }),
  'confirmations, a wait and a sleep': composite({
    entry_point: 'a',
    nodes: {
      a: { block: 'pay', confirm: true },
      b: { block: 'ask' },
      c: { block: 'nap' },
      d: { block: 'post', confirm: { message: 'really?' } }
    },
    transitions: { a: 'b', b: 'c', c: 'd' }
  }),
  'a confirmation that approvers sign': composite({
    entry_point: 'a',
    nodes: { a: { block: 'post', confirm: { approvers: twoOfThree } }, b: { block: 'count' } },
    transitions: { a: 'b' }
  }),
  'effects, a listing and waits in one block': composite({
    entry_point: 'n',
    nodes: { n: { block: 'note' }, m: { block: 'mixed' }, o: { block: 'note' } },
    transitions: { n: 'm', m: 'o' }
  }),
  'retries now and later': composite({
    entry_point: 'a',
    nodes: {
      a: { block: 'flaky', recovery: [{ retry: { max_attempts: 3 } }] },
      b: {
        block: 'flaky',
        recovery: [{ retry: { max_attempts: 3, interval_ms: 4_000, backoff: 'linear' } }]
      }
    },
    transitions: { a: 'b' }
  }),
  'an effect with an unknown outcome': composite({
    entry_point: 'a',
    nodes: { a: { block: 'blind' }, b: { block: 'count' } },
    transitions: { a: 'b' }
  }),
  'a failure that a person decides about': composite({
    entry_point: 'a',
    nodes: {
      a: { block: 'look' },
      b: { block: 'boom', on_error: 'ask', recovery: [{ retry: { max_attempts: 2 } }] },
      c: { block: 'post' }
    },
    transitions: { a: 'b', b: 'c' }
  }),
  'a failure that ends the run': composite({
    entry_point: 'a',
    nodes: { a: { block: 'pay' }, b: { block: 'boom' } },
    transitions: { a: 'b' }
  }),
  'three levels with waits': composite({
    entry_point: 'a',
    nodes: {
      a: {
        composite: {
          entry_point: 'b',
          nodes: {
            b: {
              composite: {
                entry_point: 'c',
                nodes: { c: { block: 'ask' }, d: { block: 'count', confirm: true } },
                transitions: { c: 'd' }
              }
            },
            e: { block: 'mixed' }
          },
          transitions: { b: 'e' }
        }
      },
      f: { block: 'pay' }
    },
    transitions: { a: 'f' }
  }),
  'an atomic composite in an atomic composite': composite({
    entry_point: 'a',
    nodes: {
      a: {
        composite: {
          atomic: true,
          entry_point: 'b',
          nodes: {
            b: { block: 'count' },
            c: {
              composite: {
                atomic: true,
                entry_point: 'd',
                nodes: { d: { block: 'count' }, e: { block: 'look' } },
                transitions: { d: 'e' }
              }
            },
            f: { block: 'ask' },
            g: { block: 'note' }
          },
          transitions: { b: 'c', c: 'f', f: 'g' }
        }
      },
      h: { block: 'count' }
    },
    transitions: { a: 'h' }
  }),
  'a plan in declared order': {
    schema: 'tally-plan/1',
    name: 'scenario',
    version: '1.0.0',
    order: 'declared',
    nodes: [
      { id: 'a', block: 'count' },
      { id: 'b', block: 'look' },
      { id: 'c', block: 'pay', deps: ['a'] },
      { id: 'd', block: 'note', deps: ['b'] },
      {
        id: 'e',
        composite: {
          atomic: true,
          entry_point: 'f',
          nodes: { f: { block: 'note' }, g: { block: 'count' } },
          transitions: { f: 'g' }
        }
      },
      { id: 'h', block: 'flaky', recovery: [{ retry: { max_attempts: 3 } }], deps: ['d', 'e'] }
    ]
  },
  'an atomic plan': {
    schema: 'tally-plan/1',
    name: 'scenario',
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
  'an atomic composite that fails and is tried again': composite({
    entry_point: 'a',
    nodes: {
      a: {
        recovery: [{ retry: { max_attempts: 2, interval_ms: 3_000 } }],
        on_error: 'ask',
        composite: {
          atomic: true,
          entry_point: 'b',
          nodes: { b: { block: 'count' }, c: { block: 'look' }, d: { block: 'boom' } },
          transitions: { b: 'c', c: 'd' }
        }
      },
      e: { block: 'count' }
    },
    transitions: { a: 'e' }
  }),
  'retries of what was confirmed': composite({
    entry_point: 'a',
    nodes: {
      a: { block: 'flaky', confirm: true, recovery: [{ retry: { max_attempts: 3 } }] },
      b: { block: 'boom', confirm: true, recovery: [{ fallback: ['count'] }] }
    },
    transitions: { a: 'b' }
  })
}

/** A plan with everything in it: what ends first is not promised, what each node gives is. */
export const planDocument: Json = {
  schema: 'tally-plan/1',
  name: 'scenario',
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
      id: 'flaky',
      deps: ['ask', 'look'],
      block: 'flaky',
      recovery: [{ retry: { max_attempts: 3, interval_ms: 4_000 } }]
    },
    {
      id: 'inner',
      deps: ['pay'],
      composite: {
        atomic: true,
        entry_point: 'c',
        nodes: { c: { block: 'count' }, d: { block: 'note' } },
        transitions: { c: 'd' }
      }
    },
    { id: 'last', deps: ['inner', 'asks', 'flaky'], block: 'mixed' }
  ]
}

/** Effects of one block that run beside each other: which answers first is not promised. */
export const fanDocument: Json = composite({
  entry_point: 'a',
  nodes: { a: { block: 'fan' }, b: { block: 'fan', confirm: true }, c: { block: 'count' } },
  transitions: { a: 'b', b: 'c' }
})

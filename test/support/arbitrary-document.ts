import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/core/index.js'

/**
 * Composites of a bounded size over the scenario blocks: nested and atomic ones, branches, a loop,
 * recovery of every kind. Each of them ends.
 */

const pure = ['count', 'note', 'look', 'ask', 'nap', 'boom'] as const
const acting = [...pure, 'pay', 'post', 'blind', 'flaky', 'mixed'] as const

const recovery = fc.constantFrom<Json>(
  [],
  [{ retry: { max_attempts: 2 } }],
  [{ retry: { max_attempts: 3, interval_ms: 2_000, backoff: 'exp' } }, 'bubble'],
  [{ fallback: ['count'] }]
)

const manners: fc.Arbitrary<JsonObject> = fc.record({
  recovery,
  on_error: fc.constantFrom('stop', 'ask')
})

function leaf(names: readonly string[]): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.constantFrom(...names), manners, fc.boolean())
    .map(([block, given, confirm]) => ({ block, ...given, ...(confirm ? { confirm } : {}) }))
}

function node(depth: number, inScope: boolean): fc.Arbitrary<JsonObject> {
  const block = leaf(inScope ? pure : acting)
  if (depth === 0) return block
  const composite = fc
    .tuple(graph(depth - 1, inScope), manners)
    .map(([inner, { on_error, recovery: list }]) => ({
      composite: inner,
      on_error: on_error ?? 'stop',
      recovery: JSON.stringify(list).includes('fallback') ? [] : (list ?? [])
    }))
  return fc.oneof({ weight: 3, arbitrary: block }, { weight: 2, arbitrary: composite })
}

const names = ['a', 'b', 'c'] as const

function graph(depth: number, inScope: boolean): fc.Arbitrary<JsonObject> {
  return fc.boolean().chain((atomic) =>
    fc
      .tuple(
        fc.array(node(depth, inScope || atomic), { minLength: 1, maxLength: names.length }),
        fc.boolean(),
        fc.integer({ min: 2, max: 5 })
      )
      .map(([nodes, loops, maxSteps]) => {
        const used = names.slice(0, nodes.length)
        const last = used.at(-1) ?? 'a'
        const chain = used.slice(1).map((target, index) => [used[index] ?? 'a', target])
        // Once more from the start when the last one says so, and in the end by `max_steps`.
        const again = [
          { condition: { cel: 'has(response.data.n) && response.data.n == 1' }, target: 'a' },
          { condition: { cel: 'response.success' }, target: 'end' }
        ]
        return {
          atomic,
          max_steps: maxSteps,
          entry_point: 'a',
          nodes: {
            ...Object.fromEntries(used.map((name, index) => [name, nodes[index] ?? {}])),
            ...(loops ? { end: { block: 'count' } } : {})
          },
          transitions: { ...Object.fromEntries(chain), ...(loops ? { [last]: again } : {}) }
        }
      })
  )
}

export const arbitraryDocument: fc.Arbitrary<Json> = graph(2, false).map((fields) => ({
  schema: 'tally-composite/1',
  name: 'generated',
  version: '1.0.0',
  ...fields
}))

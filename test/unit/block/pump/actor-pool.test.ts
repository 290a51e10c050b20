import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { ActorPool, type RootBlock } from '../../../../src/block/index.js'
import { canonicalize, limits } from '../../../../src/core/index.js'
import { createRuntime, defineBlock } from '../../../../src/index.js'
import { compiledFrom, none } from '../../../support/composites.js'

const compiled = compiledFrom({ nodes: { a: none('a'), b: none('b') }, transitions: { a: 'b' } })
// Only the identity of the definition counts here.
const root = {} as RootBlock

function readyActor() {
  const input = { path: 'root', node: 'root', block: 'demo', sideEffects: 'none' } as const
  return createActor(compiled.logic, { input }).start()
}

describe('ActorPool', () => {
  it('gives what was handed in, once', () => {
    const pool = new ActorPool()
    const actor = readyActor()
    expect(pool.take(root)).toBeUndefined()
    pool.give(root, actor)
    expect(pool.take(root)).toBe(actor)
    expect(pool.take(root)).toBeUndefined()
  })

  it('keeps no actor that is not READY', () => {
    const pool = new ActorPool()
    const actor = readyActor()
    const metadata = {
      id: 'i',
      traceId: 't',
      spanId: 's',
      runId: 'r',
      blockName: 'demo',
      nodeName: 'root',
      attempt: 1,
      sideEffectClass: 'none'
    } as const
    const request = { payload: null, context: {}, metadata }
    actor.send({ type: 'block.execute', request, step: 1, options: {}, at: 0 })
    pool.give(root, actor)
    expect(pool.take(root)).toBeUndefined()
  })

  it('is bounded', () => {
    const pool = new ActorPool()
    for (let count = 0; count <= limits.ACTORS_IDLE_MAX; count += 1) pool.give(root, readyActor())
    let kept = 0
    while (pool.take(root) !== undefined) kept += 1
    expect(kept).toBe(limits.ACTORS_IDLE_MAX)
  })

  it('D5: a run on used actors leaves what a run on new ones leaves', async () => {
    const step = defineBlock<{ n: number }, { n: number }>({
      name: 'step',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx, { n }) => (n < 0 ? ctx.fail('negative', { n }) : { n: n + 1 })
    })
    const document = {
      schema: 'tally-composite/1',
      name: 'loop',
      version: '1.0.0',
      entry_point: 'a',
      nodes: {
        a: { block: 'step' },
        b: { block: 'step', input: { ref: 'nodes.a.response.data' } }
      },
      transitions: { a: 'b' }
    }
    const inputs = [{ n: 1 }, { n: 5 }, { n: -1 }, { n: 7 }]
    const responses = async (ids: readonly (readonly [string, { n: number }])[]) => {
      await using tally = await createRuntime({
        location: 'memory:',
        create: 'if-absent',
        blocks: [step]
      })
      const entries: unknown[] = []
      for (const [id, input] of ids) {
        await tally.begin(document, { id, inputs: input }).result
        for await (const { value } of tally.journal(id)) entries.push(withoutTime(value))
      }
      return entries
    }
    const together = await responses(inputs.map((input, index) => [`run-${index}`, input]))
    const apart: unknown[] = []
    for (const [index, input] of inputs.entries()) {
      apart.push(...(await responses([[`run-${index}`, input]])))
    }
    expect(canonicalize(together)).toBe(canonicalize(apart))
  })
})

/** Journal entries without what differs between ledgers: time, base and the chain over them. */
function withoutTime(value: unknown): unknown {
  const { at, base, journalHash, ...rest } = value as Record<string, unknown>
  return rest
}

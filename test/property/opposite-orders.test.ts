import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import { canonicalize, type Json, nextTurn } from '../../src/core/index.js'
import { cases } from '../support/effort.js'
import { Machine } from '../support/lives.js'
import { explains, type HistoryUnit } from '../support/serialisable.js'

/** Reads a key, acts, or lets others in between; in the end it writes some keys. */
type Step = { readonly read: number } | { readonly act: number }
interface Program {
  readonly steps: readonly Step[]
  readonly writes: readonly number[]
}

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ read: fc.nat(2) }),
  fc.record({ act: fc.nat(3) })
)
const program: fc.Arbitrary<Program> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  writes: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 })
})

/** What two transfers in opposite orders do. */
const opposite: readonly Program[] = [
  { steps: [{ read: 0 }, { act: 2 }, { read: 1 }, { act: 0 }], writes: [0, 1] },
  { steps: [{ read: 1 }, { act: 2 }, { read: 0 }, { act: 0 }], writes: [0, 1] }
]

/** Runs all at once; the clock stands, so that nothing ends by waiting long enough. */
async function play(programs: readonly Program[]): Promise<void> {
  const executions = new Map<string, HistoryUnit>()
  const sent: string[] = []
  const unit = defineBlock({
    name: 'unit',
    version: '1.0.0',
    sideEffects: 'idempotent',
    run: async (ctx, { name, steps, writes }: Program & { readonly name: string }) => {
      const reads = new Map<string, string | undefined>()
      const written = new Map<string, string>()
      for (const [place, one] of steps.entries()) {
        if ('read' in one) {
          const value = ctx.state.get(`k${one.read}`)
          reads.set(`k${one.read}`, value === undefined ? undefined : canonicalize(value))
          continue
        }
        await ctx.effect('act', {
          request: { name, place },
          perform: async () => {
            sent.push(`${name} ${place}`)
            for (let turn = 0; turn < one.act; turn += 1) await nextTurn()
            return null
          }
        })
      }
      for (const key of writes) {
        const value = { by: name, saw: [...reads.values()].map((text) => text?.length ?? 0) }
        ctx.state.set(`k${key}`, value)
        written.set(`k${key}`, canonicalize(value))
      }
      executions.set(name, { name, reads, writes: written })
      return null
    }
  })
  const document: Json = {
    schema: 'tally-composite/1',
    name: 'one',
    version: '1.0.0',
    entry_point: 'a',
    nodes: { a: { block: 'unit' } }
  }
  const runtime = await new Machine().open({ blocks: [unit] })
  const runs = programs.map((given, index) => {
    const inputs = { ...given, name: `u${index}` } as unknown as Json
    return runtime.begin(document, { id: `u${index}`, inputs })
  })
  const results = await Promise.all(runs.map(({ result }) => result))
  expect(results.map(({ status }) => status)).toEqual(programs.map(() => 'done'))
  expect(new Set(sent).size).toBe(sent.length)
  const order: HistoryUnit[] = []
  for await (const { receipt } of runtime.receipts()) {
    const known = executions.get(receipt.inputPayload.run?.runId ?? '')
    if (known !== undefined && receipt.intent !== 'run.completed') order.push(known)
  }
  expect(order).toHaveLength(programs.length)
  expect(explains(order)).toBe(true)
  expect(await runtime.verify()).toMatchObject({ ok: true })
  await runtime.close()
}

describe('units that read and act on the same keys in any order', () => {
  it('L10: two transfers in opposite orders both end, each having acted once', async () => {
    await play(opposite)
  }, 20_000)

  it('L10: never wait for each other, never fail having acted, and are serialisable', async () => {
    const programs = fc.array(program, { minLength: 2, maxLength: 5 })
    await fc.assert(fc.asyncProperty(programs, play), {
      numRuns: cases({ usual: 25, long: 33, soak: 2_000 })
    })
  }, 60_000)
})

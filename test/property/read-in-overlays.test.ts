import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../src/code/index.js'
import type { Json, RunId } from '../../src/core/index.js'
import type { WiredRuntime } from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'
import { Machine, settleDown } from '../support/lives.js'
import { sequenceOf } from '../support/node-sequence.js'

/**
 * What a step of an atomic composite has read or listed is compared when the composite commits,
 * also when the step settled in an earlier process: all its steps have seen the state on which it
 * commits (C4, L10).
 */

type Look = 'list' | 'get'

interface Step {
  readonly look: Look
  /** A key of its own is added below the prefix after looking. */
  readonly adds: boolean
  readonly waits: boolean
}

interface Case {
  readonly steps: readonly Step[]
  /** Atomic composites around the steps. */
  readonly depth: number
  /** Steps before which the process restarts, and those before which another run adds a key. */
  readonly restarts: readonly number[]
  readonly pokes: readonly { readonly at: number; readonly key: string }[]
}

const step: fc.Arbitrary<Step> = fc.record({
  look: fc.constantFrom('list', 'list', 'get'),
  adds: fc.boolean(),
  waits: fc.boolean()
})

const generated: fc.Arbitrary<Case> = fc.record({
  steps: fc.array(step, { minLength: 2, maxLength: 4 }),
  depth: fc.integer({ min: 1, max: 3 }),
  restarts: fc.array(fc.nat(6), { maxLength: 3 }),
  pokes: fc.array(fc.record({ at: fc.nat(6), key: fc.constantFrom('k/a', 'k/b') }), {
    maxLength: 3
  })
})

const blocks = [
  defineBlock({
    name: 'see',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx, { look, adds, waits, at }: Step & { readonly at: number }) => {
      const { state } = ctx
      const seen =
        look === 'get' ? (state.get<number>('k/a') ?? 0) : (await state.list('k/')).length
      if (adds) state.set(`k/own-${at}`, at)
      if (waits) await ctx.wait({ reason: 'external', request: { at } })
      return seen
    }
  }),
  defineBlock({
    name: 'poke',
    version: '1.0.0',
    sideEffects: 'none',
    run: ({ state }, { key }: { readonly key: string }) => {
      state.set(key, (state.get<number>(key) ?? 0) + 1)
      return null
    }
  })
]

const head = { schema: 'tally-composite/1', version: '1.0.0' }

function documentOf({ steps, depth }: Case): Json {
  const nodes = steps.map((one, at) => [`s${at}`, { block: 'see', input: { lit: { ...one, at } } }])
  let graph: Json = sequenceOf(Object.fromEntries(nodes))
  for (let level = 0; level < depth; level += 1) {
    const all = { composite: { atomic: true, ...(graph as object) } }
    graph = { entry_point: 'all', nodes: { all }, transitions: {} } as Json
  }
  return { ...head, name: 'seeing', ...(graph as object) } as Json
}

const poke = {
  ...head,
  name: 'poking',
  entry_point: 'a',
  nodes: { a: { block: 'poke' } },
  transitions: {}
}

const ID = 'seeing' as RunId
const ROUNDS_MAX = 60

/** Plays a case to its end and says how it ended and what verification found. */
class Play {
  readonly #case: Case
  readonly #machine = new Machine()
  #runtime: WiredRuntime | undefined
  #pokes = 0

  constructor(given: Case) {
    this.#case = given
  }

  get runtime(): WiredRuntime {
    if (this.#runtime === undefined) throw new Error('nothing is open')
    return this.#runtime
  }

  async run(): Promise<{ readonly status: string | undefined; readonly failure: unknown }> {
    await this.#open()
    this.runtime.begin(documentOf(this.#case), { id: ID }).result.catch(() => undefined)
    await this.#quiet()
    for (let round = 0; !this.#isOver; round += 1) {
      if (round > ROUNDS_MAX) throw new Error('the run does not end')
      await this.#happen(round)
      await this.#answer()
    }
    const { failure } = await this.runtime.verify()
    const status = this.#status
    await this.runtime.close()
    return { status, failure }
  }

  async #happen(round: number): Promise<void> {
    const { restarts, pokes } = this.#case
    for (const { key } of pokes.filter(({ at }) => at === 2 * round)) await this.#poke(key)
    if (restarts.includes(round)) {
      await this.runtime.close()
      await this.#open()
    }
    for (const { key } of pokes.filter(({ at }) => at === 2 * round + 1)) await this.#poke(key)
  }

  async #poke(key: string): Promise<void> {
    this.#pokes += 1
    const run = this.runtime.begin(poke, { id: `poke-${this.#pokes}`, inputs: { key } })
    await run.result
  }

  async #answer(): Promise<void> {
    const run = await this.runtime.resume(ID)
    run.result.catch(() => undefined)
    await this.#quiet()
    const [wait] = this.#isOver ? [] : await run.waits()
    if (wait !== undefined) await run.resume(wait.token, { digest: wait.digest, value: 1 })
    await this.#quiet()
  }

  get #status(): string | undefined {
    return this.runtime.ledger.run(ID)?.status
  }

  get #isOver(): boolean {
    return this.#status === 'done' || this.#status === 'failed'
  }

  async #open(): Promise<void> {
    this.#runtime = await this.#machine.open({ blocks })
  }

  #quiet(): Promise<void> {
    return settleDown(() => this.runtime.ledger.run(ID)?.entries)
  }
}

describe('what was read in an atomic composite', () => {
  it('L10, C4: is the state on which it commits, whatever was restarted in between', async () => {
    await fc.assert(
      fc.asyncProperty(generated, async (given) => {
        const end = await new Play(given).run()
        expect(end).toEqual({ status: 'done', failure: undefined })
      }),
      { numRuns: cases({ usual: 12, long: 33, soak: 2_000 }) }
    )
  })
})

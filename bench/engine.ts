import { unreachable } from '../src/core/index.js'
import { defineBlock, type Json } from '../src/index.js'
import { createRuntime, type WiredRuntime } from '../src/runtime/index.js'
import { stateKey } from './floor.js'
import type { FloorEffect } from './floor-effect.js'
import { inParallel } from './measure.js'

export const STEPS = 10

interface StepInput {
  readonly n: number
  /** Keys of the state, when the step writes one. */
  readonly keys?: number
}

const pure = defineBlock<StepInput, Json>({
  name: 'bench.step',
  version: '1.0.0',
  sideEffects: 'none',
  run: (_ctx, { n }) => ({ n })
})

const writing = defineBlock<StepInput, Json>({
  name: 'bench.write',
  version: '1.0.0',
  sideEffects: 'none',
  run: ({ state, path }, { n, keys = 1 }) => {
    state.set(stateKey(n * STEPS + Number(path.slice('root/s'.length)) + 1, keys), { n })
    return { n }
  }
})

const reading = defineBlock<StepInput, Json>({
  name: 'bench.read',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, { n }) => ctx.effect('bench.lookup', { request: { n }, perform: () => ({ n }) })
})

const sending = defineBlock<StepInput, Json>({
  name: 'bench.send',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: (ctx, { n }) => ctx.effect('bench.send', { request: { n }, perform: () => ({ n }) })
})

const filling = defineBlock<{ readonly from: number; readonly to: number }, Json>({
  name: 'bench.fill',
  version: '1.0.0',
  sideEffects: 'none',
  run: ({ state }, { from, to }) => {
    for (let index = from; index < to; index += 1) state.set(`bench/${index}`, { n: 0 })
    return null
  }
})

/** A workflow of ten trivial steps, one after the other. */
export function tenSteps(block: string, options: { readonly atomic?: boolean } = {}): Json {
  const names = Array.from({ length: STEPS }, (_, index) => `s${index}`)
  return {
    schema: 'tally-composite/1',
    name: 'bench.workflow',
    version: '1.0.0',
    ...(options.atomic === true ? { atomic: true } : {}),
    entry_point: 's0',
    nodes: Object.fromEntries(names.map((name) => [name, { block }])),
    transitions: Object.fromEntries(
      names.slice(0, -1).map((name, index) => [name, `s${index + 1}`])
    )
  }
}

function blockOf({ stateKeys, effect = 'none' }: EngineOptions) {
  switch (effect) {
    case 'read':
      return reading
    case 'write':
      return sending
    case 'none':
      return stateKeys > 0 ? writing : pure
    default:
      return unreachable(effect)
  }
}

export interface EngineOptions {
  readonly path: string
  readonly durability: 'output' | 'step'
  /** Keys in the state before the first workflow; 0: the steps write nothing. */
  readonly stateKeys: number
  readonly atomic?: boolean
  /** What each step asks for outside; default none. */
  readonly effect?: FloorEffect
}

/** The whole runtime on a ledger of its own. */
export class Engine {
  readonly runtime: WiredRuntime
  readonly #document: string
  readonly #keys: number
  #runs = 0

  private constructor(runtime: WiredRuntime, options: EngineOptions) {
    this.runtime = runtime
    this.#keys = options.stateKeys
    const atomic = options.atomic ?? false
    const block = blockOf(options)
    this.#document = JSON.stringify(tenSteps(block.name, { atomic }))
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const { path, durability, stateKeys } = options
    const runtime = await createRuntime({
      location: path,
      create: 'if-absent',
      insecurePlaintextKey: true,
      durability,
      blocks: [pure, writing, reading, sending, filling]
    })
    const engine = new Engine(runtime, options)
    if (stateKeys > 0) await engine.#fill(stateKeys)
    return engine
  }

  /** Runs workflows, `width` at once; resolves when each is durable. Gives the number of steps. */
  async workflows(count: number, width: number): Promise<number> {
    const first = this.#runs
    this.#runs += count
    await inParallel(count, width, async (index) => {
      const n = first + index
      const inputs: Json =
        this.#keys > 0
          ? { n, note: 'a trivial pure step', keys: this.#keys }
          : { n, note: 'a trivial pure step' }
      const { status } = await this.runtime.begin(this.#document, { inputs, id: `run-${n}` }).result
      if (status !== 'done') throw new Error(`run-${n} ended as ${status}`)
    })
    return count * STEPS
  }

  close(): Promise<void> {
    return this.runtime.close()
  }

  async #fill(keys: number): Promise<void> {
    const document = {
      schema: 'tally-composite/1',
      name: 'bench.fill',
      version: '1.0.0',
      entry_point: 'fill',
      nodes: { fill: { block: filling.name } }
    }
    for (let from = 0; from < keys; from += 5_000) {
      const inputs = { from, to: Math.min(from + 5_000, keys) }
      await this.runtime.begin(document, { inputs, id: `fill-${from}` }).result
    }
  }
}

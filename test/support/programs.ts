import fc from 'fast-check'
import { type Block, type BlockContext, defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { Machine } from './lives.js'
import type { PlayedRun } from './side-by-side.js'

/** One step of a generated program; what it does may depend on what the program has seen. */
export type ProgramStep =
  | { readonly do: 'get' | 'set' | 'remove'; readonly key: string }
  | { readonly do: 'list' | 'wait' | 'look' | 'post' | 'lose' | 'fail' | 'fail once' | 'both' }
  | { readonly do: 'look slowly' | 'post slowly' }
  | { readonly do: 'wait in time' | 'signal' | 'signal in time' | 'tags' }
  | { readonly do: 'sleep'; readonly ms: number }
  | {
      readonly do: 'branch'
      readonly odd: readonly ProgramStep[]
      readonly even: readonly ProgramStep[]
    }

export interface GeneratedNode {
  readonly steps: readonly ProgramStep[]
  readonly retries: number
  readonly confirm: boolean
  readonly asks: boolean
  /** Milliseconds; 0: none. */
  readonly timeout: number
}

/** A run: its nodes one after the other or in a plan, some of them in an atomic composite. */
export interface GeneratedRun {
  readonly nodes: readonly GeneratedNode[]
  readonly shape: 'composite' | 'plan' | 'plan in order'
  readonly atomic: boolean
}

const key = fc.constantFrom('a', 'b', 'c').map((name) => `k/${name}`)

const plainStep: fc.Arbitrary<ProgramStep> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('get', 'set'), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove'), key }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('list', 'wait', 'look', 'post', 'both') })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('wait in time', 'signal', 'signal in time') })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('look slowly', 'post slowly') })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('fail', 'fail once', 'lose', 'tags') })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('sleep'), ms: fc.integer({ max: 9, min: 1 }) })
  }
) as fc.Arbitrary<ProgramStep>

const plainSteps = fc.array(plainStep, { maxLength: 3 })

const step: fc.Arbitrary<ProgramStep> = fc.oneof(
  { weight: 4, arbitrary: plainStep },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('branch' as const), odd: plainSteps, even: plainSteps })
  }
)

export const generatedNode: fc.Arbitrary<GeneratedNode> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  retries: fc.constantFrom(0, 0, 1),
  confirm: fc.constantFrom(false, false, true),
  asks: fc.constantFrom(false, false, true),
  timeout: fc.constantFrom(0, 0, 0, 6)
})

export const generatedRun: fc.Arbitrary<GeneratedRun> = fc.record({
  nodes: fc.array(generatedNode, { minLength: 1, maxLength: 3 }),
  shape: fc.constantFrom('composite', 'composite', 'plan', 'plan in order'),
  atomic: fc.constantFrom(false, false, true)
})

/** Runs that share their state. */
export const generatedRuns = fc.array(generatedRun, { minLength: 1, maxLength: 4 })

export function playedProgram(run: GeneratedRun): PlayedRun {
  return { begin: (tally, id) => tally.begin(programDocument(run), { id }) }
}

export function programDocument(run: GeneratedRun): Json {
  return run.shape === 'composite' ? compositeOf(run) : planOf(run)
}

function planOf({ nodes, atomic, shape }: GeneratedRun): Json {
  const order = atomic || shape === 'plan in order' ? { order: 'declared' } : {}
  return {
    ...{ schema: 'tally-plan/1', name: 'generated', version: '1.0.0', atomic, ...order },
    nodes: nodes.map((node, index) => ({ id: `n${index}`, ...nodeOf(node) }))
  } as unknown as Json
}

function nodeOf({ steps, retries, confirm, asks, timeout }: GeneratedNode) {
  return {
    block: 'program',
    input: { lit: { steps } },
    ...(confirm ? { confirm: true } : {}),
    ...(asks ? { on_error: 'ask' } : {}),
    ...(timeout === 0 ? {} : { timeout_ms: timeout }),
    ...(retries === 0 ? {} : { recovery: [{ retry: { max_attempts: retries + 1 } }] })
  }
}

function compositeOf({ nodes, atomic }: GeneratedRun): Json {
  const names = nodes.map((_, index) => `n${index}`)
  const pairs = names.slice(1).map((name, index) => [names[index] ?? '', name] as const)
  const graph = {
    entry_point: 'n0',
    nodes: Object.fromEntries(nodes.map((node, index) => [`n${index}`, nodeOf(node)])),
    transitions: Object.fromEntries(pairs)
  }
  const head = { schema: 'tally-composite/1', name: 'generated', version: '1.0.0' }
  const whole = atomic
    ? {
        ...head,
        entry_point: 'all',
        nodes: { all: { composite: { atomic: true, ...graph } } },
        transitions: {}
      }
    : { ...head, ...graph }
  return whole as unknown as Json
}

/** A world in which time passes. */
export type Outside = Pick<Machine, 'clock' | 'world'>

/** Does something outside that takes its time; a process that has died hears nothing of it. */
export async function slowly({ clock, world }: Outside, act: () => Promise<Json>): Promise<Json> {
  const done = await act()
  const { life } = world
  await new Promise<void>((resolve) => {
    life.clock(clock).schedule(clock.now() + SLOW_MS, resolve)
  })
  return done
}

const SLOW_MS = 5

/** The block that carries out generated programs. */
export function programBlock(outside: Outside): Block {
  return defineBlock({
    name: 'program',
    version: '1.0.0',
    sideEffects: 'idempotent',
    compensate: () => null,
    run: async (ctx, { steps }: { readonly steps: readonly ProgramStep[] }) => {
      const program = new Program(ctx, outside)
      await program.run(steps)
      return { seen: program.seen }
    }
  })
}

/** One execution: what it has seen decides where it goes, what it asks and what it writes. */
class Program {
  seen = 0
  readonly #ctx: BlockContext
  readonly #outside: Outside

  constructor(ctx: BlockContext, outside: Outside) {
    this.#ctx = ctx
    this.#outside = outside
  }

  async run(steps: readonly ProgramStep[]): Promise<void> {
    for (const one of steps) await this.#step(one)
  }

  async #step(one: ProgramStep): Promise<void> {
    const { state } = this.#ctx
    switch (one.do) {
      case 'get':
        return this.#see(state.get<number>(one.key) ?? 0)
      case 'set':
        return state.set(one.key, (this.seen + 1) % 7)
      case 'remove':
        return state.delete(one.key)
      case 'list':
        return this.#see((await state.list('k/')).length)
      case 'wait':
        return this.#wait()
      case 'look':
        return this.#look()
      case 'post':
        return this.#post()
      case 'look slowly':
        return this.#look(true)
      case 'post slowly':
        return this.#post(true)
      case 'both':
        await Promise.all([this.#wait(), this.#look(), this.#ctx.sleep(3)])
        return
      case 'sleep':
        return this.#ctx.sleep(one.ms + (this.seen % 3))
      case 'wait in time':
        return this.#wait({ timeoutMs: 4 })
      case 'signal':
        return this.#signal()
      case 'signal in time':
        return this.#signal({ timeoutMs: 4 })
      case 'tags':
        return this.#ctx.setTags([`seen ${this.seen % 3}`])
      case 'lose':
        return this.#lose()
      case 'fail once':
        if (this.#ctx.attempt === 1) this.#ctx.fail('once', { seen: this.seen })
        return
      case 'fail':
        if (this.seen % 2 === 1) this.#ctx.fail('odd', { seen: this.seen })
        return
      case 'branch':
        return this.run(this.seen % 2 === 1 ? one.odd : one.even)
    }
  }

  #see(value: number): void {
    this.seen = (this.seen * 3 + value) % 97
  }

  async #wait(more: { readonly timeoutMs?: number } = {}): Promise<void> {
    const { seen } = this
    const { value } = await this.#ctx.wait({ reason: 'external', request: { seen }, ...more })
    this.#see(typeof value === 'number' ? value : 0)
  }

  async #signal(more?: { readonly timeoutMs: number }): Promise<void> {
    const name = `item ${this.seen % 2}`
    const value = await (more === undefined
      ? this.#ctx.signal(name)
      : this.#ctx.signal(name, undefined, more))
    this.#see(typeof value === 'number' ? value : 0)
  }

  /** Of which nothing tells what has become. */
  async #lose(): Promise<void> {
    const request = { unit: this.#ctx.unitId, lost: this.seen }
    const perform = () => {
      throw new Error('lost')
    }
    await this.#ctx.effect('lose', { request, perform })
    this.#see(3)
  }

  async #look(isSlow = false): Promise<void> {
    const request = { seen: this.seen }
    await this.#ctx.effect('look', {
      request,
      sideEffects: 'none',
      perform: (call) => this.#done(isSlow, () => this.#outside.world.look(call))
    })
    this.#see(1)
  }

  async #post(isSlow = false): Promise<void> {
    const request = { unit: this.#ctx.unitId, seen: this.seen }
    await this.#ctx.effect('post', {
      request,
      perform: (call) => this.#done(isSlow, () => this.#outside.world.actOnce(call))
    })
    this.#see(2)
  }

  #done(isSlow: boolean, act: () => Promise<Json>): Promise<Json> {
    return isSlow ? slowly(this.#outside, act) : act()
  }
}

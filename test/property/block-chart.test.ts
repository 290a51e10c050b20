import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AnyActor, type AnyActorLogic, createActor } from 'xstate'
import { getAdjacencyMap } from 'xstate/graph'
import { leafMachine } from '../../src/block/chart/leaf-machine.js'
import { leafLogic } from '../../src/block/chart/leaf-table.js'
import {
  type Ask,
  connectPump,
  type LeafEvent,
  type NodeOptions
} from '../../src/block/protocol.js'
import { failed, succeeded, testRequest } from '../support/fake-pump.js'

const identity = { path: 'root', node: 'root', block: 'demo', sideEffects: 'none' } as const

const library = {
  repair: (name: string) =>
    name === 'fix' ? () => ({ payload: { fixed: true }, context: {} }) : undefined
}

const optionSets: readonly NodeOptions[] = [
  {},
  { onError: 'ask' },
  { recovery: [{ kind: 'retry', maxAttempts: 3, intervalMs: 0, backoff: 'fixed' }] },
  {
    recovery: [
      { kind: 'retry', maxAttempts: 2, intervalMs: 5, backoff: 'exp' },
      { kind: 'repair', repair: 'fix' },
      { kind: 'fallback', providers: ['b'] }
    ],
    onError: 'ask'
  }
]

const wait = { reason: 'external', request: null, actions: ['resume'] } as const

const events: readonly LeafEvent[] = [
  ...optionSets.map(
    (options): LeafEvent => ({
      type: 'block.execute',
      request: testRequest({ n: 1 }),
      step: 1,
      options,
      at: 10
    })
  ),
  { type: 'block.cancel', reason: 'test', at: 20 },
  { type: 'attempt.settled', response: succeeded(7), at: 30 },
  { type: 'attempt.settled', response: failed('boom'), at: 40 },
  { type: 'attempt.waiting', wait, at: 50 },
  { type: 'attempt.resumed', at: 60 },
  { type: 'timer.fired', at: 70 },
  { type: 'decision.made', action: 'retry', at: 80 },
  { type: 'decision.made', action: 'patch', patch: { n: 2 }, at: 81 },
  { type: 'decision.made', action: 'skip', at: 82 },
  { type: 'decision.made', action: 'abort', at: 83 }
]

/** A block with the asks that it has made. */
class Played {
  #logic: AnyActorLogic
  #actor: AnyActor
  asks: Ask[] = []

  constructor(logic: AnyActorLogic) {
    this.#logic = logic
    this.#actor = this.#begin(undefined)
  }

  get state() {
    const { value, context } = this.#actor.getSnapshot()
    return { value, context }
  }

  send(event: LeafEvent): readonly Ask[] {
    this.#actor.send(event)
    return this.asks.splice(0)
  }

  /** Persist, JSON, restore: what it asks for again was asked for before. */
  crash(): readonly Ask[] {
    const text = JSON.stringify(this.#actor.getPersistedSnapshot())
    this.#actor.stop()
    this.#actor = this.#begin(JSON.parse(text))
    return this.asks.splice(0)
  }

  #begin(snapshot: unknown): AnyActor {
    const restored = snapshot === undefined ? {} : { snapshot: snapshot as never }
    const actor = createActor(this.#logic, { id: 'root', input: identity, ...restored })
    connectPump(actor.system, { ask: (ask) => this.asks.push(ask) })
    actor.start()
    return actor
  }
}

interface Model {
  /** The interpreted chart, which never crashes. */
  readonly chart: Played
  /** What it has asked for and was not answered. */
  open: Ask | undefined
}

interface Edge {
  readonly event: LeafEvent
  readonly state: { readonly value: unknown }
}

const edgeOf = (from: unknown, event: number, to: unknown): string =>
  `${JSON.stringify(from)} ${event} ${JSON.stringify(to)}`

const covered = new Set<string>()

class Send implements fc.Command<Model, Played> {
  constructor(readonly index: number) {}
  check = () => true
  toString = () => JSON.stringify(events[this.index])

  run(model: Model, real: Played): void {
    const event = events[this.index]
    if (event === undefined) return
    const from = model.chart.state.value
    const asks = model.chart.send(event)
    expect(real.send(event)).toEqual(asks)
    expect(real.state).toEqual(model.chart.state)
    const asked = asks.findLast(({ kind }) => ['attempt', 'timer', 'decision'].includes(kind))
    model.open = model.chart.state.value === 'READY' ? undefined : (asked ?? model.open)
    covered.add(edgeOf(from, this.index, model.chart.state.value))
  }
}

class Crash implements fc.Command<Model, Played> {
  check = () => true
  toString = () => 'crash'

  run(model: Model, real: Played): void {
    const again = real.crash()
    expect(again).toEqual(model.open === undefined ? [] : [model.open])
    expect(real.state).toEqual(model.chart.state)
  }
}

describe('the block chart under crashes', () => {
  it('D6, B2: does what the chart does, over every transition that there is', () => {
    const commands = fc.commands(
      [
        ...events.map((_, index) => fc.constant(new Send(index))),
        // As often as everything else together.
        ...events.map(() => fc.constant(new Crash()))
      ],
      { maxCommands: 60, size: 'max' }
    )
    fc.assert(
      fc.property(commands, (sequence) => {
        fc.modelRun(
          () => ({
            model: { chart: new Played(leafMachine(library)), open: undefined },
            real: new Played(leafLogic(library))
          }),
          sequence
        )
      }),
      { numRuns: process.env['SOAK'] === '1' ? 20_000 : 500, seed: 11 }
    )
    const map = getAdjacencyMap(leafMachine(library), {
      input: identity,
      events: [...events],
      stopWhen: ({ context }) => context.attempt > 4,
      serializeState: ({ value, context }) =>
        JSON.stringify([value, context.attempt, context.cursor, context.options, context.wait])
    })
    const edges = new Set<string>()
    for (const { state, transitions } of Object.values(map)) {
      // The keys of a transition map are branded, so its values have lost their type.
      for (const { event, state: next } of Object.values(transitions) as Edge[]) {
        const index = events.indexOf(event)
        if (index >= 0) edges.add(edgeOf(state.value, index, next.value))
      }
    }
    expect(edges.size).toBeGreaterThan(60)
    expect([...edges].filter((edge) => !covered.has(edge))).toEqual([])
  })
})

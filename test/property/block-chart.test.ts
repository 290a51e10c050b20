import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getAdjacencyMap } from 'xstate/graph'
import { leafLogic } from '../../src/block/chart/leaf.js'
import type { LeafEvent, PumpCommand } from '../../src/block/chart/protocol.js'
import { leafMachine } from '../support/interpreted-charts.js'
import {
  leafEvents as events,
  leafIdentity as identity,
  leafLibrary as library
} from '../support/leaf-events.js'
import { openAsks, Played } from '../support/played.js'

interface Model {
  /** The interpreted chart, which never crashes. */
  readonly chart: Played
  /** What it has asked for and was not answered. */
  open: PumpCommand | undefined
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
    const asked = asks.findLast(({ kind }) => openAsks.includes(kind))
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
            model: { chart: new Played(leafMachine(library), identity), open: undefined },
            real: new Played(leafLogic(library), identity)
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

import { describe, expect, it } from 'vitest'
import { getShortestPaths } from 'xstate/graph'
import { leafLogic } from '../../../../src/block/chart/leaf.js'
import type { LeafEvent } from '../../../../src/block/chart/protocol.js'
import { leafMachine } from '../../../support/interpreted-charts.js'
import {
  leafEvents as events,
  leafIdentity as identity,
  leafLibrary as library
} from '../../../support/leaf-events.js'
import { openAsks, Played } from '../../../support/played.js'

type Kind = 'chart' | 'table'

/** Plays events to a fresh actor; gives the asks of each event, and the state after it. */
function play(kind: Kind, sequence: readonly LeafEvent[]) {
  const played = new Played(kind === 'chart' ? leafMachine(library) : leafLogic(library), identity)
  return sequence.map((event) => {
    const asks = played.send(event)
    return { event: event.type, ...played.state, asks, problems: [...played.problems] }
  })
}

describe('leaf table', () => {
  // Attempts are bounded so that the traversal ends; states behind that are the same again.
  const paths = getShortestPaths(leafMachine(library), {
    input: identity,
    events: [...events],
    stopWhen: ({ context }) => context.attempt > 5,
    serializeState: ({ value, context }) =>
      JSON.stringify([
        value,
        context.attempt,
        context.cursor,
        context.options,
        context.wait?.reason
      ])
  })

  it('reaches every state of the chart', () => {
    const values = new Set(paths.map(({ state }) => JSON.stringify(state.value)))
    expect(values).toEqual(
      new Set([
        '"READY"',
        '"BUSY"',
        '{"WAITING":"attempt"}',
        '{"WAITING":"retry"}',
        '{"WAITING":"decision"}'
      ])
    )
    expect(paths.length).toBeGreaterThan(40)
  })

  it('does what the chart does for every reachable state and event', () => {
    for (const { steps } of paths) {
      const reached = steps.map(({ event }) => event).filter(isLeafEvent)
      for (const event of events) {
        const sequence = [...reached, event]
        expect(play('table', sequence)).toEqual(play('chart', sequence))
      }
    }
  })

  it('D6: a snapshot survives JSON and asks again for what it waited for', () => {
    const asked: unknown[] = []
    for (const { steps, state } of paths) {
      const reached = steps.map(({ event }) => event).filter(isLeafEvent)
      const played = new Played(leafLogic(library), identity)
      const asks = reached.flatMap((event) => played.send(event))
      const text = played.persisted()
      const again = played.crash()
      expect(played.persisted()).toBe(text)
      const open = asks.findLast(({ kind }) => openAsks.includes(kind))
      expect(again).toEqual(state.value === 'READY' ? [] : [open])
      asked.push(...again)
    }
    expect(asked.length).toBeGreaterThan(20)
  })
})

function isLeafEvent(event: { readonly type: string }): event is LeafEvent {
  return !event.type.startsWith('xstate.')
}

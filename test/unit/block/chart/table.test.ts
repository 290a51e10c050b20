import { describe, expect, it } from 'vitest'
import { type AnyActorLogic, createActor } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import { leafMachine } from '../../../../src/block/chart/leaf-machine.js'
import { leafLogic } from '../../../../src/block/chart/leaf-table.js'
import {
  type Ask,
  connectPump,
  type LeafEvent,
  type NodeOptions
} from '../../../../src/block/protocol.js'
import { failed, succeeded, testRequest } from '../../../support/fake-pump.js'

const library = {
  repair: (name: string) =>
    name === 'fix' ? () => ({ payload: { fixed: true }, context: {} }) : undefined
}

const identity = { path: 'root', node: 'root', block: 'demo', sideEffects: 'none' } as const

const optionSets: readonly NodeOptions[] = [
  {},
  { onError: 'ask', timeoutMs: 500 },
  {
    recovery: [
      { kind: 'retry', maxAttempts: 2, intervalMs: 5, backoff: 'exp' },
      { kind: 'repair', repair: 'fix' },
      { kind: 'fallback', providers: ['b', 'c'] }
    ],
    onError: 'ask'
  },
  { recovery: [{ kind: 'retry', maxAttempts: 3, intervalMs: 0, backoff: 'fixed' }] },
  {
    recovery: [{ kind: 'retry', maxAttempts: 3, intervalMs: 0, backoff: 'fixed' }],
    sideEffects: 'non_idempotent'
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
  { type: 'attempt.settled', response: failed('boom'), at: 41, sent: false },
  { type: 'attempt.waiting', wait, at: 50 },
  { type: 'attempt.resumed', at: 60 },
  { type: 'timer.fired', at: 70 },
  { type: 'decision.made', action: 'retry', at: 80 },
  { type: 'decision.made', action: 'patch', patch: { n: 2, extra: { a: null } }, at: 81 },
  { type: 'decision.made', action: 'skip', at: 82 },
  { type: 'decision.made', action: 'abort', at: 83 },
  { type: 'scope.conflict', at: 90 }
]

type Kind = 'chart' | 'table'

/** Plays events to a fresh actor; gives the asks of each event, and the state after it. */
function play(kind: Kind, sequence: readonly LeafEvent[]) {
  const asks: Ask[] = []
  const options = { id: 'root', input: identity }
  const logic: AnyActorLogic = kind === 'chart' ? leafMachine(library) : leafLogic(library)
  const actor = createActor(logic, options)
  const problems: unknown[] = []
  actor.subscribe({ error: (error) => problems.push(error) })
  connectPump(actor.system, { ask: (ask) => asks.push(ask) })
  actor.start()
  return sequence.map((event) => {
    actor.send(event)
    const { value, context } = actor.getSnapshot()
    return { event: event.type, value, context, asks: asks.splice(0), problems: [...problems] }
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
      const first = createActor(leafLogic(library), { input: identity })
      const asks: Ask[] = []
      connectPump(first.system, { ask: (ask) => asks.push(ask) })
      first.start()
      for (const event of reached) first.send(event)
      const text = JSON.stringify(first.getPersistedSnapshot())
      const restored = createActor(leafLogic(library), {
        snapshot: JSON.parse(text),
        input: identity
      })
      const again: Ask[] = []
      connectPump(restored.system, { ask: (ask) => again.push(ask) })
      restored.start()
      expect(JSON.stringify(restored.getPersistedSnapshot())).toBe(text)
      const open = asks.findLast(({ kind }) => ['attempt', 'timer', 'decision'].includes(kind))
      expect(again).toEqual(state.value === 'READY' ? [] : [open])
      asked.push(...again)
    }
    expect(asked.length).toBeGreaterThan(20)
  })
})

function isLeafEvent(event: { readonly type: string }): event is LeafEvent {
  return !event.type.startsWith('xstate.')
}

import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { ledgerChart } from '../../../../machines/ledger.js'
import {
  type LedgerChartState,
  type LedgerEvent,
  LedgerModes,
  ledgerMachine,
  ledgerStep
} from '../../../../src/ledger/mode.js'

const cause = { code: 'store.write_failed', message: 'disk full' }
const events: readonly LedgerEvent[] = [
  { type: 'flush.begun' },
  { type: 'flush.ended' },
  { type: 'ledger.unsafe', cause },
  { type: 'write.failed', cause },
  { type: 'ledger.verified' },
  { type: 'restore.begun' },
  { type: 'restore.failed' },
  { type: 'restore.done' }
]
const waiting = Object.keys(
  ledgerChart.states.WAITING.states
) as (keyof typeof ledgerChart.states.WAITING.states)[]
const places: readonly LedgerChartState[] = [
  'READY',
  'BUSY',
  ...waiting.map((place) => ({ WAITING: place }))
]

describe('ledger mode', () => {
  it('steps as the chart does, in every state for every event', () => {
    for (const value of places) {
      for (const before of [null, { code: 'x', message: 'earlier' }]) {
        for (const event of events) {
          const snapshot = ledgerMachine.resolveState({ value, context: { cause: before } })
          const actor = createActor(ledgerMachine, { snapshot }).start()
          actor.send(event)
          const after = actor.getSnapshot()
          expect(ledgerStep({ value, cause: before }, event)).toEqual({
            value: after.value,
            cause: after.context.cause
          })
          actor.stop()
        }
      }
    }
  })

  it('is plain JSON with a version', () => {
    expect(JSON.parse(JSON.stringify(ledgerChart))).toEqual(ledgerChart)
    expect(ledgerChart.version).toBe('1')
  })

  it('L3: stays poisoned whatever comes, and says why', () => {
    const modes = new LedgerModes()
    const seen: string[] = []
    modes.onMode(() => seen.push(modes.mode))
    modes.send({ type: 'flush.begun' })
    modes.send({ type: 'write.failed', cause })
    for (const event of events) modes.send(event)
    expect(seen).toEqual(['poisoned'])
    expect(() => modes.check()).toThrow(
      expect.objectContaining({ code: 'ledger.poisoned', context: { problem: 'disk full' } })
    )
  })
})

import { describe, expect, it } from 'vitest'
import { entryText, laneOf, marksOf, notchOf } from '../../../../src/console/page/pure/lanes.js'
import { type JournalRow, pastOf, stepName } from '../../../../src/console/page/pure/run-steps.js'
import { FakeJournal } from '../../../support/console/fake-journals.js'

function rowsOf(journal: FakeJournal): readonly JournalRow[] {
  return journal.lines as unknown as readonly JournalRow[]
}
const begun = () => new FakeJournal('r', { name: 'n', input: {}, startedAt: 1_000 })

describe('a run that the page folds from its journal', () => {
  const rows = rowsOf(
    begun()
      .step('load', 1, { effect: 'disk.read' })
      .step('pick', 2)
      .crashed(500)
      .step('pay', 3, { effect: 'bank.transfer' })
      .step('pick', 4)
      .fails('pay', 'refused', { tries: 3 })
  )
  const last = rows.length - 1

  it('has a step for each execution, with its attempts and its receipt', () => {
    const { steps } = pastOf(rows, last)
    expect(steps.map(stepName)).toEqual(['1.load', '2.pick', '3.pay', '4.pick', '5.pay'])
    expect(steps.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'failed'])
    expect(steps.at(-1)?.attempts).toBe(3)
    expect(steps.map(({ receiptHash }) => receiptHash !== null)).toEqual([
      true,
      true,
      true,
      true,
      false
    ])
  })

  it('knows of the future only that it is there', () => {
    const at = rows.findIndex(({ entry }) => entry.k === 'requested' && entry.step === 3)
    const { steps } = pastOf(rows, at)
    expect(steps.map(({ state }) => state).slice(0, 3)).toEqual(['done', 'done', 'running'])
    expect(steps.map(({ isFuture }) => isFuture)).toEqual([false, false, false, true, true])
    expect(steps[2]?.receiptHash).toBeNull()
  })

  it('after each entry has what its journal had said until then', () => {
    for (const at of rows.keys()) {
      const then = pastOf(rows.slice(0, at + 1), at)
      const now = pastOf(rows, at)
      const past = now.steps.filter(({ isFuture }) => !isFuture)
      expect(past.map(({ entries, ...rest }) => rest)).toEqual(
        then.steps.map(({ entries, ...rest }) => rest)
      )
      expect(now.status).toBe(then.status)
    }
  })

  it('shows attempts, back-off and the gap of a crash as different bars', () => {
    const { steps } = pastOf(rows, last)
    const failed = steps.at(-1)
    const kinds =
      failed === undefined ? [] : laneOf(rows, failed, last).bars.map(({ kind }) => kind)
    expect(kinds).toEqual(['failed', 'backoff', 'failed', 'backoff', 'failed'])
    expect(marksOf(rows).map(({ kind }) => kind)).toEqual(['crash'])
    expect(rows.every((row) => notchOf(row).size > 0 && entryText(row) !== '')).toBe(true)
  })

  it('shows an open wait as a bar that lasts until now', () => {
    const journal = begun().step('load', 1)
    journal.waits('pay', { reason: 'confirmation', request: {}, actions: ['approve'] })
    const waiting = rowsOf(journal)
    const { steps, status } = pastOf(waiting, waiting.length - 1)
    const [, step] = steps
    expect(status).toBe('waiting')
    expect(step?.state).toBe('waiting')
    const bars = step === undefined ? [] : laneOf(waiting, step, waiting.length - 1).bars
    expect(bars.at(-1)).toMatchObject({ kind: 'waiting', to: waiting.length - 0.5 })
    expect(marksOf(waiting).map(({ kind }) => kind)).toEqual(['parked'])
  })
})

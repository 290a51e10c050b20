import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JournalEntry, OverlayEnded } from '../../../../src/block/run/entries.js'
import { WritesOutside } from '../../../../src/block/run/writes-outside.js'
import { journalNamed } from '../../../support/inspected.js'

const scenes = readdirSync(new URL('../../../vectors/journals', import.meta.url))
  .map((file) => file.replace(/\.json$/, ''))
  .map((name) => ({ name, entries: entriesOf(name) }))

function entriesOf(name: string): readonly JournalEntry[] {
  return journalNamed(name).entries.map((text) => JSON.parse(text))
}

function writesIn(entries: readonly JournalEntry[]) {
  const writes = new WritesOutside()
  for (const entry of entries) writes.take(entry)
  return writes.all
}

/** The ends of composites that were rolled back, each with the entries up to it. */
function rollbacksIn(entries: readonly JournalEntry[]) {
  return entries.flatMap((entry, n) =>
    entry.k === 'scope' && entry.outcome === 'aborted' ? [{ entry, n }] : []
  )
}

const asked = { k: 'requested', path: 'root/pay', step: 1, attempt: 1, seq: 1 } as const
const write = { effect: 'card.charge', requestHash: 'asked', key: 'key' } as const
const at = (rest: object) => ({ ...asked, ...write, ...rest }) as unknown as JournalEntry
const answered = (ok: boolean, body: unknown, rest: object = {}) =>
  at({ k: 'sealed', ok, body, ...rest })

/** C4, L7: people are shown of writes what the run itself records of them. */
describe('the writes of a run as people see them', () => {
  const rolledBack = scenes.filter(({ entries }) => rollbacksIn(entries).length > 0)

  it.each(rolledBack)('C4: agree in $name with what its rollbacks left', ({ entries }) => {
    for (const { entry, n } of rollbacksIn(entries)) {
      const { path, left = [] } = entry as OverlayEnded
      const below = writesIn(entries.slice(0, n + 1)).filter((one) =>
        one.path.startsWith(`${path}/`)
      )
      const stand = below.filter(({ state, isCompensation }) => {
        return (state === 'landed' || state === 'unknown') && isCompensation === undefined
      })
      expect(stand.map(({ key, state }) => [key, state])).toEqual(
        left.map(({ key, state }) => [key, state === 'landed' ? 'landed' : 'unknown'])
      )
    }
  })

  it('are known of rollbacks that undid something and of some that did not', () => {
    const all = rolledBack.flatMap(({ entries }) => writesIn(entries))
    expect(new Set(all.map(({ state }) => state))).toContain('undone')
    expect(rolledBack.flatMap(({ entries }) => rollbacksIn(entries)).length).toBeGreaterThan(4)
  })

  it.each(scenes)('are in $name all that were asked for, each once', ({ entries }) => {
    const keys = entries.flatMap((entry) => (entry.k === 'requested' ? [entry.key] : []))
    expect(writesIn(entries).map(({ key }) => key)).toEqual([...new Set(keys)])
  })

  it.each<[string, readonly JournalEntry[], string]>([
    ['was never answered', [], 'unknown'],
    ['failed, and may have happened', [answered(false, { definite: false })], 'unknown'],
    ['failed for certain', [answered(false, { definite: true })], 'failed'],
    ['was answered', [answered(true, 1)], 'landed']
  ])('L7: one that %s', (_name, entries, state) => {
    expect(writesIn([at({}), ...entries])).toEqual([
      { path: asked.path, step: 1, effect: write.effect, key: write.key, state }
    ])
  })

  it('L7: one in doubt stays so where its place asks for something else later', () => {
    const other = { attempt: 2, requestHash: 'other', key: 'other key' }
    const writes = writesIn([at({}), at(other), answered(true, 1, other)])
    expect(writes.map(({ key, state }) => [key, state])).toEqual([
      ['key', 'unknown'],
      ['other key', 'landed']
    ])
  })

  it('C4: one stands where what should undo it has failed', () => {
    const settled = (success: boolean) =>
      at({ k: 'settled', path: 'root/pay~undo.1.1', response: { success } })
    const states = [true, false].map((success) => {
      return writesIn([at({}), answered(true, 1), settled(success)])[0]?.state
    })
    expect(states).toEqual(['undone', 'landed'])
  })

  it('L7: a read, which the journal does not have as a request, is none', () => {
    expect(writesIn([answered(true, 1)])).toEqual([])
  })
})

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTaken } from '../support/effort.js'
import { verifiedByPython } from '../support/python-verifier.js'
import { cells } from '../support/tamper-cells.js'
import { TamperPlace } from '../support/tamper-place.js'
import { rows } from '../support/tamper-rows.js'

const OPEN_JOURNAL = 'the journal of the run that waits, in order but for its code'

let place: TamperPlace
/** Snapshots of the altered ledgers that can be exported, by the name of their row. */
const files = new Map<string, string>()

beforeAll(async () => {
  place = await TamperPlace.create()
  for (const [at, { name, alter }] of rows.entries()) {
    if (!isTaken(at, 3) && !isNamed(name)) continue
    const location = await place.altered(alter)
    const file = `${location}.tally`
    await place.tally(['export', file, '--damaged'], location)
    if (existsSync(file)) files.set(name, file)
    await rm(location, { recursive: true })
  }
})
afterAll(() => place.remove())

/** Rows that a test below is about, whatever others the usual form takes. */
function isNamed(name: string): boolean {
  return name === OPEN_JOURNAL || cells[name]?.note?.startsWith('note') === true
}

/** An import folds no journal of an open run; the entry itself says that it was altered. */
function isRefused(name: string): boolean {
  const { import: caught, replay } = cells[name] ?? {}
  return caught !== undefined || replay === 'journal.inputHash'
}

describe('the verifier in Python', () => {
  it('refuses the snapshots of altered ledgers that an import or a replay refuses', () => {
    const { reports } = verifiedByPython([...files.values()])
    const refused = [...files.keys()].filter((_, index) => reports[index]?.ok === false)
    expect(refused).toEqual([...files.keys()].filter(isRefused))
    const open = [...files.keys()].indexOf(OPEN_JOURNAL)
    expect(Object.keys(reports[open]?.notChecked ?? {}).join()).toContain('blob key')
  })

  it('P5: finds by a note what the own key made again, and a tail that was cut', () => {
    const found = [...files].filter(([name]) => cells[name]?.note?.startsWith('note') === true)
    expect(found.length).toBeGreaterThan(3)
    const note = ['--note', place.path('honest.note')]
    const { reports } = verifiedByPython(
      found.map(([, file]) => file),
      note
    )
    expect(reports.map(({ ok }) => ok)).toEqual(found.map(() => false))
  })
})

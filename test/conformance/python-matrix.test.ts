import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifiedByPython } from '../support/python-verifier.js'
import { cells } from '../support/tamper-cells.js'
import { TamperPlace } from '../support/tamper-place.js'
import { rows } from '../support/tamper-rows.js'

let place: TamperPlace
/** Snapshots of the altered ledgers that can be exported, by the name of their row. */
const files = new Map<string, string>()

beforeAll(async () => {
  place = await TamperPlace.create()
  for (const { name, alter } of rows) {
    const location = await place.altered(alter)
    const file = `${location}.tally`
    await place.tally(['export', file, '--damaged'], location)
    if (existsSync(file)) files.set(name, file)
    await rm(location, { recursive: true })
  }
})
afterAll(() => place.remove())

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
    const open = [...files.keys()].indexOf(
      'the journal of the run that waits, in order but for its code'
    )
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

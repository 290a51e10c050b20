import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong, isTaken } from '../support/effort.js'
import { verifiedByPython } from '../support/python-verifier.js'
import { snapshotRows } from '../support/snapshot-rows.js'
import { TamperPlace, type Told } from '../support/tamper-place.js'

/** The row of the tamper matrix for snapshots, in the columns that read one. */

let place: TamperPlace
let honest: string
let count = 0
beforeAll(async () => {
  place = await TamperPlace.create()
  await exported('earlier')
  honest = await exported('honest')
})
afterAll(() => place.remove())

async function exported(name: string): Promise<string> {
  const file = place.path(`${name}.tally`)
  await place.tally(['export', file], place.path(name))
  return readFile(file, 'utf8')
}

/** Imports into a place of its own, where nothing is or where an earlier snapshot was imported. */
async function imported(file: string, isThere: boolean): Promise<[Told, location: string]> {
  count += 1
  const location = place.path(`imported-${count}`)
  if (isThere) await place.tally(['import', place.path('earlier.tally')], location)
  return [await place.tally(['import', file], location), location]
}

const codeOf = ({ documents }: Told) => documents.find(({ $type }) => $type === 'error')?.['code']

it('L12: the honest snapshot passes where altered ones are refused', async () => {
  const file = place.path('honest.tally')
  for (const isThere of [false, true]) {
    expect(codeOf((await imported(file, isThere))[0])).toBeUndefined()
  }
  expect(verifiedByPython([file]).reports.map(({ ok }) => ok)).toEqual([true])
})

describe.each(snapshotRows)('L12: where a forger has altered $name', ({ altered, isOpen }) => {
  it('each reader of snapshots refuses it, or says what it did not check', async () => {
    const texts = [...altered(honest)].filter((_, place) => isTaken(place, 12))
    expect(texts.length).toBeGreaterThan(0)
    const files = await Promise.all(
      texts.map(async ([name, text]) => {
        expect(text, name).not.toBe(honest)
        count += 1
        const file = place.path(`${count}.tally`)
        await writeFile(file, text)
        return { name, file }
      })
    )
    const { reports } = verifiedByPython(files.map(({ file }) => file))
    for (const [at, { name, file }] of files.entries()) {
      // Whether something is there makes no difference to a verification.
      for (const isThere of isLong || at === 0 ? [false, true] : [false]) {
        const [told, location] = await imported(file, isThere)
        const code = codeOf(told)
        if (!isOpen)
          expect(code ?? 'passes', name).toMatch(
            /^snapshot\.(not_verified|unreadable|malformed|diverges)$/
          )
        if (code !== undefined) continue
        expect(told.text, name).toMatch(/notChecked":\[[^\]]*blob key/)
        const shown = await place.tally(['show', 'parked'], location)
        if (codeOf(shown) === undefined)
          expect(shown.text, name).toMatch(/notChecked":\["[^"]*blob key/)
      }
      const report = reports[at]
      if (!isOpen) expect(report?.ok, `${name} in Python`).toBe(false)
      else if (report?.ok === true) {
        expect(Object.keys(report.notChecked).join(), name).toContain('blob key')
      }
    }
  })
})

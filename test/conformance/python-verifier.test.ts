import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cases, isLong } from '../support/effort.js'
import { exampleLedgers } from '../support/example-ledgers.js'
import { exported, oneOfEach, program } from '../support/generated-ledgers.js'
import { verifiedByPython } from '../support/python-verifier.js'

/**
 * A second implementation, written from docs/spec alone, says of whole ledgers what this one says:
 * honest ones hold.
 */

const LEDGERS = cases({ usual: 12, long: 200 })
const EXAMPLES = isLong ? ['01-invoices', '02-wallet', '04-agents'] : ['02-wallet']
const golden = fileURLToPath(new URL('../vectors/ledgers/', import.meta.url))
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-python-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the verifier in Python', () => {
  it('finds nothing wrong in the golden ledgers', async () => {
    const names = (await readdir(golden)).filter((name) => name.endsWith('.snapshot.gz'))
    expect(names.length).toBeGreaterThan(20)
    const checked = expectHonest(names.map((name) => join(golden, name)))
    expect(checked.get('listings of steps')).toBeGreaterThan(1)
    expect(checked.get('signatures of approvers')).toBeGreaterThan(40)
    expect(checked.get('approvals that were obliged')).toBeGreaterThan(1)
    expect(checked.get('encrypted journal entries')).toBeGreaterThan(100)
  })

  it(`finds nothing wrong in ${LEDGERS} generated ledgers`, async () => {
    const files: string[] = []
    for (const acts of [oneOfEach, ...fc.sample(program, LEDGERS - 1)]) {
      const file = join(
        folder,
        `generated-${files.length}.snapshot${files.length % 2 ? '.gz' : ''}`
      )
      await exported(acts, file)
      files.push(file)
    }
    const checked = expectHonest(files)
    for (const kind of [
      'evidence records',
      'bodies in records',
      'writes',
      'runs',
      'signatures',
      'digests of waits'
    ]) {
      expect(checked.get(kind), kind).toBeGreaterThan(LEDGERS / 10)
    }
    expect(checked.get('bodies of their own')).toBeGreaterThan(0)
  })

  if (isLong) {
    it('finds nothing wrong in the ledgers of the examples', async () => {
      for (const name of EXAMPLES) {
        const files = await exampleLedgers(name, await mkdtemp(join(folder, 'example-')))
        expect(files.length, name).toBeGreaterThan(0)
        expect(expectHonest(files).get('receipts'), name).toBeGreaterThan(3)
      }
    })
  }
})

/** How much of what was checked, all files together. */
function expectHonest(files: readonly string[]): ReadonlyMap<string, number> {
  const { code, reports } = verifiedByPython(files)
  expect(reports.filter(({ ok }) => !ok)).toEqual([])
  expect(reports.length).toBe(files.length)
  expect(code).toBe(0)
  const checked = new Map<string, number>()
  for (const [kind, count] of reports.flatMap((report) => Object.entries(report.checked))) {
    checked.set(kind, (checked.get(kind) ?? 0) + count)
  }
  return checked
}

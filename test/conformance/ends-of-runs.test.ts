import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalize, type JsonObject } from '../../src/core/index.js'
import { importSnapshot } from '../../src/ledger/index.js'
import { cases, isTaken } from '../support/effort.js'
import { verifiedByPython } from '../support/python-verifier.js'
import { TamperedSnapshot } from '../support/tampered-snapshot.js'

/**
 * No hash of a journal covers status and response of its last entry: both implementations compare
 * them with the receipt or the evidence that stands beside it.
 */

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-ends-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type End = JsonObject & { readonly status: string; readonly response: JsonObject }

const response = (end: End, members: JsonObject) => ({
  ...end,
  response: { ...end.response, ...members }
})

/** What else a run can be said to have ended with. */
const lies: Readonly<Record<string, (end: End) => JsonObject>> = {
  'status done': (end) => ({ ...end, status: 'done' }),
  'status failed': (end) => ({ ...end, status: 'failed' }),
  'status cancelled': (end) => ({ ...end, status: 'cancelled' }),
  success: (end) => response(end, { success: end.response['success'] !== true }),
  data: (end) => response(end, { data: 'forged' }),
  reason: (end) => response(end, { reason: 'forged' }),
  details: (end) => response(end, { details: { forged: true } }),
  'a success': (end) => ({
    ...end,
    status: 'done',
    response: { data: 'forged', metadata: {}, success: true }
  }),
  'a failure': (end) => {
    const failure = { data: null, details: {}, errorType: null, metadata: {}, reason: 'forged' }
    return { ...end, status: 'failed', response: { ...failure, success: false } }
  }
}

/** Ends of one kind are compared in one way. */
const ENDS_OF_A_STATUS = cases({ usual: 1, long: 2 })

const names = ['atomics', 'bodies', 'composites', 'evidence', 'intents', 'plans', 'workflows']

describe.each(names)('the ends of runs of the golden ledger %s', (name) => {
  it('L12: are found when they are altered, whatever of them', async () => {
    const packed = await readFile(
      new URL(`../vectors/ledgers/${name}.snapshot.gz`, import.meta.url)
    )
    const honest = gunzipSync(packed).toString()
    const files = await altered(names.indexOf(name), honest)
    expect(files.length).toBeGreaterThan(0)
    const { reports } = verifiedByPython(files.map(({ file }) => file))
    for (const [at, { file, lie }] of files.entries()) {
      const refused = importSnapshot(`${file}-copy`, { file })
      await expect(refused, lie).rejects.toThrow(/snapshot|journal\.(status|response)/)
      await expect(refused, lie).rejects.toMatchObject({ code: 'snapshot.not_verified' })
      expect(reports[at]?.ok, `${lie} for Python`).toBe(false)
    }
  })
})

async function altered(ledger: number, honest: string) {
  const files: { readonly file: string; readonly lie: string }[] = []
  const seen = new Map<string, number>()
  const lines = new TamperedSnapshot(honest).recordLines('J')
  for (const place of lines) {
    const end = JSON.parse(place.text.slice(1)) as End
    if (end['k'] !== 'run.finished') continue
    const count = (seen.get(end.status) ?? 0) + 1
    seen.set(end.status, count)
    if (count > ENDS_OF_A_STATUS) continue
    for (const [row, [lie, tell]] of Object.entries(lies).entries()) {
      // The usual form tells a third of them of each ledger, and all among three ledgers.
      if (!isTaken(row + ledger, 3)) continue
      const snapshot = new TamperedSnapshot(honest)
      snapshot.change(place, () => `J${canonicalize(tell(end))}`)
      const text = snapshot.encoded()
      if (canonicalize(tell(end)) === canonicalize(end)) continue
      const file = join(folder, `${ledger}-${files.length}`)
      await writeFile(file, text)
      files.push({ file, lie: `${lie} of ${end['run']}, ${end.status}` })
    }
  }
  return files
}

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as library from '../../src/index.js'
import { checkArchive } from '../../src/ledger/index.js'
import { createRuntime, verifyLocation, type WiredRuntime } from '../../src/runtime/index.js'
import { verifiedByPython } from '../support/python-verifier.js'
import { documentOf, temporaryDirectory } from '../support/snapshots.js'

/** A ledger with archived history that was made once, by the first version that archives. */

const vector = (name: string) =>
  fileURLToPath(new URL(`../vectors/archived/${name}`, import.meta.url))
const archives = ['1.archive.gz', '2.archive.gz'].map(vector)

let place: Awaited<ReturnType<typeof temporaryDirectory>>
beforeEach(async () => {
  place = await temporaryDirectory('archived-ledger')
})
afterEach(() => place.remove())

/** Writes the files of a kept ledger. */
async function keep(kept: 'killed' | 'ledger'): Promise<void> {
  const text = gunzipSync(await readFile(vector(`${kept}.json.gz`))).toString()
  const files = JSON.parse(text) as Readonly<Record<string, string>>
  for (const [name, base64] of Object.entries(files)) {
    const path = place.path(join('ledger', name))
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, Buffer.from(base64, 'base64'), { mode: 0o600 })
  }
}

async function open(): Promise<WiredRuntime> {
  const { codeOf } = (await import(vector('code.mjs'))) as {
    codeOf(given: typeof library): Pick<Parameters<typeof createRuntime>[0], 'blocks'>
  }
  const { blocks } = codeOf(library)
  return createRuntime({ location: place.path('ledger'), serve: false, ...(blocks && { blocks }) })
}

it('a ledger with archived history opens, verifies with its archives and without, and continues', async () => {
  await keep('ledger')
  const tally = await open()
  expect(tally.status().mode).toBe('ready')
  const alone = await tally.verify()
  expect(alone.failure).toBeUndefined()
  expect(alone.archived?.archives).toHaveLength(2)
  const whole = await tally.verify({ archives })
  expect(whole.failure).toBeUndefined()
  expect(whole).toMatchObject({ ok: true, complete: true })
  const run = await tally.resume('open')
  const [wait] = await run.waits()
  await run.resume(wait?.token ?? '', { digest: wait?.digest as never, value: 'it' })
  expect(await run.result).toMatchObject({ status: 'done' })
  const path = place.path('3.archive')
  await tally.archive({ path, before: Date.now() + 60_000 })
  expect(await tally.verify({ archives: [...archives, path] })).toMatchObject({ complete: true })
  await tally.close()
})

it('G2: one whose process died before the pages of its archived state were written opens, and writes them', async () => {
  await keep('killed')
  const archive = vector('killed.archive.gz')
  expect(await verifyLocation(place.path('ledger'), { notes: [] })).toMatchObject({ ok: true })
  for (const text of ['four', 'five']) {
    const tally = await open()
    expect(tally.status()).toMatchObject({ mode: 'ready' })
    const archives = [archive]
    expect(await tally.verify({ archives })).toMatchObject({ ok: true, complete: true })
    const inputs = { text }
    const { status } = await tally.begin(documentOf('note'), { id: text, inputs }).result
    expect(status).toBe('done')
    await tally.close()
  }
})

it('P1: its archives verify alone, and together in Python', async () => {
  for (const path of archives) expect((await checkArchive(path)).receipts).toBeGreaterThan(0)
  const { code, reports } = verifiedByPython(archives)
  expect(reports[0]?.failure).toBeNull()
  expect(code).toBe(0)
})

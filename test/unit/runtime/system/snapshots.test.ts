import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { holdStore, importSnapshot } from '../../../../src/ledger/index.js'
import { createRuntime, openReader, verifyLocation } from '../../../../src/runtime/index.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'
import {
  documentOf,
  encodeTexts,
  fillLedger,
  openSnapshotLedger,
  receiptsOf,
  type SnapshotTexts,
  snapshotBlocks,
  snapshotTexts,
  temporaryDirectory
} from '../../../support/snapshots.js'

/** One ledger that has a bit of everything, its snapshot, and one of when it had less. */
let place: Awaited<ReturnType<typeof temporaryDirectory>>
let texts: SnapshotTexts
let headRoot: string
let receipts: Awaited<ReturnType<typeof receiptsOf>>
beforeAll(async () => {
  place = await temporaryDirectory('snapshots')
  const tally = await openSnapshotLedger(place.path('ledger'), { create: 'if-absent' })
  await tally.begin(documentOf('note'), { inputs: { text: 'first' } }).result
  await tally.export({ path: place.path('early.snapshot') })
  await fillLedger(tally)
  const report = await tally.export({ path: place.path('whole.snapshot') })
  expect(report).toMatchObject({ openRuns: 1, isNoted: true, receipts: tally.status().receipts })
  headRoot = tally.ledger.roots().head
  expect(report.headRoot).toBe(headRoot)
  receipts = await receiptsOf(tally)
  await tally.close()
  texts = snapshotTexts(await readFile(place.path('whole.snapshot'), 'utf8'))
})
afterAll(() => place.remove())

let names = 0
function fresh(): string {
  names += 1
  return place.path(`place-${names}`)
}
const whole = () => place.path('whole.snapshot')
const { signal } = new AbortController()

/** Imports an altered snapshot; gives the error, and expects that nothing was left behind. */
async function refused(text: string | Buffer, name = 'altered.snapshot'): Promise<unknown> {
  await writeFile(place.path(name), text)
  const location = fresh()
  const error = await importSnapshot(location, { file: place.path(name) }).catch((one) => one)
  expect(await readdir(location).catch(() => [])).toEqual([])
  return error
}

const altered = (change: (lines: string[]) => string[]) =>
  refused(encodeTexts({ ...texts, lines: change([...texts.lines]) }))

async function copyOf(name: string): Promise<string> {
  const location = fresh()
  await cp(place.path(name), location, { recursive: true })
  return location
}

describe('an import', () => {
  it('P3: gives the same receipts and head root, and all of it is executed again', async () => {
    const location = fresh()
    const imported = await importSnapshot(location, { file: whole() })
    expect(imported).toMatchObject({ outcome: 'created', headRoot, openRuns: ['open-run'] })
    expect((await readdir(location)).sort()).toEqual(['data-1', 'marker.json'])
    const report = await verifyLocation(location, { notes: [], code: { blocks: snapshotBlocks } })
    expect(report).toMatchObject({ ok: true, receipts: receipts.length })
    expect(report.reexecuted).toBe(receipts.length)
    expect(report.head?.headRoot).toBe(headRoot)
  })

  it('P3: is only read: it runs nothing, its open runs are shown as imported', async () => {
    const location = fresh()
    await importSnapshot(location, { file: whole() })
    await expect(openSnapshotLedger(location)).rejects.toMatchObject({ code: 'ledger.follower' })
    const reader = await openReader(location)
    expect(await reader.service({ method: 'status', params: {}, signal })).toMatchObject({
      isFollower: true,
      receipts: receipts.length
    })
    const shown = await reader.service({ method: 'show', params: { id: 'open-run' }, signal })
    expect(shown).toMatchObject({ status: 'imported' })
    const path = place.path('again.snapshot.gz')
    const params = { path, unsigned: true }
    expect(await reader.service({ method: 'export', params, signal })).toMatchObject({
      headRoot,
      isNoted: false
    })
    await reader.close()
    const again = snapshotTexts(gunzipSync(await readFile(path)).toString())
    expect(again.lines).toEqual(texts.lines)
    expect(await importSnapshot(fresh(), { file: path })).toMatchObject({ headRoot })
  })

  it('P3, L6: a takeover leaves a receipt first, then the runs continue', async () => {
    const location = fresh()
    await importSnapshot(location, { file: whole() })
    const takeOver = { takeOver: true } as const
    await expect(openSnapshotLedger(location, takeOver)).rejects.toMatchObject({
      code: 'identity.key_file_missing'
    })
    await cp(place.path('ledger', 'keys'), `${location}/keys`, { recursive: true })
    const tally = await openSnapshotLedger(location, takeOver)
    const taken = await tally.receipt(receipts.length)
    expect(taken?.receipt.intent).toBe('system.takeover')
    expect(JSON.parse(taken?.payloadText ?? 'null')).toEqual({
      receipts: receipts.length,
      receiptHash: receipts.at(-1)?.receiptHash
    })
    const run = await tally.resume('open-run')
    const [wait] = await run.waits()
    if (wait === undefined) throw new Error('it does not wait')
    await run.resume(wait.token, { digest: wait.digest, value: 7 })
    expect((await run.result).response).toMatchObject({ success: true, data: 7 })
    expect(await tally.intent({ action: 'system.takeover' })).toMatchObject({
      reason: 'not_a_follower'
    })
    expect(await tally.verify()).toMatchObject({ ok: true })
    await tally.close()
    await (await openSnapshotLedger(location)).close()
    await expect(importSnapshot(location, { file: whole() })).resolves.toMatchObject({
      outcome: 'unchanged'
    })
  })

  it('P3, L9: brings a ledger forward and keeps the old data; less or the same is no news', async () => {
    const location = fresh()
    await importSnapshot(location, { file: place.path('early.snapshot') })
    const forward = await importSnapshot(location, { file: whole() })
    expect(forward).toMatchObject({ outcome: 'replaced', live: 'data-2', kept: 'data-1', headRoot })
    for (const file of [whole(), place.path('early.snapshot')]) {
      expect(await importSnapshot(location, { file })).toMatchObject({
        outcome: 'unchanged',
        live: 'data-2',
        kept: null
      })
    }
    expect((await readdir(location)).sort()).toEqual(['data-1', 'data-2', 'marker.json'])
  })

  it('P3: refuses another identity, another history, and a damaged ledger that has more', async () => {
    const other = fresh()
    await (await openSnapshotLedger(other, { create: 'if-absent' })).close()
    const before = await readdir(other)
    await expect(importSnapshot(other, { file: whole() })).rejects.toMatchObject({
      code: 'snapshot.other_identity'
    })
    expect(await readdir(other)).toEqual(before)
    // The same identity continues in two places.
    const location = fresh()
    await importSnapshot(location, { file: place.path('early.snapshot') })
    await cp(place.path('ledger', 'keys'), `${location}/keys`, { recursive: true })
    await (await openSnapshotLedger(location, { takeOver: true })).close()
    await expect(importSnapshot(location, { file: whole() })).rejects.toMatchObject({
      code: 'snapshot.diverges'
    })
    const marker = JSON.parse(await readFile(`${location}/marker.json`, 'utf8'))
    expect(marker).toMatchObject({ live: 'data-1' })
    expect(marker).not.toHaveProperty('followers')
    expect(await readdir(location)).not.toContain('data-2')
  })

  it('K2: takes the place of a ledger whose records are damaged, as long as nothing is lost', async () => {
    const location = await copyOf('ledger')
    await damageFirst(location)
    const reader = await openReader(location)
    expect(await reader.service({ method: 'status', params: {}, signal })).toMatchObject({
      mode: 'safe'
    })
    await reader.close()
    await expect(
      importSnapshot(location, { file: place.path('early.snapshot') })
    ).rejects.toMatchObject({ code: 'snapshot.diverges' })
    expect(await importSnapshot(location, { file: whole() })).toMatchObject({
      outcome: 'replaced',
      kept: 'data-1'
    })
    expect(await verifyLocation(location, { notes: [] })).toMatchObject({ ok: true })
  })

  it('P3: of a ledger with packages verifies without their code, and replays with it', async () => {
    const packages = await PackageFolder.create()
    const source = fresh()
    const counter = await packages.write(counterPackage)
    const tally = await openSnapshotLedger(source, { create: 'if-absent', packages: [counter] })
    const capabilities = ['storage.read', 'storage.write']
    await tally.intent({ action: 'system.grant', payload: { package: 'counter', capabilities } })
    expect(await tally.intent({ action: 'count.up' })).toMatchObject({ count: 1 })
    const file = fresh()
    await tally.export({ path: file })
    await tally.close()
    await packages.remove()
    const location = fresh()
    await importSnapshot(location, { file })
    expect(await verifyLocation(location, { notes: [] })).toMatchObject({ ok: true })
    expect(await verifyLocation(location, { notes: [], code: {} })).toMatchObject({
      ok: true,
      complete: false
    })
    await cp(`${source}/packages`, `${location}/packages`, { recursive: true })
    expect(await verifyLocation(location, { notes: [], code: {} })).toMatchObject({ ok: true })
  })

  it('P5: refuses what a note from outside contradicts', async () => {
    const note = snapshotTexts(await readFile(place.path('early.snapshot'), 'utf8')).note
    const notes = [{ source: 'early', text: String(note) }]
    await expect(importSnapshot(fresh(), { file: whole(), notes })).resolves.toMatchObject({
      outcome: 'created'
    })
    const later = [{ source: 'later', text: String(texts.note) }]
    const file = place.path('early.snapshot')
    await expect(importSnapshot(fresh(), { file, notes: later })).rejects.toMatchObject({
      code: 'snapshot.not_verified'
    })
  })
})

describe('a snapshot that is not as it was written', () => {
  it('P3: is refused at every line that is cut, left out, doubled or altered', async () => {
    const text = encodeTexts(texts)
    expect(text).toBe(await readFile(whole(), 'utf8'))
    // A note is checked with the rest, when the footer was read.
    const malformed = expect.objectContaining({
      code: expect.stringMatching(/^snapshot\.(malformed|not_verified)$/)
    })
    const lines = text.trimEnd().split('\n')
    const kinds = ['{"format"', '{"commit"', '{"key"', '{"blob"', '{"open"', '{"note"']
    for (const kind of kinds) {
      const at = lines.findIndex((line) => line.startsWith(kind))
      expect(at, kind).toBeGreaterThanOrEqual(0)
      const line = lines[at] ?? ''
      const middle = Math.floor(line.length / 2)
      const flipped = `${line.slice(0, middle)}${line[middle] === '0' ? '1' : '0'}`
      const altered = flipped + line.slice(middle + 1)
      const variants: Readonly<Record<string, readonly string[]>> = {
        'left out': lines.toSpliced(at, 1),
        doubled: lines.toSpliced(at, 0, line),
        altered: lines.with(at, altered),
        'of no kind': lines.with(at, '{"more":1}'),
        'cut before': lines.slice(0, at)
      }
      for (const [name, changed] of Object.entries(variants)) {
        const error = await refused(changed.map((one) => `${one}\n`).join(''))
        expect(error, `${kind} ${name}`).toEqual(malformed)
      }
      const length = text.indexOf(kind) + middle
      expect(await refused(text.slice(0, length)), `${kind} cut in`).toEqual(malformed)
    }
    expect(await refused(`${text}{}\n`)).toEqual(malformed)
    expect(await refused(Buffer.concat([Buffer.from(text), Buffer.from([0xff, 10])]))).toEqual(
      malformed
    )
  })

  it('P3, P1: is refused when its maker has mended counts and hash', async () => {
    const malformed = { code: 'snapshot.malformed' }
    const unverified = { code: 'snapshot.not_verified' }
    const change = (from: string, to: string) => (lines: string[]) =>
      lines.map((line) => line.replaceAll(from, to))
    expect(
      await altered(change('\\"intent\\":\\"note\\"', '\\"intent\\":\\"nota\\"'))
    ).toMatchObject(malformed)
    // A result, which the receipt names by its hash.
    expect(
      await altered(change('\\nO{\\"text\\":\\"small', '\\nO{\\"text\\":\\"smell'))
    ).toMatchObject(unverified)
    expect(await altered(change('"state":"5"', '"state":"6"'))).toMatchObject(unverified)
    expect(
      await altered((lines) => lines.filter((line) => !line.startsWith('{"key"')))
    ).toMatchObject(unverified)
    expect(await altered(change('xxxxxxxx', 'xxxxxxxy'))).toMatchObject(malformed)
    const another = JSON.stringify({ blob: 'nobody names it' })
    const blob = texts.lines.findIndex((line) => line.startsWith('{"blob"'))
    expect(await altered((lines) => lines.toSpliced(blob, 0, another))).toMatchObject(malformed)
    expect(await altered((lines) => lines.slice(0, -1))).toMatchObject(malformed)
    expect(await altered(change('"status":"waiting"', '"status":"running"'))).toMatchObject(
      malformed
    )
    const commits = texts.lines.filter((line) => line.startsWith('{"commit"')).length
    expect(await altered((lines) => lines.toSpliced(commits - 1, 1))).toMatchObject(malformed)
    const { header } = texts
    const head = { ...(header['head'] as object), headRoot: '0'.repeat(64) }
    expect(await refused(encodeTexts({ ...texts, header: { ...header, head } }))).toMatchObject(
      unverified
    )
    const publicKeys = [header['identity'] ?? null]
    expect(
      await refused(encodeTexts({ ...texts, header: { ...header, publicKeys } }))
    ).toMatchObject(malformed)
    const note = String(texts.note).replace(/state-root (.)/, (_, digit: string) => {
      return `state-root ${digit === '0' ? '1' : '0'}`
    })
    expect(await refused(encodeTexts({ ...texts, note }))).toMatchObject(unverified)
  })

  it('P3: is refused before it is believed: versions, sizes, what is no file', async () => {
    const { header } = texts
    const versions = { ...(header['versions'] as object), receipt: 2 }
    expect(await refused(encodeTexts({ ...texts, header: { ...header, versions } }))).toMatchObject(
      {
        code: 'snapshot.unknown_version'
      }
    )
    const text = await readFile(whole(), 'utf8')
    const declared = (name: string, value: number) =>
      text.replace(new RegExp(`"${name}":[0-9]+`), `"${name}":${value}`)
    for (const [name, value] of [
      ['bytes', 100],
      ['bytes', 2 ** 50],
      ['longestLine', 100],
      ['longestLine', 2 ** 40],
      ['commits', 1],
      ['commits', 10 ** 9]
    ] as const) {
      expect(await refused(declared(name, value)), name).toMatchObject({
        code: 'snapshot.malformed'
      })
    }
    expect(await refused('')).toMatchObject({ code: 'snapshot.malformed' })
    expect(await refused('{"format":"tally-snapshot"}\n')).toMatchObject({
      code: 'snapshot.malformed'
    })
    expect(await refused(text, 'plain.gz')).toMatchObject({ code: 'snapshot.malformed' })
    await mkdir(place.path('folder'))
    for (const file of [place.path('none'), place.path('folder')]) {
      await expect(importSnapshot(fresh(), { file })).rejects.toMatchObject({
        code: 'snapshot.unreadable'
      })
    }
  })
})

describe('an export', () => {
  it('K2, K13: is an intent of the owner, in safe mode too; an agent has none', async () => {
    const location = await copyOf('ledger')
    const tally = await openSnapshotLedger(location)
    const path = fresh()
    expect(await tally.intent({ action: 'system.export', payload: { path } })).toMatchObject({
      type: 'dapp',
      receipt: null,
      headRoot,
      isNoted: true
    })
    expect(await tally.intent({ action: 'system.export', payload: { path } })).toMatchObject({
      reason: 'not_exported',
      details: { code: 'snapshot.unwritable' }
    })
    expect(await tally.intent({ action: 'system.export' })).toMatchObject({
      reason: 'invalid_input'
    })
    tally.ledger.enterSafeMode({ code: 'test', message: 'a test' })
    const inSafeMode = { action: 'system.export', payload: { path: fresh() } }
    expect(await tally.intent(inSafeMode)).toMatchObject({ type: 'dapp', isNoted: false })
    await tally.close()
    const agent = { action: 'system.export', payload: { path: fresh() }, agent: 'somebody' }
    const served = await openSnapshotLedger(location)
    const reply = await served.service({ method: 'intent', params: agent, signal })
    expect(reply).toMatchObject({ reason: 'not_permitted' })
    await served.close()
  })

  it('P3: holds no key of the identity, and not what is kept beside the data', async () => {
    const text = await readFile(whole(), 'utf8')
    const known = [...((texts.header['publicKeys'] ?? []) as string[])]
    const files = await readdir(place.path('ledger', 'keys'))
    expect(files.length).toBe(2)
    let secrets = 0
    for (const file of files) {
      const kept = await readFile(place.path('ledger', 'keys', file), 'utf8')
      for (const [hex] of kept.matchAll(/[0-9a-f]{64}/g)) {
        if (known.includes(hex)) continue
        secrets += 1
        expect(text).not.toContain(hex)
      }
    }
    expect(secrets).toBeGreaterThanOrEqual(2)
  })

  it('P3: sees one moment while units of work continue', async () => {
    const tally = await createRuntime({ location: 'memory:', blocks: snapshotBlocks })
    const work = Array.from({ length: 12 }, (_, n) =>
      tally.begin(documentOf('note'), { inputs: { text: `text ${n}` } })
    )
    const reports = []
    for (let n = 0; n < 2; n += 1) {
      const file = fresh()
      reports.push(await tally.export({ path: file }))
      const { receipts: held, headRoot: root } = reports.at(-1) ?? {}
      expect(await importSnapshot(fresh(), { file })).toMatchObject({
        receipts: held,
        headRoot: root
      })
    }
    await Promise.all(work.map(({ result }) => result))
    expect(tally.status().receipts).toBeGreaterThanOrEqual(24)
    await tally.close()
  })
})

/** Flips a byte of the first commit record, so that its checksum does not hold. */
async function damageFirst(location: string): Promise<void> {
  const { store, location: place, close } = await holdStore(location)
  const prefix = `${place.marker.identities[0]}/commit/`
  for await (const [key, value] of store.entries({ gte: prefix, lt: `${prefix}g`, limit: 1 })) {
    const bytes = Uint8Array.from(value)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    await store.commit([{ puts: [[key, bytes]], deletes: [] }])
  }
  await close()
}

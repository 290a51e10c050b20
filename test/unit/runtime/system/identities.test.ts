import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isIdentityId, systemRandom } from '../../../../src/core/index.js'
import { loadKeyFile } from '../../../../src/identity/index.js'
import { importSnapshot, inspectLocation, type Marker } from '../../../../src/ledger/index.js'
import {
  createRuntime,
  openReader,
  type RuntimeOptions,
  verifyLocation,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'

const create = { action: 'system.identity.create' }
const approver = { publicKey: 'a'.repeat(64), isApprover: true }

let disk: LedgerOnDisk
beforeEach(async () => {
  disk = await LedgerOnDisk.create()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await disk.remove()
})

const open = (options: Partial<RuntimeOptions> = {}) => disk.open(options)
const keysAt = (name: string) => join(disk.path, 'keys', name)

async function made(tally: WiredRuntime, options: object = {}) {
  const reply = await tally.intent({ ...create, ...options })
  const { identity } = reply as never as { readonly identity: unknown }
  if (!isIdentityId(identity)) throw new Error(JSON.stringify(reply))
  return identity
}

async function markerOf(location = disk.path): Promise<Marker> {
  const found = await inspectLocation(location)
  if (found === undefined) throw new Error('there is no ledger')
  return found.marker
}

describe('system.identity.create', () => {
  it('K2: makes an identity with a key, a chain and a state of its own; the first stays the main one', async () => {
    // Of these two keys the second one sorts first.
    let fill = 7
    const bytes = (length: number) => new Uint8Array(length).fill(fill)
    const tally = await open({ random: { ...systemRandom, bytes } })
    const { identity: first } = tally
    fill = 1
    const second = await made(tally, { payload: { label: 'pay' } })
    const receipt = await tally.receipt(0)
    expect(receipt?.receipt.intent).toBe('system.identity.create')
    expect(JSON.parse(receipt?.resultText ?? 'null')).toEqual({ identity: second, label: 'pay' })
    expect(JSON.parse(tally.ledger.read(`system/identities/${second}`) ?? '{}')).toMatchObject({
      by: { kind: 'owner' },
      label: 'pay'
    })
    await disk.close()
    const marker = await markerOf()
    expect(marker).toMatchObject({ identities: [second, first], main: first })
    const report = await verifyLocation(disk.path, { notes: [], code: {} })
    expect(report).toMatchObject({ ok: true, reexecuted: 1 })

    const other = await open({ identity: second })
    expect(other.status()).toMatchObject({ mode: 'ready', receipts: 0, warnings: [] })
    await other.intent({ action: 'system.approver', payload: approver })
    expect((await other.receipt(0))?.receipt.publicKey).toBe(second)
    await disk.close()
    expect((await open()).identity).toBe(first)
    await disk.close()
    const reader = await openReader(disk.path, { identity: second })
    const { signal } = new AbortController()
    expect(await reader.service({ method: 'status', params: {}, signal })).toMatchObject({
      identity: second,
      receipts: 1
    })
    await reader.close()
    const identity = second
    expect(await verifyLocation(disk.path, { notes: [], code: {}, identity })).toMatchObject({
      ok: true,
      reexecuted: 1
    })
  })

  it('L6: the same id is the same identity, also after a death, and no other intent', async () => {
    const tally = await open()
    const payload = { label: 'a' }
    const [one, two] = await Promise.all([
      tally.intent({ ...create, id: 'june', payload }),
      tally.intent({ ...create, id: 'june', payload })
    ])
    expect(two).toEqual(one)
    await disk.close()
    const again = await open()
    expect(await again.intent({ ...create, id: 'june', payload })).toEqual(one)
    expect(await again.intent({ ...create, id: 'june' })).toMatchObject({ reason: 'id_reused' })
    await again.intent({ id: 'july', action: 'system.approver', payload: approver })
    expect(await again.intent({ ...create, id: 'july' })).toMatchObject({ reason: 'id_reused' })
    expect((await markerOf()).identities).toHaveLength(2)
    expect(await readdir(join(disk.path, 'keys'))).toHaveLength(2)
    const given = { ...create, payload: { identity: 'b'.repeat(64) } }
    expect(await again.intent(given)).toMatchObject({ reason: 'invalid_input' })
  })

  it('K2: a death at any step leaves none, or one that the next opening completes', async () => {
    const tally = await open()
    const { identity: first } = tally
    // Before the receipt.
    const append = vi.spyOn(tally.ledger, 'append').mockImplementation(() => {
      throw new Error('it is dead')
    })
    await expect(tally.intent(create)).rejects.toThrow('it is dead')
    append.mockRestore()
    const second = await made(tally)
    await disk.close()
    expect((await readdir(join(disk.path, 'keys'))).filter((name) => /begun/.test(name))).toEqual([
      expect.not.stringContaining(second)
    ])
    const marker = await readFile(join(disk.path, 'marker.json'), 'utf8')
    const unmarked = JSON.stringify({ ...JSON.parse(marker), identities: [first], main: undefined })
    const put = (text: string) => writeFile(join(disk.path, 'marker.json'), text)
    const begun = () => rename(keysAt(`${second}.json`), keysAt(`${second}.begun.json`))

    // Behind the receipt, with or without its head: it is not opened before the maker is opened.
    await begun()
    await put(`${unmarked}\n`)
    await expect(open({ identity: second })).rejects.toMatchObject({
      code: 'ledger.identity_missing'
    })
    await open()
    await disk.close()
    expect(await readFile(join(disk.path, 'marker.json'), 'utf8')).toBe(marker)
    expect((await open({ identity: second })).identity).toBe(second)
    await disk.close()

    // Behind the marker; and while the file has both names.
    await begun()
    expect((await open({ identity: second })).identity).toBe(second)
    await disk.close()
    await cp(keysAt(`${second}.json`), keysAt(`${second}.begun.json`))
    await open()
    await disk.close()
    expect(await readdir(join(disk.path, 'keys'))).not.toContain(`${second}.begun.json`)
    const { publicKey } = await loadKeyFile({ path: keysAt(`${second}.json`) })
    expect(publicKey).toBe(second)
  })

  it('K13: is the owner’s, and no step of a document', async () => {
    const tally = await open()
    const agent = { kind: 'agent', id: 'a' }
    await tally.intent({ action: 'system.approver', payload: approver })
    for (const by of [agent, { kind: 'peer', id: approver.publicKey }]) {
      const reply = await tally.intents.submit(create, by)
      expect(reply).toMatchObject({ type: 'error', reason: 'not_permitted' })
    }
    const input = { lit: { ...create, payload: { identity: 'b'.repeat(64) } } }
    const document = {
      schema: 'tally-composite/1',
      name: 'sneak',
      version: '1',
      entry_point: 'make',
      nodes: { make: { block: 'intent', input } },
      transitions: {}
    }
    const { response } = await tally.begin(document).result
    expect(response).toMatchObject({ success: false, reason: 'not_in_documents' })
    expect((await markerOf()).identities).toEqual([tally.identity])
    expect(await tally.verify()).toMatchObject({ ok: true })
  })

  it('K2: needs a key file beside the ledger, as protected as its own', async () => {
    const memory = await createRuntime({ location: 'memory:' })
    expect(await memory.intent(create)).toMatchObject({ reason: 'no_key_file' })
    await memory.close()
    const { identity } = await open()
    await disk.close()
    const keys = await loadKeyFile({ path: keysAt(`${identity}.json`) })
    const brought = await open({ keys })
    expect(await brought.intent(create)).toMatchObject({ reason: 'no_key_file' })
    expect(await readdir(join(disk.path, 'keys'))).toEqual([`${identity}.json`])
  })

  it('P3: a snapshot is of one identity; where it is imported the others stay, and none is made', async () => {
    const tally = await open()
    const { identity: first } = tally
    const second = await made(tally)
    const file = join(disk.directory, 'first.snapshot')
    const early = join(disk.directory, 'early')
    await disk.close()
    await cp(disk.path, early, { recursive: true })
    const later = await open()
    await later.intent({ action: 'system.approver', payload: approver })
    await later.export({ path: file })
    await disk.close()
    const other = await createRuntime({ location: early, identity: second, serve: false })
    await other.intent({ action: 'system.approver', payload: approver })
    await other.close()
    expect(await importSnapshot(early, { file })).toMatchObject({ outcome: 'replaced' })
    expect(await markerOf(early)).toMatchObject({
      identities: [first, second].sort(),
      followers: [first]
    })
    const kept = await createRuntime({ location: early, identity: second, serve: false })
    expect(kept.status()).toMatchObject({ mode: 'ready', receipts: 1 })
    await kept.close()
    await expect(createRuntime({ location: early, serve: false })).rejects.toMatchObject({
      code: 'ledger.follower'
    })

    // The keys came along, and the chain says that the second one was made: elsewhere.
    const fresh = join(disk.directory, 'fresh')
    await importSnapshot(fresh, { file })
    await cp(join(disk.path, 'keys'), join(fresh, 'keys'), { recursive: true })
    await (await createRuntime({ location: fresh, takeOver: true, serve: false })).close()
    expect((await markerOf(fresh)).identities).toEqual([first])
  })
})

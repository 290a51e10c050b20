import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import { createRuntime, type Runtime } from '../../../../src/runtime/index.js'
import { hears, TenantsOnDisk } from '../../../support/tenants.js'

let disk: TenantsOnDisk
beforeEach(async () => {
  disk = await TenantsOnDisk.create()
})
afterEach(() => disk.remove())

const made = { create: 'if-absent' } as const
const keeping = (key: string, value: string, id?: string) => ({
  ...(id === undefined ? {} : { id }),
  action: 'keep',
  payload: { key, value }
})

async function idsOf(tally: Runtime): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { runId } of tally.runs()) ids.push(runId)
  return ids.sort()
}

async function receiptsOf(tally: Runtime): Promise<readonly string[]> {
  const hashes: string[] = []
  for await (const { receipt } of tally.receipts()) hashes.push(receipt.receiptHash)
  return hashes
}

describe('a location that is opened for many', () => {
  it('K2: makes an identity by its name once, with a receipt of the main one', async () => {
    const location = await disk.open()
    const [one, two] = await Promise.all([
      location.identity('acme', { ...made, label: 'a shop' }),
      location.identity('acme', made)
    ])
    expect(one.identity).toBe(two.identity)
    const main = await location.identity()
    const receipt = await main.receipt(0)
    expect(JSON.parse(receipt?.resultText ?? 'null')).toEqual({
      ...{ identity: one.identity, label: 'a shop', name: 'acme' }
    })
    expect(await main.state.get(`system/identity-names/acme`)).toEqual({ identity: one.identity })
    await expect(location.identity('other')).rejects.toMatchObject({
      ...{ code: 'ledger.identity_missing', context: { identity: 'other' } }
    })
    await expect(location.identity('no name', made)).rejects.toMatchObject({
      code: 'ledger.identity_missing'
    })
    await expect(location.identity('b'.repeat(64), made)).rejects.toMatchObject({
      code: 'ledger.identity_missing'
    })
    // A name belongs to one identity, also for concurrent callers.
    const again = { action: 'system.identity.create', payload: { name: 'acme' } }
    expect(await main.intent(again)).toMatchObject({ type: 'error', reason: 'name_taken' })
    expect(await one.intent({ ...again, payload: { name: 'own' } })).toMatchObject({
      reason: 'not_main'
    })
    await disk.close()
    const next = await disk.open()
    expect((await next.identity('acme')).identity).toBe(one.identity)
    expect((await next.identity(one.identity)).identity).toBe(one.identity)
    const lines = await next.identities()
    expect(lines.map(({ name, isMain, holds }) => [name, isMain, holds])).toEqual(
      expect.arrayContaining([
        [null, true, 0],
        ['acme', false, 2]
      ])
    )
  })

  it('makes many with one marker, and says which of their names cannot be', async () => {
    const location = await disk.open()
    const names = Array.from({ length: 40 }, (_, place) => `tenant-${place}`)
    const ids = await location.create([...names, 'tenant-0'])
    expect(new Set(ids).size).toBe(40)
    expect(ids[40]).toBe(ids[0])
    expect(await location.create(names)).toEqual(ids.slice(0, 40))
    const marker = JSON.parse(await readFile(join(disk.path, 'marker.json'), 'utf8'))
    expect(marker.identities).toHaveLength(41)
    expect(location.status()).toMatchObject({ open: 1, failure: null })
    await expect(location.create(['fine', 'not fine'])).rejects.toMatchObject({
      ...{ code: 'runtime.identity_not_made', context: { name: 'not fine' } }
    })
  })

  it('L16: keeps runs, state, grants and receipts of each from all others', async () => {
    const location = await disk.open()
    const [acme, zeta] = await Promise.all([
      location.identity('acme', made),
      location.identity('zeta', made)
    ])
    const tenants: readonly (readonly [Runtime, string])[] = [
      [acme, 'of acme'],
      [zeta, 'of zeta']
    ]
    // The same ids, at once.
    await Promise.all(tenants.map(([tally, value]) => tally.intent(keeping('word', value, 'june'))))
    await acme.intent(keeping('own', 'secret', 'july'))
    const grant = { id: 'web:ann', action: 'keep' }
    const subject = { kind: 'user', id: 'ann' }
    await acme.intent({ action: 'system.grant', payload: { ...grant, subject } as never })
    for (const [tally, value] of tenants) {
      expect(await tally.state.get('kept/word')).toBe(value)
      expect(await tally.result('june')).toMatchObject({ value })
    }
    expect(await zeta.state.get('kept/own')).toBeUndefined()
    expect((await zeta.state.list('kept/')).items.map(({ key }) => key)).toEqual(['kept/word'])
    expect(await idsOf(zeta)).toEqual(['june'])
    await expect(zeta.attach('july')).rejects.toMatchObject({ code: 'run.not_found' })
    expect((await zeta.queries.grants({})).items).toEqual([])
    const [ofAcme, ofZeta] = await Promise.all([receiptsOf(acme), receiptsOf(zeta)])
    expect(ofZeta).toHaveLength(1)
    expect(ofAcme.filter((hash) => ofZeta.includes(hash))).toEqual([])
    for (const hash of ofAcme) expect(await zeta.receipt(hash as never)).toBeUndefined()
    const main = await location.identity()
    expect(await main.state.get('kept/word')).toBeUndefined()
    // What one hears of is its own.
    const heard: string[] = []
    zeta.events.on('event', ({ runId }) => heard.push(runId))
    await acme.intent(keeping('own', 'again', 'august'))
    await zeta.intent(keeping('own', 'mine', 'september'))
    expect(new Set(heard)).toEqual(new Set(['september']))
  })

  it('lets go of one hold by its close, which ends nothing', async () => {
    const location = await disk.open()
    const one = await location.identity('acme', made)
    const two = await location.identity('acme')
    const { start } = one
    // What was asked for before is done.
    const asked = one.intent(keeping('a', 'b', 'may'))
    await one.close()
    await one.close()
    expect(await asked).toMatchObject({ value: 'b' })
    expect(() => start(hears, null as never)).toThrow(
      expect.objectContaining({ code: 'runtime.closed' })
    )
    expect(() => one.status()).toThrow(expect.objectContaining({ code: 'runtime.closed' }))
    expect(await two.start(hears, null as never, { id: 'june' })).toMatchObject({ isNew: true })
    const main = await location.identity()
    await main.close()
    expect((await location.identity()).status().mode).toBe('ready')
    await expect(location.close()).resolves.toBeUndefined()
    await expect(two.intent(keeping('a', 'b'))).rejects.toMatchObject({ code: 'runtime.closed' })
    await expect(location.identity('acme')).rejects.toMatchObject({ code: 'runtime.closed' })
    await expect(location.create(['x'])).rejects.toMatchObject({ code: 'runtime.closed' })
  })

  it('close() parks running work, and the next opening resumes it', async () => {
    const location = await disk.open()
    const acme = await location.identity('acme', made)
    const handle = acme.begin(hears, null as never, { id: 'june' })
    await location.close()
    await expect(handle.result).rejects.toMatchObject({ code: 'run.interrupted' })
    const next = await disk.open()
    const again = await next.identity('acme')
    await again.signal('june', 'go', 'on')
    expect(await (await again.attach('june')).result).toMatchObject({ status: 'done' })
  })

  it('L3, L16: a failed write poisons all open identities, status() reports it, and none can be opened', async () => {
    const location = await disk.open()
    const acme = await location.identity('acme', made)
    const zeta = await location.identity('zeta', made)
    await location.create(['late'])
    // As another process would that opens the location: this one is fenced off.
    await rename(join(disk.path, 'owner.json'), join(disk.path, 'owner.old.json'))
    await expect(acme.intent(keeping('a', 'b'))).rejects.toMatchObject({ code: 'ledger.poisoned' })
    const main = await location.identity().catch((error: unknown) => error)
    expect(main).toMatchObject({ code: 'ledger.poisoned' })
    for (const tally of [acme, zeta]) {
      expect(tally.status()).toMatchObject({ mode: 'poisoned', cause: { code: 'ledger.fenced' } })
    }
    await expect(zeta.intent(keeping('a', 'b'))).rejects.toMatchObject({ code: 'ledger.poisoned' })
    expect(location.status().failure).toMatchObject({ code: 'ledger.fenced' })
    await expect(location.identity('late')).rejects.toMatchObject({ code: 'ledger.poisoned' })
    await location.close()
    const next = await disk.open()
    expect((await next.identity('late')).status().mode).toBe('ready')
    expect((await next.identity('zeta')).status().mode).toBe('ready')
  })

  it('L4, L13: holds the location alone, and refuses what would replace the data of all', async () => {
    const location = await disk.open()
    const acme = await location.identity('acme', made)
    const alone = { location: disk.path, identity: acme.identity, insecurePlaintextKey: true }
    await expect(createRuntime(alone)).rejects.toMatchObject({ code: 'ledger.locked' })
    await expect(disk.open()).rejects.toMatchObject({ code: 'ledger.locked' })
    const main = await location.identity()
    const file = join(disk.directory, 'snapshot')
    await acme.export({ path: file } as never)
    for (const tally of [acme, main]) {
      for (const [action, payload] of [
        ['system.import', { file }],
        ['system.recover', {}]
      ] as const) {
        const reply = await tally.intent({ action, payload: payload as Record<string, Json> })
        expect(reply).toMatchObject({ type: 'error', reason: 'open_for_many' })
      }
    }
    await expect(disk.open({ location: 'memory:' })).rejects.toMatchObject({
      code: 'runtime.invalid_location'
    })
  })
})

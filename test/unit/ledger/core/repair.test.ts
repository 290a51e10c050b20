import { describe, expect, it } from 'vitest'
import { unwrapText, wrapValue } from '../../../../src/ledger/envelope.js'
import { repairLedger, type Store, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { changeDerived } from '../../../support/derived.js'
import { collect, commit, fixedIdentity, loneItem, newLedger, reopen } from './support.js'

const { identity } = fixedIdentity()

async function filled() {
  const opened = await newLedger()
  const neighbour = await newLedger({ store: opened.store, keys: fixedIdentity(8) })
  await commit(neighbour.ledger, loneItem({ id: 'theirs', writes: { n: 1 } }))
  for (let n = 0; n < 6; n += 1) {
    const id = `u${n}`
    await commit(opened.ledger, loneItem({ id, writes: { [`k${n % 3}`]: 'v'.repeat(n * 400) } }))
  }
  await opened.ledger.close()
  return opened
}

async function damage(store: Store, seq: number) {
  const key = `${identity}/commit/${seq.toString(16).padStart(12, '0')}`
  const text = unwrapText(key, store.get(key) ?? Buffer.alloc(0)).replace('"10"', '"99"')
  await store.commit([{ puts: [[key, wrapValue(key, text)]], deletes: [] }])
}

function alteredPut(key: string, value: Buffer) {
  return { puts: [[key, value] as const], deletes: [] }
}

describe('recovery (K2)', () => {
  it('says that a clean ledger needs no more than to be opened again', async () => {
    const { store } = await filled()
    expect(await repairLedger({ store, identity })).toMatchObject({ kind: 'clean' })
  })

  it('T24: a value that decayed while open ends in safe mode, left only after a clean verification', async () => {
    const opened = await filled()
    const ledger = await reopen(opened)
    const key = `${identity}/state/k1`
    const value = opened.store.get(key) ?? Buffer.alloc(0)
    const damaged = Buffer.from(value)
    damaged[9] = (damaged[9] ?? 0) ^ 4
    await opened.store.commit([{ puts: [[key, damaged]], deletes: [] }])
    expect(() => ledger.read('k1')).toThrow(expect.objectContaining({ code: 'ledger.corrupt' }))
    expect(ledger.state().mode).toBe('safe')
    const bad = await verifyLedger({ store: opened.store, identity })
    expect(() => ledger.leaveSafeMode(bad)).toThrow(
      expect.objectContaining({ code: 'ledger.not_recoverable' })
    )
    await opened.store.commit([{ puts: [[key, value]], deletes: [] }])
    ledger.leaveSafeMode(await verifyLedger({ store: opened.store, identity }))
    await commit(ledger, loneItem({ id: 'goes-on' }))
    expect(ledger.state().mode).toBe('ready')
  })

  it('removes wrong derived records, which the next open makes again', async () => {
    const opened = await filled()
    const { store } = opened
    const key = `${identity}/run/run-u1`
    await changeDerived(store, key, (text) => text.replace('"done"', '"failed"'))
    expect(await repairLedger({ store, identity })).toMatchObject({
      kind: 'derived',
      report: { failure: { field: 'derived.run' } }
    })
    const ledger = await reopen(opened)
    expect(ledger.run('run-u1' as never)?.status).toBe('done')
    expect((await verifyLedger({ store, identity })).ok).toBe(true)
  })

  it.each(['removed', 'altered'])(
    'keeps every record of a ledger whose head was %s',
    async (how) => {
      const opened = await filled()
      const { store } = opened
      const key = `${identity}/head`
      const head = Buffer.from(store.get(key) ?? [])
      head[head.length - 2] = (head.at(-2) ?? 0) ^ 1
      await store.commit([how === 'removed' ? { puts: [], deletes: [key] } : alteredPut(key, head)])
      const { failure } = await verifyLedger({ store, identity })
      expect(failure).toMatchObject({ commit: 6, index: 6 })
      const target = openMemoryStore()
      const outcome = { kind: 'cut', commits: 6, receipts: 6, lostCommits: 0 }
      expect(await repairLedger({ store, identity, target })).toMatchObject(outcome)
      const ledger = await reopen({ ...opened, store: target })
      expect(ledger.state()).toMatchObject({ mode: 'ready', receipts: 6 })
      await commit(ledger, loneItem({ id: 'goes-on' }))
      expect(await verifyLedger({ store: target, identity })).toMatchObject({ ok: true })
      const other = await reopen({ store: target, keys: fixedIdentity(8) })
      expect(other.state().receipts).toBe(1)
    }
  )

  it('L9: cuts only into a new store, keeps the old one, and carries others over', async () => {
    const opened = await filled()
    const { store, keys } = opened
    await damage(store, 4)
    await expect(repairLedger({ store, identity })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    const before = await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
    const target = openMemoryStore()
    expect(await repairLedger({ store, identity, target })).toMatchObject({
      kind: 'cut',
      commits: 4,
      receipts: 4,
      lostCommits: 2
    })
    expect(await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))).toEqual(before)
    const ledger = await reopen({ store: target, keys })
    expect(ledger.state()).toMatchObject({ mode: 'ready', receipts: 4 })
    expect(ledger.read('k2')?.length).toBe(802)
    await commit(ledger, loneItem({ id: 'again', writes: { k0: 1 } }))
    await ledger.close()
    expect((await verifyLedger({ store: target, identity })).failure).toBeUndefined()
    const theirs = await verifyLedger({ store: target, identity: fixedIdentity(8).identity })
    expect(theirs).toMatchObject({ ok: true, receipts: 1 })
  })

  it('refuses to cut below a note unless that is acknowledged', async () => {
    const opened = await filled()
    const ledger = await reopen(opened)
    const notes = [{ source: 'peer', text: await ledger.note() }]
    await damage(opened.store, 4)
    const options = { store: opened.store, identity, notes }
    await expect(repairLedger({ ...options, target: openMemoryStore() })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    const cut = await repairLedger({
      ...options,
      target: openMemoryStore(),
      acknowledgeNotes: true
    })
    expect(cut.kind).toBe('cut')
  })

  it('ends before a withheld value that the state has lost, and below a note only when told', async () => {
    const opened = await newLedger()
    const { ledger, store } = opened
    for (const [id, value] of [
      ['before', 'small'],
      ['large', 'v'.repeat(100_000)],
      ['behind', 'small']
    ] as const) {
      await commit(ledger, loneItem({ id, writes: { [id]: value } }))
    }
    const notes = [{ source: 'peer', text: await ledger.note() }]
    await ledger.close()
    const blobs: string[] = []
    const all = await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
    for (const [key] of all) if (key.includes('/blob/')) blobs.push(key)
    expect(blobs.length).toBeGreaterThan(0)
    await store.commit([{ puts: [], deletes: blobs }])
    const kept = await repairLedger({ store, identity, target: openMemoryStore() })
    expect(kept.kind).toBe('clean')
    await store.commit([{ puts: [], deletes: [`${identity}/state/large`] }])
    const options = { store, identity, notes }
    await expect(repairLedger({ ...options, target: openMemoryStore() })).rejects.toMatchObject({
      code: 'ledger.not_recoverable'
    })
    const target = openMemoryStore()
    const cut = await repairLedger({ ...options, target, acknowledgeNotes: true })
    expect(cut).toMatchObject({ kind: 'cut', commits: 1, receipts: 1, lostCommits: 2 })
    expect(await verifyLedger({ store: target, identity })).toMatchObject({ ok: true })
  })
})

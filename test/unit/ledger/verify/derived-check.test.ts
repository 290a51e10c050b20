import { beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../../src/core/index.js'
import { genesisHead } from '../../../../src/ledger/chain/chain-head.js'
import { uncheckedForm } from '../../../../src/ledger/derived/record-form.js'
import { readUncheckedWatermark, type Watermark } from '../../../../src/ledger/derived/watermark.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { LogFrontier, leafHash } from '../../../../src/ledger/log/index.js'
import { DerivedCheck } from '../../../../src/ledger/verify/derived-check.js'
import { copyOf, present, verifyOf } from '../core/full-ledger.js'
import { collect, fixedIdentity, loneItem, newLedger, reopen } from '../core/support.js'

const { identity } = fixedIdentity()
const keys = new StoreKeys(identity)

describe('where derived records say that they end (L6)', () => {
  const chainHead = { ...genesisHead(identity), receipts: 2, receiptHash: sha256Hex('second') }
  const frontier = LogFrontier.empty.append(leafHash(Buffer.from('a')))
  const watermark: Watermark = {
    ...{
      seq: 5,
      receipts: 2,
      receiptHash: chainHead.receiptHash,
      frontier,
      index: [],
      archivedRuns: []
    },
    ...{ pages: { seq: 3, storageRoot: chainHead.tree.root() as never }, digest: null }
  }
  const at = (seq: number, changed: Partial<Watermark> = {}) => {
    const given = { ...watermark, ...changed }
    const check = new DerivedCheck({ store: openMemoryStore(), keys, watermark: given })
    return check.endOfCommit(seq, chainHead, frontier)
  }

  it('is compared with the chain at that commit, and at no other', () => {
    for (const seq of [0, 1, 2, 3, 4, 5]) expect(at(seq)).toBeUndefined()
    const others = {
      receipts: { receipts: 3 },
      receiptHash: { receiptHash: sha256Hex('another') },
      frontier: { frontier: LogFrontier.empty }
    }
    for (const [name, changed] of Object.entries(others)) {
      expect(at(4, changed)?.field).toBe(`derived.${name}`)
      for (const seq of [0, 1, 2, 3, 5]) expect(at(seq, changed)).toBeUndefined()
    }
    expect(at(4, { receipts: 3 })).toMatchObject({ signed: '2', computed: '3' })
  })

  it('is compared with the root of the state at the commit that the pages cover', () => {
    const changed = { pages: { seq: 3, storageRoot: sha256Hex('another') } }
    expect(at(2, changed)?.field).toBe('derived.pages')
    for (const seq of [0, 1, 3, 4, 5]) expect(at(seq, changed)).toBeUndefined()
  })
})

describe('derived records of a large ledger, read without the key (L6)', () => {
  /** More receipts than one block of the chain has, and more leaves than one tile. */
  const UNITS = 1_100
  let written: Store

  beforeAll(async () => {
    const { ledger, store, keys: signing } = await newLedger()
    for (let number = 0; number < UNITS; number += 1) {
      const writes = { [`key-${number % 7}`]: number }
      expect(ledger.append(loneItem({ id: `unit-${number}`, writes })).ok).toBe(true)
    }
    await ledger.close()
    // Derived to the end.
    await (await reopen({ store, keys: signing })).close()
    written = store
  })

  const keysBelow = async (store: Store, part: string) =>
    (await collect(store.entries({ gte: '', lt: '\uffff' })))
      .map(([key]) => key)
      .filter((key) => key.includes(`/${part}/`))

  async function failureAfter(change: (store: Store) => Promise<void>) {
    const store = await copyOf(written)
    await change(store)
    return (await verifyOf({ store })).failure
  }

  /** Puts a body as it is written without a key, or removes the value. */
  async function put(store: Store, key: string, body: Uint8Array | undefined): Promise<void> {
    const puts: [string, Uint8Array][] =
      body === undefined ? [] : [[key, uncheckedForm.wrap(key, body, 0)]]
    await store.commit([{ puts, deletes: body === undefined ? [key] : [] }])
  }

  function flipped(store: Store, key: string): Uint8Array {
    const body = Buffer.from(uncheckedForm.body(key, present(store.get(key))))
    body.writeUInt8(body.readUInt8(body.length - 1) ^ 1, body.length - 1)
    return body
  }

  it('hold as they were written', async () => {
    const store = await copyOf(written)
    expect(readUncheckedWatermark(store, keys)).toMatchObject({ receipts: UNITS })
    expect((await verifyOf({ store })).failure).toBeUndefined()
  })

  it.each([
    ['tile', 'derived.tile', 'the hashes of the log', 'other hashes'],
    ['chain', 'derived.chain', 'the commits of the receipts', 'other commits']
  ])('%s: each value that is altered or lost is named', async (part, field, signed, computed) => {
    const all = await keysBelow(written, part)
    expect(all.length).toBeGreaterThan(1)
    for (const key of all) {
      const altered = await failureAfter((store) => put(store, key, flipped(store, key)))
      expect(altered, key).toMatchObject({ field, signed, computed, key, index: UNITS })
      const lost = await failureAfter((store) => put(store, key, undefined))
      expect(lost, key).toMatchObject({ field, signed, computed: 'absent', key })
    }
  })

  it('runs: one that is lost, one too many, and one that says otherwise', async () => {
    const [first = '', second = ''] = await keysBelow(written, 'run')
    const lost = await failureAfter((store) => put(store, first, undefined))
    expect(lost).toMatchObject({ field: 'derived.runs' })
    const more = await failureAfter(async (store) => {
      const body = uncheckedForm.body(first, present(store.get(first)))
      await put(store, `${first}0`, body)
    })
    expect(more?.field).toMatch(/^(?:derived\.run|store)/)
    const swapped = await failureAfter(async (store) => {
      await put(store, first, uncheckedForm.body(second, present(store.get(second))))
    })
    expect(swapped?.field).toMatch(/^(?:derived\.run|store)/)
  })

  it('index: an entry that leads elsewhere', async () => {
    const all = await keysBelow(written, 'index')
    expect(all.length).toBeGreaterThan(0)
    for (const key of all) {
      const altered = await failureAfter((store) => put(store, key, flipped(store, key)))
      expect(altered?.field, key).toMatch(/^derived\.index$|^store$/)
    }
  })

  it('records: one more of any kind is one too many', async () => {
    for (const part of ['tile', 'chain']) {
      const [key = ''] = await keysBelow(written, part)
      const more = await failureAfter(async (store) => {
        await put(store, `${key}9`, uncheckedForm.body(key, present(store.get(key))))
      })
      expect(more, part).toMatchObject({ field: 'derived.records' })
    }
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalize, type RunId } from '../../../../src/core/index.js'
import { generateIdentity, newKeyFor } from '../../../../src/identity/index.js'
import { unwrapText, wrapValue } from '../../../../src/ledger/envelope.js'
import { ROTATION_ACTION, type Store, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { changeDerived } from '../../../support/derived.js'
import { createLedger, openLedger } from '../../../support/ledgers.js'
import { expectVerifyFailure } from '../../../support/verified-close.js'
import {
  collect,
  commit,
  fixedIdentity,
  ledgerOptions,
  loneItem,
  newLedger,
  reopen,
  unit
} from './support.js'

const { identity } = fixedIdentity()

async function filled(count = 6) {
  const opened = await newLedger()
  for (let n = 0; n < count; n += 1) {
    await commit(opened.ledger, loneItem({ id: `u${n}`, writes: { [`k${n % 3}`]: n } }))
  }
  return opened
}

async function put(store: Store, key: string, value: Uint8Array) {
  await store.commit([{ puts: [[key, value]], deletes: [] }])
}

const commitKey = (seq: number) => `${identity}/commit/${seq.toString(16).padStart(12, '0')}`

async function change(store: Store, key: string, edit: (text: string) => string) {
  const value = store.get(key)
  if (value === undefined) throw new Error(`no ${key}`)
  await put(store, key, wrapValue(key, edit(unwrapText(key, value))))
}

describe('opening a ledger', () => {
  it('L4: never creates by itself, nor twice', async () => {
    const keys = fixedIdentity()
    const store = openMemoryStore()
    await expect(openLedger(ledgerOptions(store, keys))).rejects.toMatchObject({
      code: 'ledger.identity_missing'
    })
    const made = await openLedger({ ...ledgerOptions(store, keys), create: 'if-absent' })
    expect(made.state()).toMatchObject({ mode: 'ready', receipts: 0, epoch: 1 })
    await expect(createLedger(ledgerOptions(store, keys))).rejects.toMatchObject({
      code: 'ledger.identity_exists'
    })
  })

  it.each([
    [
      'a missing commit record',
      'commit.key',
      (store: Store) => store.commit([{ puts: [], deletes: [commitKey(2)] }])
    ],
    [
      'a flipped bit in a commit record',
      'store',
      async (store: Store) => {
        const value = Buffer.from(store.get(commitKey(2)) ?? '')
        value[40] = (value[40] ?? 0) ^ 1
        await put(store, commitKey(2), value)
      }
    ],
    [
      'another payload',
      'receiptHash',
      (store: Store) => change(store, commitKey(3), (text) => text.replace('"10"', '"99"'))
    ],
    [
      'a link to another receipt',
      'previousReceiptHash',
      (store: Store) =>
        change(store, commitKey(3), (text) =>
          text.replace(/"previousReceiptHash":"./, '"previousReceiptHash":"f')
        )
    ],
    [
      'another signature of the last receipt',
      'signature',
      (store: Store) =>
        change(store, commitKey(5), (text) => text.replace(/"signature":".../, '"signature":"fff'))
    ],
    [
      'another storage root in the head',
      'head.storageRoot',
      (store: Store) =>
        change(store, `${identity}/head`, (text) =>
          text.replace(/"storageRoot":".../, '"storageRoot":"fff')
        )
    ],
    [
      'another log root in the head',
      'head.logRoot',
      (store: Store) =>
        change(store, `${identity}/head`, (text) =>
          text.replace(/"logRoot":".../, '"logRoot":"fff')
        )
    ],
    [
      'a record behind the head',
      'head.seq',
      (store: Store) =>
        put(
          store,
          commitKey(6),
          wrapValue(commitKey(6), 'C{"epoch":1,"leaves":6,"receipts":6,"seq":6,"version":1}')
        )
    ]
  ])(
    'L4: %s gives safe mode with its cause: reads work, appends do not',
    async (_name, field, damage) => {
      expectVerifyFailure(field)
      const { store, keys } = await filled()
      await damage(store)
      const ledger = await reopen({ store, keys })
      expect(ledger.state()).toMatchObject({ mode: 'safe', cause: { code: 'ledger.corrupt' } })
      expect(ledger.read('k1')).toBe('4')
      expect(() => ledger.append(loneItem({ id: 'x' }))).toThrow(
        expect.objectContaining({ code: 'ledger.safe_mode' })
      )
      expect((await verifyLedger({ store, identity })).failure?.field).toBe(field)
      await ledger.close()
    }
  )

  it('L4: wrong derived records and missing ones are made again', async () => {
    const opened = await filled()
    await opened.ledger.close()
    const { store } = opened
    const derived = `${identity}/derived`
    const watermark = store.get(derived) ?? Buffer.alloc(0)
    await store.commit([{ puts: [], deletes: [derived] }])
    const again = await reopen(opened)
    expect(again.state().mode).toBe('ready')
    expect((await again.unit('u1' as never))?.index).toBe(1)
    await again.close()
    expect((await verifyLedger({ store, identity })).failure).toBeUndefined()
    await put(store, derived, watermark)
    await changeDerived(store, derived, (text) => text.replace(/"receipts":\d+/, '"receipts":3'))
    const mended = await reopen(opened)
    expect(mended.state().mode).toBe('ready')
    expect((await mended.unit('u1' as never))?.index).toBe(1)
  })

  it('L4: damaged state pages are left aside and the tree is folded again', async () => {
    const opened = await filled()
    await opened.ledger.close()
    const pages = await collect(
      opened.store.entries({ gte: `${identity}/page/`, lt: `${identity}/page0` })
    )
    expect(pages.length).toBeGreaterThan(0)
    const [key] = pages[0] ?? ['']
    await put(opened.store, key, wrapValue(key, Buffer.alloc(64)))
    const again = await reopen(opened)
    expect(again.state().mode).toBe('ready')
    expect(again.roots()).toEqual(opened.ledger.roots())
  })

  it('refuses a newer format instead of guessing', async () => {
    const { store, keys } = await filled(1)
    await change(store, `${identity}/head`, (text) => text.replace('"version":1', '"version":2'))
    await expect(reopen({ store, keys })).rejects.toMatchObject({ code: 'ledger.newer_version' })
  })

  it('L4: any changed byte of a source record ends in safe mode', async () => {
    const { store } = await filled(3)
    const all = await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
    const source = all.filter(([key]) => key.includes('/commit/') || key.endsWith('/head'))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...source),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async ([key, value], at, flip) => {
          const copy = openMemoryStore()
          const changed = Buffer.from(value)
          changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ flip
          await copy.commit([{ puts: all, deletes: [] }])
          await put(copy, key, changed)
          const ledger = await reopen({ store: copy, keys: fixedIdentity() })
          expect(ledger.state().mode).toBe('safe')
        }
      ),
      { numRuns: 100 }
    )
  })

  it('reads only, without taking the epoch, when asked to', async () => {
    const opened = await filled(2)
    const reader = await openLedger({
      ...ledgerOptions(opened.store, opened.keys),
      readOnly: true
    })
    expect(await collect(reader.receipts())).toHaveLength(2)
    expect(() => reader.append(loneItem({ id: 'x' }))).toThrow(
      expect.objectContaining({ code: 'ledger.read_only' })
    )
    await reader.close()
    await commit(opened.ledger, loneItem({ id: 'still-open' }))
  })
})

describe('key rotation', () => {
  const rotationItem = (payloadText: string) => ({
    runId: 'rotation' as RunId,
    entries: [],
    unit: { ...unit({ id: 'rotate-1' }), action: ROTATION_ACTION, payloadText }
  })

  it('hands the identity over: old key signs the receipt, new key everything after', async () => {
    const opened = await filled(2)
    const next = newKeyFor(opened.keys, {
      bytes: (length) => new Uint8Array(length).fill(9),
      uuid: () => ''
    })
    const appended = await opened.ledger.rotate({ signer: next.signer(), item: rotationItem })
    if (!appended.ok) throw new Error('conflict')
    await commit(opened.ledger, loneItem({ id: 'after', writes: { k: 1 } }))
    const keysUsed = (await collect(opened.ledger.receipts())).map(
      ({ receipt }) => receipt.publicKey
    )
    const { publicKey } = opened.keys
    expect(keysUsed).toEqual([publicKey, publicKey, publicKey, next.publicKey])
    const report = await verifyLedger({ store: opened.store, identity })
    expect(report.failure).toBeUndefined()
    await expect(reopen(opened)).rejects.toMatchObject({ code: 'ledger.wrong_signer' })
    const again = await reopen({ store: opened.store, keys: next })
    expect(again.state()).toMatchObject({ mode: 'ready', receipts: 4 })
  })

  it('T1: a chain signed by another key fails at its first receipt', async () => {
    const forger = generateIdentity()
    const { ledger, store } = await newLedger({ keys: forger })
    await commit(ledger, loneItem({ id: 'a' }))
    const all = await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
    const copy = openMemoryStore()
    const puts = all.map(([key, value]) => {
      const moved = key.replace(forger.identity, identity)
      const text = unwrapText(key, value).replaceAll(
        `"identity":"${forger.identity}"`,
        `"identity":"${identity}"`
      )
      return [moved, wrapValue(moved, text)] as const
    })
    await copy.commit([{ puts, deletes: [] }])
    const report = await verifyLedger({ store: copy, identity })
    expect(report.failure).toMatchObject({ index: 0, field: 'publicKey' })
    expect((await reopen({ store: copy, keys: fixedIdentity() })).state().mode).toBe('safe')
  })

  it('refuses a rotation that is appended by hand', async () => {
    const { ledger } = await newLedger()
    expect(() => ledger.append(rotationItem(canonicalize({})))).toThrow(
      expect.objectContaining({ code: 'ledger.invalid_item' })
    )
  })
})

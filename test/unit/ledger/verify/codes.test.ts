import { describe, expect, it } from 'vitest'
import { chainJournal, type Hash, type RunId } from '../../../../src/core/index.js'
import { codesOf, DerivedCodes } from '../../../../src/ledger/derived/codes.js'
import { RUN_COMMITS_IN_BLOCK } from '../../../../src/ledger/derived/run-records.js'
import { unwrapUnchecked, wrapValue } from '../../../../src/ledger/envelope.js'
import { repairLedger, type Store, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { VerificationKey } from '../../../../src/ledger/verify/key.js'
import { withOtherCode } from '../../../support/derived.js'
import { openLedger } from '../../../support/ledgers.js'
import {
  collect,
  commit,
  entry,
  fixedIdentity,
  ledgerOptions,
  loneItem,
  newLedger,
  reopen
} from '../core/support.js'

const keys = fixedIdentity()
const { identity, blobKey } = keys
const key = new VerificationKey(blobKey)
const LONG_RUN = 'long' as RunId
const PICTURE = { runId: LONG_RUN, stretch: 0 }
/** Kinds of records with a code: derived ones, the watermark, and what runs write. */
const kinds = [
  'chain',
  'checkpoint',
  'derived',
  'index',
  'page',
  'picture',
  'run',
  'tile',
  'visits'
]

type Entries = readonly (readonly [key: string, value: Uint8Array])[]

/** A closed ledger with records of every kind. */
async function written(): Promise<Entries> {
  const opened = await newLedger()
  let journalHash = '' as Hash
  for (let n = 0; n < RUN_COMMITS_IN_BLOCK + 9; n += 1) {
    const fields = n === 0 ? { k: 'run.started', status: 'running' } : { k: 'sealed' }
    const text = entry(LONG_RUN, n, fields)
    journalHash = chainJournal(journalHash, text)
    await commit(opened.ledger, { runId: LONG_RUN, entries: [text], journalHash })
    if (n < 9) await commit(opened.ledger, loneItem({ id: `u${n}`, writes: { [`k${n}`]: n } }))
    if (n % 64 === 9) await opened.ledger.logHashes()
  }
  opened.ledger.saveCheckpoint(LONG_RUN, { text: '{}', entries: 1 }, 0)
  opened.ledger.pictures.savePicture(PICTURE, 'of then', 0)
  await opened.ledger.close()
  return collect(opened.store.entries({ gte: '', lt: '\u{10ffff}' }))
}

async function storeOf(entries: Entries): Promise<Store> {
  const store = openMemoryStore()
  await store.commit([{ puts: entries, deletes: [] }])
  return store
}

const kindOf = (storeKey: string) => storeKey.split('/')[1] ?? ''

/** Changes the first record of a kind. */
function changed(
  entries: Entries,
  kind: string,
  change: (storeKey: string, value: Uint8Array) => Uint8Array
): { readonly entries: Entries; readonly where: string } {
  const at = entries.findIndex(([storeKey]) => kindOf(storeKey) === kind)
  const [where, value] = entries[at] ?? ['', new Uint8Array()]
  return { entries: entries.with(at, [where, change(where, value)]), where }
}

const fieldOf = async (store: Store, given: { readonly key?: VerificationKey } = {}) =>
  (await verifyLedger({ store, identity, ...given })).failure

describe('L12: a verification with the key', () => {
  it('finds nothing in the records of every kind that the ledger wrote', async () => {
    const entries = await written()
    const coded = new Set(
      entries.filter(([, value]) => value[0] === 2).map(([name]) => kindOf(name))
    )
    expect([...coded].sort()).toEqual(kinds)
    const report = await verifyLedger({ store: await storeOf(entries), identity, key })
    expect(report.failure).toBeUndefined()
    expect(report.notChecked.join()).not.toContain('blob key')
  })

  it.each(kinds)('names the code of a record of kind %s that is not by the key', async (kind) => {
    const forged = changed(await written(), kind, (name, value) => withOtherCode(value, name))
    const store = await storeOf(forged.entries)
    expect(await fieldOf(store)).toBeUndefined()
    expect(await fieldOf(store, { key })).toMatchObject({
      field: 'derived.code',
      key: forged.where
    })
    // It leads out of it, and opening makes again what is derived.
    expect((await repairLedger({ store, identity, blobKey })).kind).toBe('derived')
    const again = await reopen({ store, keys })
    expect(again.state().mode).toBe('ready')
    await again.close()
    expect(await fieldOf(store, { key })).toBeUndefined()
  })

  it.each(['chain', 'index', 'run', 'tile', 'visits'])(
    'names the set when a record of kind %s is of another time, with the code of then',
    async (kind) => {
      const codes = new DerivedCodes(blobKey)
      const older = changed(await written(), kind, (storeKey, value) =>
        codes.wrap(storeKey, unwrapUnchecked(storeKey, value), 1)
      )
      const store = await storeOf(older.entries)
      expect(await fieldOf(store)).toBeUndefined()
      expect((await fieldOf(store, { key }))?.field).toBe('derived.digest')
    }
  )

  it('asks no codes of the records of a ledger that was written without any', async () => {
    const entries = await written()
    const plain = entries.map(([name, value]): Entries[number] =>
      value[0] === 2 ? [name, wrapValue(name, unwrapUnchecked(name, value))] : [name, value]
    )
    expect(await fieldOf(await storeOf(plain), { key })).toBeUndefined()
  })
})

describe('L12: a verification without the key', () => {
  it('names checkpoints among what it has not checked', async () => {
    const { notChecked } = await verifyLedger({ store: await storeOf(await written()), identity })
    const told = 'checkpoint of 1 run: what authenticates it needs the blob key'
    expect(notChecked).toContain(told)
    expect(notChecked).toContain('1 picture of a run: what authenticates it needs the blob key')
  })
})

describe('L12: a reader', () => {
  const pictureIn = async (entries: Entries, hasKey: boolean) => {
    const { blobKey: _, ...without } = ledgerOptions(await storeOf(entries), keys)
    const options = hasKey ? { ...without, blobKey } : without
    const ledger = await openLedger({ ...options, readOnly: true })
    const picture = ledger.pictures.picture(PICTURE)
    await ledger.close()
    return picture
  }

  it('is given a picture by the key, and none by another, nor any without the key', async () => {
    const entries = await written()
    expect(await pictureIn(entries, true)).toBe('of then')
    expect(await pictureIn(entries, false)).toBeUndefined()
    // What a ledger without its key would take for its own.
    const others = codesOf(undefined)
    const forged = changed(entries, 'picture', (name) => others.wrap(name, 'of another', 1))
    expect(await pictureIn(forged.entries, true)).toBeUndefined()
    expect(await pictureIn(forged.entries, false)).toBeUndefined()
  })
})

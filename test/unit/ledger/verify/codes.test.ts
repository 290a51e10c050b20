import { describe, expect, it } from 'vitest'
import { chainJournal, type Hash, type RunId } from '../../../../src/core/index.js'
import { DerivedCodes } from '../../../../src/ledger/derived/codes.js'
import { RUN_COMMITS_IN_BLOCK } from '../../../../src/ledger/derived/run-records.js'
import { unwrapUnchecked, wrapValue } from '../../../../src/ledger/envelope.js'
import { repairLedger, type Store, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { VerificationKey } from '../../../../src/ledger/verify/key.js'
import { withOtherCode } from '../../../support/derived.js'
import {
  collect,
  commit,
  entry,
  fixedIdentity,
  loneItem,
  newLedger,
  reopen
} from '../core/support.js'

const keys = fixedIdentity()
const { identity, blobKey } = keys
const key = new VerificationKey(blobKey)
const LONG_RUN = 'long' as RunId
/** Kinds of records with a code: derived ones, the watermark, and checkpoints. */
const kinds = ['chain', 'checkpoint', 'derived', 'index', 'page', 'run', 'tile', 'visits']

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
  })
})

import type { RunId, UnitId } from '../../../../src/core/index.js'
import { type Ledger, type Store, verifyLedger } from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import {
  collect,
  commit,
  entry,
  fixedIdentity,
  loneItem,
  newLedger,
  START_AT,
  unit
} from './support.js'

/** A ledger with everything in it: blobs, private bodies, deletes, evidence, sealed bodies. */
export async function fullLedger() {
  const opened = await newLedger()
  const { ledger } = opened
  await commit(ledger, loneItem({ id: 'plain', writes: { a: 1, b: { x: [true, null] } } }))
  await commit(
    ledger,
    loneItem({ id: 'long', result: 'r'.repeat(3000), writes: { a: 'v'.repeat(2000) } })
  )
  await commit(
    ledger,
    loneItem({
      id: 'private',
      payloadPrivate: true,
      resultPrivate: true,
      raw: 'send ten',
      writes: { b: undefined },
      base: ledger.head() ?? 'GENESIS'
    })
  )
  await commit(ledger, await sealedItem(ledger))
  await commit(ledger, {
    runId: 'run-denied' as RunId,
    entries: [entry('run-denied', 0, { k: 'run.started', status: 'running' })],
    evidence: {
      type: 'denial',
      unitId: 'denied' as UnitId,
      action: 'wallet.send',
      payloadText: '{}',
      landed: [],
      code: 'denied',
      details: { why: 'no' },
      at: START_AT
    }
  })
  await commit(ledger, loneItem({ id: 'large', payload: 'p'.repeat(70_000) }))
  return opened
}

async function sealedItem(ledger: Ledger) {
  const id = 'sealed' as UnitId
  const { salt, hash } = ledger.seal(id, 1, '{"price":"7"}')
  const requestHash = hash
  const runId = 'run-sealed' as RunId
  const reference = {
    seq: 1,
    effect: 'network.request',
    requestHash,
    responseHash: hash,
    bytes: 13
  }
  return {
    runId,
    entries: [
      entry(runId, 0, { k: 'run.started', status: 'running' }),
      entry(runId, 1, { k: 'sealed', body: { price: '7' }, salt, responseHash: hash, requestHash })
    ],
    unit: { ...unit({ id, writes: { c: 'seven' } }), sealed: [reference] }
  }
}

/** Verifies what a store holds, without the blob key. */
export const verifyOf = ({ store }: { store: Store }, more = {}) =>
  verifyLedger({ store, identity: fixedIdentity().identity, ...more })

/** Keys of the commit records. */
export const commits = {
  gte: `${fixedIdentity().identity}/commit/`,
  lt: `${fixedIdentity().identity}/commit0`
}

export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('missing')
  return value
}

/** Another store with the same values. */
export async function copyOf(store: Store): Promise<Store> {
  const copy = openMemoryStore()
  const puts = await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))
  await copy.commit([{ puts, deletes: [] }])
  return copy
}

import { describe, expect, it } from 'vitest'
import {
  blockError,
  canonicalize,
  isJsonObject,
  type Json,
  sha256Hex
} from '../../../../src/core/index.js'
import { unwrapText, wrapValue } from '../../../../src/ledger/envelope.js'
import { type Store, storeAround, type VerifiedReceipt } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import type { VerifiedItem } from '../../../../src/ledger/verify/report.js'
import { copyOf, fullLedger, present, verifyOf } from '../core/full-ledger.js'
import { commit, fixedIdentity, loneItem, newLedger, reopen } from '../core/support.js'

const keys = new StoreKeys(fixedIdentity().identity)
/** Of the ledger with everything in it: the commit with evidence, after four receipts. */
const EVIDENCE_COMMIT = 4

/** The same value with some members replaced. */
function withMembers(value: Json, members: { readonly [name: string]: Json }): Json {
  if (!isJsonObject(value)) throw new Error('no object')
  return { ...value, ...members }
}

/** The text of a stored value. */
function textAt(store: Store, key: string): string {
  return unwrapText(key, present(store.get(key)))
}

async function setValue(store: Store, key: string, text: string | undefined): Promise<void> {
  const puts: [string, Uint8Array][] = text === undefined ? [] : [[key, wrapValue(key, text)]]
  await store.commit([{ puts, deletes: text === undefined ? [key] : [] }])
}

/** Rewrites the lines of one commit record that begin with `mark`. */
async function rewrite(
  store: Store,
  seq: number,
  mark: string,
  change: (line: string) => string | undefined
): Promise<void> {
  const key = keys.commit(seq)
  const lines = textAt(store, key).split('\n')
  const changed = lines.flatMap((line) => {
    if (!line.startsWith(mark)) return [line]
    const next = change(line.slice(mark.length))
    return next === undefined ? [] : [mark + next]
  })
  expect(changed).not.toEqual(lines)
  await setValue(store, key, changed.join('\n'))
}

/** Signs a record as its writer does: whoever holds a key can write any of its members. */
async function signedAgain(
  text: string,
  members: { readonly [name: string]: Json },
  hashField: 'evidenceHash' | 'receiptHash',
  fill = 7
): Promise<string> {
  const body: Record<string, Json> = { ...(JSON.parse(text) as Record<string, Json>), ...members }
  delete body['signature']
  delete body[hashField]
  const hash = sha256Hex(canonicalize(body))
  const signature = await fixedIdentity(fill).signer().sign(Buffer.from(hash, 'hex'))
  const signed = { ...body, [hashField]: hash, signature: Buffer.from(signature).toString('hex') }
  return canonicalize(signed)
}

async function closedLedger(): Promise<Store> {
  const { ledger, store } = await fullLedger()
  await ledger.close()
  return copyOf(store)
}

const evidenceOf = (store: Store): string => {
  const lines = textAt(store, keys.commit(EVIDENCE_COMMIT)).split('\n')
  return present(lines.find((line) => line.startsWith('E'))).slice(1)
}

describe('evidence that its writer signed and that is not of this place (P1)', () => {
  const other = fixedIdentity(9)
  const members: Record<string, { readonly [name: string]: Json }> = {
    'evidence.identity': { identity: other.identity },
    'evidence.head.seq': { head: { receiptHash: sha256Hex('another'), seq: 3 } },
    'evidence.version': { version: 2 }
  }
  it.each(Object.entries(members))('%s', async (field, changed) => {
    const store = await closedLedger()
    const text = await signedAgain(evidenceOf(store), changed, 'evidenceHash')
    await rewrite(store, EVIDENCE_COMMIT, 'E', () => text)
    const { failure } = await verifyOf({ store })
    expect(failure).toMatchObject({ field, index: 4, commit: EVIDENCE_COMMIT })
  })

  it('evidence.publicKey: a key that is not in force', async () => {
    const store = await closedLedger()
    const publicKey = other.signer().publicKey
    const text = await signedAgain(evidenceOf(store), { publicKey }, 'evidenceHash', 9)
    await rewrite(store, EVIDENCE_COMMIT, 'E', () => text)
    const { failure } = await verifyOf({ store })
    expect(failure).toMatchObject({ field: 'evidence.publicKey', signed: publicKey })
  })

  it('evidence.head.receiptHash: the number of receipts with the hash of another', async () => {
    const store = await closedLedger()
    const head = { receiptHash: sha256Hex('another'), seq: 4 }
    const text = await signedAgain(evidenceOf(store), { head }, 'evidenceHash')
    await rewrite(store, EVIDENCE_COMMIT, 'E', () => text)
    const { failure } = await verifyOf({ store })
    expect(failure).toMatchObject({ field: 'evidence.head.receiptHash', index: 4 })
  })

  it('evidence.evidenceHash: a hash of other members', async () => {
    const store = await closedLedger()
    const evidence = JSON.parse(evidenceOf(store)) as Json
    const text = canonicalize(withMembers(evidence, { evidenceHash: sha256Hex('other members') }))
    await rewrite(store, EVIDENCE_COMMIT, 'E', () => text)
    const { failure } = await verifyOf({ store })
    expect(failure).toMatchObject({ field: 'evidence.evidenceHash', index: 4 })
  })
})

describe('signatures (P1)', () => {
  it.each([1, 300])('the first bad one is named, with %i more receipts behind it', async (more) => {
    const { ledger, store } = await newLedger()
    for (let number = 0; number < more + 1; number += 1) {
      const appended = ledger.append(loneItem({ id: `unit-${number}` }))
      expect(appended.ok).toBe(true)
    }
    await ledger.close()
    const signature = 'ab'.repeat(64)
    await rewrite(store, 0, 'R', (line) => {
      const receipt = JSON.parse(line) as Json
      const first = isJsonObject(receipt) && receipt['previousReceiptHash'] === null
      return first ? canonicalize(withMembers(receipt, { signature })) : line
    })
    const { failure, ok } = await verifyOf({ store })
    expect(ok).toBe(false)
    const computed = 'a valid signature over the record hash'
    expect(failure).toEqual({
      index: 0,
      commit: 0,
      field: 'signature',
      signed: signature,
      computed
    })
  })

  it('one that is found late stands before what is found behind it', async () => {
    const store = await closedLedger()
    const signature = 'cd'.repeat(64)
    await rewrite(store, 1, 'R', (line) =>
      canonicalize(withMembers(JSON.parse(line) as Json, { signature }))
    )
    await setValue(store, keys.head, undefined)
    expect((await verifyOf({ store })).failure).toMatchObject({ field: 'signature', index: 1 })
    const whole = await closedLedger()
    await rewrite(whole, 1, 'R', (line) =>
      canonicalize(withMembers(JSON.parse(line) as Json, { signature }))
    )
    await rewrite(whole, 3, 'O', () => canonicalize({ ok: false }))
    expect((await verifyOf({ store: whole })).failure).toMatchObject({
      ...{ field: 'signature', index: 1, commit: 1 }
    })
  })
})

describe('the header of a commit record (P1)', () => {
  it.each(['seq', 'receipts', 'leaves'])('commit.%s', async (name) => {
    const store = await closedLedger()
    await rewrite(store, 2, 'C', (line) => {
      const header = JSON.parse(line) as Record<string, number>
      return canonicalize({ ...header, [name]: (header[name] ?? 0) + 1 })
    })
    const { failure } = await verifyOf({ store })
    const place = { index: 2, commit: 2 }
    if (name === 'seq') expect(failure).toMatchObject({ ...place, field: expect.any(String) })
    else expect(failure).toMatchObject({ ...place, field: `commit.${name}` })
  })

  it('commit.key: a record that is gone', async () => {
    const store = await closedLedger()
    await setValue(store, keys.commit(2), undefined)
    const { failure } = await verifyOf({ store })
    const [signed, computed] = [keys.commit(2), keys.commit(3)]
    expect(failure).toMatchObject({ field: 'commit.key', index: 2, commit: 2, signed, computed })
  })
})

describe('journal entries (P1)', () => {
  it('one with another number is found, and its run is named', async () => {
    const store = await closedLedger()
    await rewrite(store, EVIDENCE_COMMIT, 'J', (line) =>
      canonicalize(withMembers(JSON.parse(line) as Json, { n: 1 }))
    )
    const { failure } = await verifyOf({ store })
    expect(failure).toMatchObject({ key: 'run-denied', index: 4, commit: EVIDENCE_COMMIT })
  })

  it('each item is handed to the hook before its receipt, and what the hook finds ends it', async () => {
    const { ledger, store } = await fullLedger()
    const seen: VerifiedItem[] = []
    const receipts: VerifiedReceipt[] = []
    const report = await verifyOf(
      { store },
      {
        onItem: (item: VerifiedItem) => void seen.push(item),
        onReceipt: (receipt: VerifiedReceipt) => {
          expect(seen).toHaveLength(receipts.length < 4 ? receipts.length + 1 : 6)
          receipts.push(receipt)
        }
      }
    )
    expect(report.ok).toBe(true)
    const has = { receipt: [true, true, true, true, false, true] }
    expect(seen.map(({ hasReceipt }) => hasReceipt)).toEqual(has.receipt)
    expect(seen.map(({ evidence }) => evidence !== undefined)).toEqual(
      has.receipt.map((hasReceipt) => !hasReceipt)
    )
    expect(seen.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 4])
    for (const { entries, values } of seen)
      expect(values.map((value) => canonicalize(value))).toEqual(entries)
    const hashes = receipts.map(({ receipt }) => receipt.receiptHash)
    expect(seen.map(({ previousReceiptHash }) => previousReceiptHash)).toEqual([
      ...[null, ...hashes.slice(0, 4), hashes[3]]
    ])
    const found = { field: 'journal.name', signed: 'one', computed: 'other' }
    const failed = await verifyOf(
      { store },
      { onItem: ({ runId }: VerifiedItem) => (runId === 'run-private' ? found : undefined) }
    )
    expect(failed.failure).toEqual({ index: 2, commit: 2, ...found })
    await ledger.close()
  })
})

describe('bodies and changes as hooks see them (P1)', () => {
  it('a change has its text, null where the key was deleted, whether the value is small or large', async () => {
    const { ledger, store } = await fullLedger()
    const seen: unknown[] = []
    await verifyOf(
      { store },
      { onReceipt: ({ changes }: VerifiedReceipt) => void seen.push(changes) }
    )
    expect(seen.slice(0, 4)).toEqual([
      [
        { key: 'a', text: '1' },
        { key: 'b', text: '{"x":[true,null]}' }
      ],
      [{ key: 'a', text: canonicalize('v'.repeat(2000)) }],
      [{ key: 'b', text: null }],
      [{ key: 'c', text: '"seven"' }]
    ])
    await ledger.close()
  })

  it('a change whose value was withheld has no text, and each withheld body is counted', async () => {
    const store = await closedLedger()
    await rewrite(store, 1, 'B', () => undefined)
    const seen: unknown[] = []
    const report = await verifyOf(
      { store },
      { onReceipt: ({ changes }: VerifiedReceipt) => void seen.push(changes) }
    )
    expect(seen[1]).toEqual([{ key: 'a', text: undefined }])
    expect(report.notChecked).toContain('2 bodies withheld')
  })

  it.each([
    ['a private payload, raw text and result', 2, 'B', '3 bodies withheld'],
    ['the body of a sealed response', 3, 'J', '1 bodies withheld'],
    ['a body that is a value of its own', 5, 'L', '1 bodies withheld']
  ])('%s', async (_, seq, mark, said) => {
    const store = await closedLedger()
    if (mark === 'L') {
      const [line] = textAt(store, keys.commit(seq))
        .split('\n')
        .filter((text) => text.startsWith('L'))
      await setValue(store, keys.blob(JSON.parse(present(line).slice(1))), undefined)
    } else if (mark === 'J') {
      await rewrite(store, seq, mark, (line) =>
        line.includes('"k":"sealed"')
          ? canonicalize(withMembers(JSON.parse(line) as Json, { k: 'noted' }))
          : line
      )
    } else await rewrite(store, seq, mark, () => undefined)
    for (const onReceipt of [undefined, () => undefined]) {
      const report = await verifyOf({ store }, onReceipt === undefined ? {} : { onReceipt })
      expect(report.failure).toBeUndefined()
      expect(report.notChecked).toContain(said)
    }
  })
})

describe('the end of a ledger (P1)', () => {
  it('says that a head is missing, and what of one is another', async () => {
    const store = await closedLedger()
    const head = JSON.parse(textAt(store, keys.head)) as Record<string, Json>
    await setValue(store, keys.head, canonicalize({ ...head, receipts: 4 }))
    const { failure } = await verifyOf({ store })
    const place = { index: 5, commit: 6 }
    expect(failure).toEqual({ ...place, field: 'head.receipts', signed: '5', computed: '4' })
    await setValue(store, keys.head, undefined)
    const headless = await verifyOf({ store })
    expect(headless.failure).toEqual({
      ...{ ...place, field: 'head', signed: 'present', computed: 'absent' }
    })
    expect(headless.head).toBeUndefined()
  })

  it('compares where the ledger stood when it was closed last', async () => {
    const store = await closedLedger()
    const receiptHash = sha256Hex('another')
    const kept = { receipts: 5, receiptHash, headRoot: sha256Hex('root') }
    expect((await verifyOf({ store }, { kept })).failure).toMatchObject({
      ...{ field: 'lock.receiptHash', index: 5, commit: 6 }
    })
    expect((await verifyOf({ store }, { kept: null })).failure?.field).toBe('lock')
    expect((await verifyOf({ store }, { kept: undefined })).ok).toBe(true)
  })

  it('compares head and lock with the records of one moment, whatever is committed meanwhile', async () => {
    const { ledger, store } = await newLedger()
    for (const id of ['one', 'two']) await commit(ledger, loneItem({ id }))
    let isBetween = true
    const entries: Store['entries'] = async function* (range) {
      const taken = store.entries(range)
      if (isBetween) {
        isBetween = false
        await commit(ledger, loneItem({ id: 'meanwhile' }))
      }
      yield* taken
    }
    const busy = storeAround(store, { entries })
    const receiptHash = sha256Hex('another')
    const kept = { receipts: 2, receiptHash, headRoot: sha256Hex('root') }
    const { failure, head } = await verifyOf({ store: busy }, { kept })
    expect(head).toMatchObject({ receipts: 2 })
    expect(failure).toMatchObject({ field: 'lock.receiptHash', index: 2 })
    await ledger.close()
  })

  it('names the state entry that is another', async () => {
    const store = await closedLedger()
    const key = keys.state('a')
    await setValue(store, key, '"forged"')
    expect((await verifyOf({ store })).failure).toMatchObject({ index: 5, commit: 6, key: 'a' })
  })
})

describe('notes (P5)', () => {
  it('one of another root is named with its source, and what stands behind it is not checked', async () => {
    const identity = fixedIdentity()
    const one = await newLedger({ keys: identity })
    await commit(one.ledger, loneItem({ id: 'one' }))
    const text = await one.ledger.note()
    await one.ledger.close()
    const two = await newLedger({ keys: identity })
    await commit(two.ledger, loneItem({ id: 'two' }))
    await commit(two.ledger, loneItem({ id: 'three' }))
    const report = await verifyOf(two, { notes: [{ source: 'peer', text }] })
    expect(report.failure).toMatchObject({ field: 'note', key: 'peer', index: 1, commit: 0 })
    expect(report.failure?.signed).toMatch(/^[0-9a-f]{64}$/)
    expect(report.failure?.computed).not.toBe(report.failure?.signed)
    expect(report.notChecked.at(-1)).toBe('everything after the failure')
    expect(report.anchored.notes).toMatchObject([{ source: 'peer', size: 1, ok: false }])
    await two.ledger.close()
  })

  it('says how many records stand behind the last note, and nothing where none does', async () => {
    const { ledger, store } = await fullLedger()
    const text = await ledger.note()
    const notes = [{ source: 'peer', text }]
    const whole = await verifyOf({ store }, { notes })
    expect(whole.anchored).toEqual({
      ...{ upTo: 6, logSize: 6, notes: [{ source: 'peer', size: 6, ok: true }] }
    })
    expect(whole.notChecked.join()).not.toMatch(/after the last note|after the failure/)
    expect(whole).not.toHaveProperty('failure')
    expect(whole).not.toHaveProperty('archived')
    await ledger.close()
    const again = await reopen({ store, keys: fixedIdentity() })
    await commit(again, loneItem({ id: 'later' }))
    await commit(again, loneItem({ id: 'latest' }))
    const later = await verifyOf({ store }, { notes })
    expect(later.notChecked).toContain('2 log records after the last note from outside')
    await again.close()
  })

  it('the largest that binds counts, in whatever order they are given; one by a stranger does not', async () => {
    const { ledger, store } = await newLedger()
    const texts: string[] = []
    for (const id of ['one', 'two', 'three']) {
      await commit(ledger, loneItem({ id }))
      texts.push(await ledger.note())
    }
    const stranger = await newLedger({ keys: fixedIdentity(3) })
    await commit(stranger.ledger, loneItem({ id: 'one' }))
    const strange = await stranger.ledger.note()
    await stranger.ledger.close()
    for (const order of [texts, [...texts].reverse()]) {
      const notes = [...order, strange, 'no note'].map((text, at) => ({ source: `${at}`, text }))
      const report = await verifyOf({ store }, { notes })
      expect(report.ok).toBe(true)
      expect(report.anchored.upTo).toBe(3)
      const binding = report.anchored.notes.filter(({ ok }) => ok)
      expect(binding.map(({ size }) => size)).toEqual([1, 2, 3])
      const others = report.anchored.notes.filter(({ ok }) => !ok)
      expect(others.map(({ source }) => source).sort()).toEqual(['3', '4'])
    }
    await ledger.close()
  })
})

describe('what is thrown on the way', () => {
  it('is a finding where bytes are damaged, and thrown on where they are not', async () => {
    const store = await closedLedger()
    const throwing = (error: unknown) =>
      verifyOf({ store }, { onItem: () => Promise.reject(error) })
    await expect(throwing(new RangeError('out of memory'))).rejects.toThrow(RangeError)
    const left = blockError('run.not_executed', { reason: 'no executor' } as never)
    await expect(throwing(left)).rejects.toBe(left)
    const damaged = await throwing(new SyntaxError('unexpected end'))
    expect(damaged.failure).toEqual({
      ...{ index: 0, commit: 0, field: 'store', signed: 'a readable value' },
      computed: 'unexpected end'
    })
    const value = Buffer.from(present(store.get(keys.commit(3))))
    value.writeUInt8(value.readUInt8(value.length - 9) ^ 1, value.length - 9)
    await store.commit([{ puts: [[keys.commit(3), value]], deletes: [] }])
    const report = await verifyOf({ store })
    expect(report.failure).toMatchObject({ field: 'store', index: 3, key: keys.commit(3) })
    expect(report.failure).toMatchObject({ commit: 3, signed: 'an undamaged value' })
  })
})

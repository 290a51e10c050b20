import { describe, expect, it } from 'vitest'
import { canonicalize, type JsonObject, sha256Hex } from '../../../../src/core/index.js'
import { unwrapText } from '../../../../src/ledger/envelope.js'
import { parseReceipt } from '../../../../src/ledger/receipt/parse.js'
import type { StoredReceiptText } from '../../../../src/ledger/record/record.js'
import { ChainMemory, checkReceipt } from '../../../../src/ledger/verify/receipt-check.js'
import { StateFold } from '../../../../src/ledger/verify/state-fold.js'
import { commit, fixedIdentity, loneItem, newLedger } from '../core/support.js'

/** P1: each member of a receipt that follows from what was before it, forged on its own. */

const { identity } = fixedIdentity()

/** Receipts of a ledger, as they are stored. */
async function receipts(): Promise<readonly StoredReceiptText[]> {
  const { ledger, store } = await newLedger()
  await commit(ledger, loneItem({ id: 'one', writes: { a: 1, b: { x: 2 } } }))
  const base = ledger.head() ?? 'GENESIS'
  await commit(ledger, loneItem({ id: 'two', base, writes: { a: 2, b: undefined } }))
  await ledger.close()
  const found: StoredReceiptText[] = []
  const range = { gte: `${identity}/commit/`, lt: `${identity}/commit0` }
  for await (const [key, value] of store.entries(range)) {
    const lines = unwrapText(key, value).split('\n')
    const at = (kind: string) => lines.find((line) => line.startsWith(kind))?.slice(1)
    const [text, writeSet, result] = [at('R'), at('W'), at('O')]
    if (text !== undefined && writeSet !== undefined && result !== undefined) {
      found.push({ text, writeSet, result })
    }
  }
  return found
}

const stored = await receipts()

class Chain {
  readonly fold = new StateFold(identity)
  readonly memory = new ChainMemory()

  check(one: StoredReceiptText, own = identity) {
    const { fold, memory } = this
    return checkReceipt({ stored: one, identity: own, fold, memory })
  }

  take(one: StoredReceiptText): void {
    const checked = this.check(one)
    if (!checked.ok) throw new Error(checked.problem.field)
    this.memory.remember(checked.receipt.receiptHash)
    this.fold.commit(checked.chainHead, checked.changes)
  }
}

const [first, second] = stored as readonly [StoredReceiptText, StoredReceiptText]

/** A receipt whose other hashes are those of what was changed, as a forger would make them. */
function forged(one: StoredReceiptText, change: (receipt: JsonObject) => object) {
  const receipt = JSON.parse(one.text) as JsonObject
  const changed: Record<string, unknown> = { ...receipt, ...change(receipt) }
  for (const [name, hash] of [
    ['inputHash', 'inputHash'],
    ['receiptHash', 'computedHash']
  ] as const) {
    const parsed = parseReceipt(canonicalize(changed))
    if (!parsed.ok) throw new Error(parsed.problem.field)
    if (changed[name] === receipt[name]) changed[name] = parsed[hash]
  }
  return { ...one, text: canonicalize(changed) }
}

function problemOf(one: StoredReceiptText, isSecond = true) {
  const chain = new Chain()
  if (isSecond) chain.take(first)
  const checked = chain.check(one)
  return checked.ok ? undefined : checked.problem
}

const input = (more: object) => (receipt: JsonObject) => ({
  inputPayload: { ...(receipt['inputPayload'] as JsonObject), ...more }
})
const otherHash = sha256Hex('other')

describe('a receipt', () => {
  it('P1: follows from what was before it', () => {
    expect(stored).toHaveLength(2)
    expect([problemOf(first, false), problemOf(second)]).toEqual([undefined, undefined])
    expect(problemOf(forged(second, () => ({})))).toBeUndefined()
  })

  it.each<[string, (receipt: JsonObject) => object]>([
    ['identity', () => ({ identity: 'b'.repeat(64) })],
    ['publicKey', () => ({ publicKey: 'b'.repeat(64) })],
    ['previousReceiptHash', () => ({ previousReceiptHash: otherHash })],
    ['receiptHash', () => ({ receiptHash: otherHash })],
    ['inputHash', () => ({ inputHash: otherHash })],
    ['resultHash', () => ({ resultHash: otherHash })],
    ['previousStateRoot', () => ({ previousStateRoot: otherHash })],
    ['nextStateRoot', () => ({ nextStateRoot: otherHash })],
    ['inputPayload.seed.base', input({ seed: { base: otherHash, value: otherHash } })],
    [
      'inputPayload.seed.value',
      (one) => input({ seed: { base: 'GENESIS', value: otherHash } })(one)
    ],
    ['inputPayload.id', input({ id: 'one' })],
    ['inputPayload.action', () => ({ intent: 'other' })],
    ['timestamp', () => ({ timestamp: 1 })],
    ['capabilitiesUsed', () => ({ capabilitiesUsed: ['wallet.send'] })]
  ])('P1: with another %s is found by it', (field, change) => {
    const problem = problemOf(forged(second, change))
    expect(problem?.field).toBe(field)
    expect(problem?.signed).not.toBe(problem?.computed)
  })

  it('P1: is of its identity, whoever signs', () => {
    const other = 'c'.repeat(64) as never
    const checked = new Chain().check(first, other)
    expect(checked).toMatchObject({
      ok: false,
      problem: { field: 'identity', signed: identity, computed: other }
    })
  })

  it('P1: is found by text that is no receipt, and by a write set that is none', () => {
    expect(problemOf({ ...second, text: `${second.text} ` })?.field).toBe('text')
    const writeSet = { field: 'writeSet', computed: 'a canonical write set' }
    expect(problemOf({ ...second, writeSet: '{' })).toEqual({ ...writeSet, signed: '{' })
    const long = `[${'x'.repeat(400)}`
    expect(problemOf({ ...second, writeSet: long })).toEqual({
      ...writeSet,
      signed: long.slice(0, 200)
    })
    expect(problemOf({ ...second, result: 'null ' })?.field).toBe('resultHash')
  })

  it('P1: changes what its state has, and says what that was', () => {
    const other = new Chain()
    other.take(first)
    const set = { ...second, writeSet: second.writeSet.replace('"before":1', '"before":7') }
    expect(set.writeSet).not.toBe(second.writeSet)
    const problem = { field: 'writeSet.before', signed: 'another value', computed: '1', key: 'a' }
    expect(other.check(set)).toEqual({ ok: false, problem })
    const changed = { ...second, writeSet: second.writeSet.replace('"after":2', '"after":7') }
    expect(changed.writeSet).not.toBe(second.writeSet)
    expect(problemOf(changed)?.field).toBe('nextStateRoot')
  })

  it('L6: has an id of its own, once it was checked', () => {
    const chain = new Chain()
    chain.take(first)
    expect(chain.memory.isNewUnit('one')).toBe(false)
    expect([chain.memory.isNewUnit('x'), chain.memory.isNewUnit('x')]).toEqual([true, false])
    const { receiptHash } = JSON.parse(first.text)
    expect(
      [receiptHash, otherHash, receiptHash].map((hash) => chain.memory.isReceipt(hash))
    ).toEqual([true, false, true])
    expect([chain.memory.placeOf(receiptHash), chain.memory.placeOf(otherHash as never)]).toEqual([
      0,
      undefined
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { canonicalize, type IdentityId, type RunId, sha256Hex } from '../../../../src/core/index.js'
import { genesisHead, headRootOf } from '../../../../src/ledger/chain/chain-head.js'
import { wrapValue } from '../../../../src/ledger/envelope.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { saltedBlob } from '../../../../src/ledger/receipt/blob.js'
import { checkKept } from '../../../../src/ledger/verify/end-checks.js'
import { CheckedBodies } from '../../../../src/ledger/verify/item-bodies.js'
import { earlier } from '../../../../src/ledger/verify/report.js'
import { RunCheck } from '../../../../src/ledger/verify/run-check.js'

/** P1: journals, bodies and places, each wrong in one way. */

const identity = 'a'.repeat(64) as IdentityId
const runId = 'run-1' as RunId
const salt = sha256Hex('salt')

const entry = (n: number, more: object = {}) =>
  canonicalize({ at: n, k: 'settled', n, run: runId, ...more })
const sealed = (n: number, body: unknown, more: object = {}) => {
  const responseHash = sha256Hex(saltedBlob(canonicalize(body), salt))
  return entry(n, { k: 'sealed', body, salt, responseHash, ...more })
}

describe('the journals of all runs', () => {
  it('P1: have entries in a row, each of its run', () => {
    const check = new RunCheck(identity)
    const add = (text: string, run = runId) => check.add(run, text, undefined)
    expect(add(entry(0, { k: 'run.started' }))).toEqual({ ok: true, kind: 'run.started' })
    expect(add(entry(1))).toEqual({ ok: true, kind: 'settled' })
    const wrong = (field: string, signed: string, computed: string) => ({
      ok: false,
      problem: { field, signed, computed }
    })
    expect(add(entry(1))).toEqual(wrong('journal.n', '1', '2'))
    expect(add(entry(3))).toEqual(wrong('journal.n', '3', '2'))
    expect(add(entry(2, { run: 'run-2' }))).toEqual(wrong('journal.run', 'run-2', 'run-1'))
    expect(add(entry(2))).toMatchObject({ ok: true })
    expect(add(entry(0, { run: 'run-2' }), 'run-2' as RunId)).toMatchObject({ ok: true })
    expect([check.entries, check.runs.size, check.runs.derivedRuns]).toEqual([4, 2, 0])
  })

  it.each([
    ['{"n":0}'],
    [`${entry(0)} `],
    [entry(0, { k: 7 })],
    [entry(0, { run: 7 })],
    [entry(0, { at: 'x' })],
    [entry(0, { at: null })],
    [entry(0, { n: 'x' })],
    [entry(0, { n: 0.5 })],
    [entry(0, { n: null })],
    [`"${'x'.repeat(400)}"`]
  ])('P1: have no entry without what each of them has: %s', (text) => {
    const problem = { field: 'journal', signed: text.slice(0, 200) }
    expect(new RunCheck(identity).add(runId, text, undefined)).toEqual({
      ok: false,
      problem: { ...problem, computed: 'a canonical journal entry' }
    })
  })

  it('P1: have kinds and runs that are escaped', () => {
    const run = 'run "é"\n' as RunId
    const text = entry(0, { k: 'a\\b', run, at: -1 })
    expect(new RunCheck(identity).add(run, text, undefined)).toEqual({ ok: true, kind: 'a\\b' })
  })

  it('P1: have bodies that hash to their names, unless they were erased', () => {
    const check = new RunCheck(identity)
    const text = sealed(0, { paid: 1 })
    expect(check.add(runId, text, undefined)).toMatchObject({ ok: true })
    const hash = sha256Hex(saltedBlob('{"paid":1}', salt))
    expect(check.sealed(hash)).toEqual({ salt, bodyText: '{"paid":1}', entry: text })
    expect(check.sealed(salt)).toBeUndefined()
    const other = sealed(1, { paid: 1 }, { responseHash: salt })
    expect(check.add(runId, other, undefined)).toEqual({
      ok: false,
      problem: { field: 'journal.responseHash', signed: salt, computed: hash }
    })
    const parts = { body: 1, responseHash: salt, salt }
    for (const [at, name] of Object.keys(parts).entries()) {
      const { [name as 'body']: _, ...rest } = parts
      const erased = entry(at + 2, { k: 'sealed', ...rest })
      expect(check.add(runId, erased, undefined)).toMatchObject({ ok: true })
    }
    const plain = entry(5, { k: 'settled', ...parts })
    expect(check.add(runId, plain, undefined)).toMatchObject({ ok: true })
    expect(check.sealed(salt)).toBeUndefined()
  })

  it('P1: keep bodies up to a limit, the last ones', () => {
    const check = new RunCheck(identity)
    const body = (n: number) => `${n}${'x'.repeat(8 * 1024 * 1024)}`
    const texts = [0, 1, 2, 3].map((n) => sealed(n, body(n)))
    for (const text of texts) check.add(runId, text, undefined)
    const kept = [0, 1, 2, 3].map((n) => {
      const hash = sha256Hex(saltedBlob(canonicalize(body(n)), salt))
      return check.sealed(hash) !== undefined
    })
    expect(kept).toEqual([false, true, true, true])
  })

  it('P1: are counted for derived records as far as those go', () => {
    const check = new RunCheck(identity)
    const at = { status: 'running' }
    check.add(runId, entry(0, { k: 'run.started', ...at }), 3)
    check.add(runId, entry(1), 3)
    check.add(runId, entry(2, { k: 'run.waiting', status: 'waiting' }), undefined)
    const before = check.runs.derived(runId)
    expect(before).toMatchObject({ entries: 2, digest: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const other = new RunCheck(identity)
    other.add(runId, entry(0, { k: 'run.started', ...at }), 3)
    other.add(runId, entry(1), 3)
    expect(other.runs.derived(runId)).toEqual(before)
    other.add(runId, entry(2, { k: 'run.waiting', status: 'waiting' }), 4)
    expect(other.runs.derived(runId)?.digest).not.toBe(before?.digest)
  })

  it('K13: have answers that their approvers have signed', () => {
    const answer = entry(0, { k: 'approval', approval: {}, token: 'x' })
    expect(new RunCheck(identity).add(runId, answer, undefined)).toMatchObject({
      ok: false,
      problem: { field: 'journal.token' }
    })
  })
})

describe('the bodies of an item', () => {
  const keys = new StoreKeys(identity)
  const blob = saltedBlob('"é"', salt)
  const hash = sha256Hex(blob)
  const reference = (bytes: number, of = hash) => `{"$blob":"${of}","bytes":${bytes}}`

  function bodies(
    blobs: readonly string[],
    large: readonly string[] = [],
    kept: readonly string[] = []
  ) {
    const values = new Map<string, Uint8Array>()
    for (const one of kept) {
      const key = keys.blob(sha256Hex(one))
      values.set(key, wrapValue(key, one))
    }
    const store = { get: (key: string) => values.get(key) }
    const largeBlobs = large.map((one) => sha256Hex(one))
    return new CheckedBodies(store as never, keys, { blobs, largeBlobs } as never)
  }

  it('P1: are found by their hash, or are the text itself', () => {
    const found = bodies([blob])
    expect([found.resolve('1'), found.resolve(reference(4)), found.problem()]).toEqual([
      '1',
      '"é"',
      undefined
    ])
    expect(found.withheld).toBe(0)
  })

  it('P1: are withheld where they are not there, which is no problem', () => {
    const found = bodies([], ['far'])
    expect([found.resolve(reference(4)), found.resolve(reference(3, sha256Hex('far')))]).toEqual([
      undefined,
      undefined
    ])
    expect([found.withheld, found.problem()]).toEqual([2, undefined])
  })

  it('P1: are read from values of their own where they are large', () => {
    const found = bodies([], ['"far"'], ['"far"'])
    expect(found.resolve(reference(5, sha256Hex('"far"')))).toBe('"far"')
    expect(found.problem()).toBeUndefined()
  })

  it('P1: are found where their length is another, or where no record names them', () => {
    const short = bodies([blob])
    short.resolve(reference(7))
    short.resolve(reference(8))
    expect(short.problem()).toEqual({ field: 'bytes', signed: '7', computed: '4' })
    const computed = 'the hash that a record names'
    expect(bodies([blob]).problem()).toEqual({ field: 'blob', signed: hash, computed })
    const far = sha256Hex('far')
    expect(bodies([], ['far']).problem()).toEqual({ field: 'blob', signed: far, computed })
    expect(bodies([]).problem()).toBeUndefined()
  })

  it('P1: stand in values, where those may refer to one', () => {
    const found = bodies([blob])
    const value = JSON.parse(reference(4))
    expect(found.resolveValue(value, canonicalize)).toBe('"é"')
    expect(found.resolveValue({ a: 1 }, canonicalize)).toBe('{"a":1}')
    found.checkValue({ $blob: 1 })
    found.checkValue([value])
    expect(found.withheld).toBe(0)
    found.checkValue(JSON.parse(reference(4, salt)))
    expect(found.withheld).toBe(1)
    const named = bodies([blob])
    named.checkValue(value)
    expect(named.problem()).toBeUndefined()
  })
})

describe('where a ledger stood when it was closed', () => {
  const receiptHash = sha256Hex('receipt')
  const chainHead = { ...genesisHead(identity), receipts: 2, receiptHash }
  const placeOf = (hash: string) => [salt, receiptHash].indexOf(hash as never)
  const kept = (receipts: number, hash: string | null, headRoot: string = headRootOf(chainHead)) =>
    checkKept({ receipts, receiptHash: hash, headRoot } as never, {
      chainHead,
      placeOf: (one) => (placeOf(one) < 0 ? undefined : placeOf(one))
    })

  it('K10: is where it stands, or somewhere before', () => {
    expect(kept(2, receiptHash)).toBeUndefined()
    expect(kept(1, salt, 'another root')).toBeUndefined()
    expect(kept(0, null, 'another root')).toBeUndefined()
  })

  it('K10: is nowhere else', () => {
    const field = 'lock.receiptHash'
    const computed = 'another receipt'
    expect(kept(3, receiptHash)).toEqual({ field: 'lock.receipts', signed: '3', computed: '2' })
    expect(kept(1, receiptHash)).toEqual({ field, signed: receiptHash, computed })
    expect(kept(2, sha256Hex('x'))).toEqual({ field, signed: sha256Hex('x'), computed })
    expect(kept(2, null)).toEqual({ field, signed: 'null', computed })
    expect(kept(0, sha256Hex('x'))).toMatchObject({ field })
    expect(kept(2, receiptHash, salt)).toMatchObject({ field: 'lock.headRoot', signed: salt })
    const none = { field: 'lock', signed: 'a lock of this ledger', computed: 'another' }
    expect(checkKept(null, { chainHead, placeOf: () => 0 })).toEqual(none)
  })
})

describe('the first of two failures', () => {
  const at = (index: number, commit: number) => ({
    index,
    commit,
    field: '',
    signed: '',
    computed: ''
  })

  it('P1: stands before the other in the chain, or in its record', () => {
    const [one, other] = [at(1, 5), at(2, 4)]
    expect([earlier(one, other), earlier(other, one)]).toEqual([one, one])
    const [first, second] = [at(1, 4), at(1, 5)]
    expect([earlier(first, second), earlier(second, first)]).toEqual([first, first])
    expect([earlier(undefined, one), earlier(one, undefined)]).toEqual([one, one])
    expect(earlier(undefined, undefined)).toBeUndefined()
    const same = at(1, 5)
    expect(earlier(one, same)).toBe(one)
  })
})

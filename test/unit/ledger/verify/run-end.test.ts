import { describe, expect, it } from 'vitest'
import { chainJournal, type Json, sha256Hex } from '../../../../src/core/index.js'
import { BlobSalts } from '../../../../src/ledger/receipt/blob.js'
import { JournalHashes, signedJournal } from '../../../../src/ledger/verify/journal-hashes.js'
import { VerificationKey } from '../../../../src/ledger/verify/key.js'
import { endProblem } from '../../../../src/ledger/verify/run-end.js'

/** L12: the last entry of a run says what its journal and the record beside it say. */

const before = sha256Hex('journal')
const hash = sha256Hex('hash')
const success = { success: true, data: { n: 1 }, metadata: {} }
const failure = {
  success: false,
  data: null,
  reason: 'boom',
  details: { a: 1 },
  errorType: 'Boom',
  metadata: {}
}
const receipt = { hasReceipt: true, resultText: '{"n":1}', evidence: undefined }
const evidenceOf = (details: Json) => ({
  hasReceipt: false,
  resultText: undefined,
  evidence: { code: 'boom', details: JSON.stringify(details) }
})
const evidence = evidenceOf({ a: 1, in_doubt: [] })
const done = { status: 'done', response: success, journalHash: before }
const lost = { status: 'failed', response: failure, journalHash: before }

function found(entry: object, beside: object, isCancelled = false): unknown {
  const problem = endProblem(entry as never, { isCancelled, before }, beside as never)
  return problem && [problem.field.replace('journal.', ''), problem.signed, problem.computed]
}

describe('the last entry of a run', () => {
  it('L12: is as it has to be', () => {
    expect(found(done, receipt)).toBeUndefined()
    expect(found(lost, evidence)).toBeUndefined()
    expect(found({ ...lost, status: 'cancelled' }, evidence, true)).toBeUndefined()
    expect(found(done, receipt, true)).toBeUndefined()
    // What is withheld has nothing to be compared with, nor what an older version left out.
    expect(
      found({ ...done, response: { ...success, data: 2 } }, { ...receipt, resultText: undefined })
    ).toBeUndefined()
    expect(found({ status: 'done' }, receipt)).toBeUndefined()
    expect(found(lost, evidenceOf({ a: 1 }))).toBeUndefined()
  })

  it.each<[string, object, object, readonly string[]]>([
    ['the hash', { ...done, journalHash: hash }, receipt, ['journalHash', before, hash]],
    ['the hash', { ...done, journalHash: 7 }, receipt, ['journalHash', before, '7']],
    ['the status', { ...done, status: 'failed' }, receipt, ['status', 'done', 'failed']],
    ['the status', { ...lost, status: 'done' }, evidence, ['status', 'failed', 'done']],
    ['the status', { ...lost, status: 'cancelled' }, evidence, ['status', 'failed', 'cancelled']],
    ['the response', { ...done, response: 'x' }, receipt, ['response', 'a response', '"x"']],
    [
      'success',
      { ...done, response: { ...success, success: false } },
      receipt,
      ['response.success', 'true', 'false']
    ],
    [
      'success',
      { ...done, response: { data: 1, metadata: {} } },
      receipt,
      ['response.success', 'true', 'null']
    ],
    [
      'success',
      { ...lost, response: { ...failure, success: true } },
      evidence,
      ['response.success', 'false', 'true']
    ],
    [
      'a member',
      { ...done, response: { ...success, more: 1 } },
      receipt,
      ['response', 'data,metadata,success', 'data,metadata,more,success']
    ],
    [
      'a member',
      { ...lost, response: { success: false, data: null, metadata: {} } },
      evidence,
      ['response', 'data,details,errorType,metadata,reason,success', 'data,metadata,success']
    ],
    [
      'the data',
      { ...done, response: { ...success, data: { n: 2 } } },
      receipt,
      ['response.data', '{"n":1}', '{"n":2}']
    ],
    [
      'the data',
      { ...lost, response: { ...failure, data: 1 } },
      evidence,
      ['response.data', 'null', '1']
    ],
    [
      'the reason',
      { ...lost, response: { ...failure, reason: 'other' } },
      evidence,
      ['response.reason', '"boom"', '"other"']
    ],
    [
      'the details',
      { ...lost, response: { ...failure, details: { a: 2 } } },
      evidence,
      ['response.details', '{"a":1}', '{"a":2}']
    ],
    [
      'the details',
      { ...lost, response: { ...failure, details: [1] } },
      evidence,
      ['response.details', '{"a":1}', '[1]']
    ],
    [
      'the evidence',
      lost,
      { ...evidence, evidence: undefined },
      ['response', 'evidence of its end', 'none']
    ]
  ])('L12: is forged in %s: %j', (_, entry, beside, expected) => {
    expect(found(entry, beside)).toEqual(expected)
  })

  it('L12: of a cancelled run says so', () => {
    expect(found(lost, evidence, true)).toEqual(['status', 'cancelled', 'failed'])
  })

  it('L12: is shown with the beginning of what is long', () => {
    const data = 'x'.repeat(500)
    const problem = found({ ...done, response: { ...success, data } }, receipt)
    expect(problem).toEqual(['response.data', '{"n":1}', `"${'x'.repeat(199)}`])
    const other = { ...receipt, resultText: `"${data}"` }
    expect(found(done, other)).toEqual(['response.data', `"${'x'.repeat(199)}`, '{"n":1}'])
  })
})

describe('the journals of runs', () => {
  const blobKey = new Uint8Array(32).fill(7)
  const salts = new BlobSalts(blobKey)
  const place = { commit: 3, index: 4 }
  const item = (runId: string, entries: readonly string[], mac?: string) =>
    ({ runId, entries, mac }) as never
  const chained = (...entries: readonly string[]) =>
    entries.reduce((chain, entry) => chainJournal(chain, entry), '')
  const end = '{"status":"done"}'

  it('L12: have the hash before each line of an item, from the first on', () => {
    const hashes = new JournalHashes(undefined)
    hashes.take(item('one', ['a', 'b']), ['run.started', 'settled'], place)
    hashes.take(item('two', ['x']), ['run.started'], place)
    const lines = hashes.take(item('one', ['c', end]), ['settled', 'run.finished'], place)
    const [first, second] = [chained('a', 'b'), chained('a', 'b', 'c')] as never[]
    expect([first, second].map((signed) => lines.problem(signed as never))).toEqual([
      undefined,
      undefined
    ])
    expect(lines.problem(undefined)).toBeUndefined()
    const field = 'journalHash'
    expect(lines.problem(hash)).toEqual({ field, signed: hash, computed: second })
    const none = hashes.take(item('three', []), [], place)
    expect(none.problem(hash)).toEqual({ field, signed: hash, computed: 'no journal' })
    // What has ended begins anew.
    const again = hashes.take(item('one', ['a', end]), ['run.started', 'run.finished'], place)
    expect(again.problem(chained('a') as never)).toBeUndefined()
  })

  it('L12: sign nothing of a run that has not ended', () => {
    const lines = new JournalHashes(undefined).take(item('one', ['a', 'b']), ['x', 'y'], place)
    const problem = { field: 'journal.k', signed: 'run.finished', computed: 'no end of the run' }
    expect(lines.problem(chained('a') as never)).toEqual(problem)
    expect(lines.endProblem(receipt as never)).toBeUndefined()
  })

  it('L12: are compared with the end of their run, and whether it was cancelled', () => {
    const ended = (text: string, isCancelled = false) => {
      const hashes = new JournalHashes(undefined)
      const first = isCancelled ? 'cancel' : 'settled'
      hashes.take(item('one', ['a']), [first], place)
      return hashes.take(item('one', [text]), ['run.finished'], place).endProblem(evidence)
    }
    const entry = (status: string) => JSON.stringify({ status, journalHash: chained('a') })
    expect([ended(entry('failed')), ended(entry('cancelled'), true)]).toEqual([
      undefined,
      undefined
    ])
    expect(ended(entry('failed'), true)).toMatchObject({ field: 'journal.status' })
    expect(ended(JSON.stringify({ ...lost, journalHash: hash }))).toMatchObject({
      field: 'journal.journalHash',
      signed: chained('a'),
      computed: hash
    })
  })

  it('L12: of open runs are not authenticated without the key, and it is said', () => {
    const hashes = new JournalHashes(undefined)
    expect(hashes.notChecked()).toEqual([])
    const needs = 'what authenticates it needs the blob key'
    hashes.take(item('one', ['a']), ['run.started'], place)
    expect(hashes.notChecked()).toEqual([`journal of 1 open run: ${needs}`])
    hashes.take(item('two', ['a']), ['run.started'], place)
    expect(hashes.notChecked()).toEqual([`journals of 2 open runs: ${needs}`])
    hashes.take(item('one', [end]), ['run.finished'], place)
    hashes.take(item('two', [end]), ['run.finished'], place)
    expect([hashes.notChecked(), hashes.forged]).toEqual([[], undefined])
    const known = new JournalHashes(new VerificationKey(blobKey))
    known.take(item('one', ['a'], 'x'), ['run.started'], place)
    expect(known.notChecked()).toEqual([])
  })

  it('L12: are forged where their code is another, until their run has ended', () => {
    const hashes = new JournalHashes(new VerificationKey(blobKey))
    const mac = salts.authenticate(chained('a') as never)
    hashes.take(item('one', ['a'], mac), ['run.started'], place)
    hashes.take(item('empty', []), [], place)
    expect(hashes.forged).toBeUndefined()
    hashes.take(item('two', ['a']), ['run.started'], place)
    const forged = { ...place, field: 'journal.code', computed: 'another code' }
    expect(hashes.forged).toEqual({ ...forged, signed: 'none', key: 'two' })
    hashes.take(item('two', ['b'], hash), ['settled'], { commit: 9, index: 9 })
    hashes.take(item('three', ['b'], hash), ['settled'], place)
    expect(hashes.forged).toEqual({ ...forged, signed: 'none', key: 'two' })
    hashes.passed()
    expect(hashes.forged?.key).toBe('two')
    hashes.take(item('two', [end], hash), ['run.finished'], place)
    expect(hashes.forged?.key).toBe('two')
    hashes.passed()
    expect(hashes.forged).toEqual({ ...forged, signed: hash, key: 'three' })
    hashes.take(item('three', ['c'], hash), ['settled'], place)
    hashes.passed()
    expect(hashes.forged?.key).toBe('three')
  })

  it('L6: are signed by the receipt of their run, and by none that looks like it', () => {
    const run = { path: 'root', step: 0 }
    const input = { action: 'run.completed', run, payload: { journalHash: hash } }
    const signed = (more: object) => signedJournal({ inputPayload: { ...input, ...more } } as never)
    expect(signed({})).toBe(hash)
    expect(signed({ action: 'pay' })).toBeUndefined()
    expect(signed({ run: undefined })).toBeUndefined()
    expect(signed({ run: { ...run, path: 'root/a' } })).toBeUndefined()
    expect(signed({ run: { ...run, step: 1 } })).toBeUndefined()
    expect(signed({ payload: { journalHash: 'x' } })).toBeUndefined()
  })
})

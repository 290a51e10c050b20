import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../src/block/index.js'
import { type SignedTransaction, unfinishedIn } from '../../../src/executor/index.js'

const transaction: SignedTransaction = {
  chain: 'eip155:1',
  from: '0xme',
  hash: '0xa',
  nonce: 4,
  validUntil: null,
  raw: '0x02'
}

function entry(fields: object): JournalEntry {
  return { path: 'root/send', step: 1, attempt: 1, ...fields } as unknown as JournalEntry
}

const prepared = (hash = '0xa') =>
  entry({
    k: 'sealed',
    effect: 'chain.prepare',
    ok: true,
    body: { kind: 'signed', transaction: { ...transaction, hash } }
  })
const requested = entry({ k: 'requested', effect: 'chain.broadcast' })
const accepted = entry({ k: 'sealed', effect: 'chain.broadcast', ok: true, body: {} })
const refused = (definite: boolean) =>
  entry({ k: 'sealed', effect: 'chain.broadcast', ok: false, body: { definite } })
const unsigned = entry({
  k: 'sealed',
  effect: 'chain.prepare',
  ok: true,
  body: { kind: 'unsigned', transaction: {} }
})

function sent(...entries: readonly JournalEntry[]): readonly (readonly [string, boolean])[] {
  return unfinishedIn(entries).map((one) => [one.transaction.hash, one.wasSent])
}

describe('transactions in the journal of a run that has not ended', () => {
  it('W11: were perhaps sent as soon as sending them was asked for', () => {
    expect(sent(prepared())).toEqual([['0xa', false]])
    expect(sent(prepared(), requested)).toEqual([['0xa', true]])
    expect(sent(prepared(), requested, accepted)).toEqual([['0xa', true]])
    expect(sent(prepared(), requested, refused(false))).toEqual([['0xa', true]])
    expect(sent(prepared(), requested, refused(true))).toEqual([['0xa', false]])
    expect(sent(unsigned, requested)).toEqual([])
  })

  it('W11: stay sent when a retry seals again what it keeps', () => {
    expect(sent(prepared(), requested, accepted, prepared(), accepted)).toEqual([['0xa', true]])
    expect(sent(prepared(), requested, accepted, prepared())).toEqual([['0xa', true]])
    // A refused one that is sent again by the next try.
    const again = [prepared(), requested, refused(true), prepared(), requested]
    expect(sent(...again)).toEqual([['0xa', true]])
  })

  it('are told apart by their step, and by their generation', () => {
    const other = { ...prepared('0xb'), path: 'root/other' } as JournalEntry
    expect(sent(prepared(), other, requested)).toEqual([
      ['0xa', true],
      ['0xb', false]
    ])
    expect(sent(prepared(), requested, refused(true), prepared('0xc'), requested)).toEqual([
      ['0xa', false],
      ['0xc', true]
    ])
  })
})

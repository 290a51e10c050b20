import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../src/block/index.js'
import {
  lookFor,
  type SignedTransaction,
  transactionsIn,
  unfinishedIn
} from '../../../src/executor/index.js'

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

describe('confirmed transactions in the journal of a run', () => {
  const looked = (blockNumber: number, outputs: object = {}) => {
    const block = { blockNumber, blockHash: `0xb${blockNumber}` }
    const body = { status: 'included', success: true, ...block, outputs }
    return entry({ k: 'sealed', effect: 'chain.look', ok: true, body })
  }
  const unknown = entry({
    k: 'sealed',
    effect: 'chain.look',
    ok: true,
    body: { status: 'unknown' }
  })
  const settled = (success: boolean) => entry({ k: 'settled', response: { success } })
  const confirmed = (...entries: readonly JournalEntry[]) =>
    transactionsIn(entries).confirmed.map(({ hash, blockNumber, transaction: bytes }) => [
      hash,
      blockNumber,
      bytes?.hash ?? null
    ])

  it('are those of nodes that have succeeded, in the block that was seen last', () => {
    expect(confirmed(prepared(), accepted, looked(3), settled(true))).toEqual([['0xa', 3, '0xa']])
    const moved = [prepared(), looked(3), unknown, looked(4), settled(true)]
    expect(confirmed(...moved)).toEqual([['0xa', 4, '0xa']])
    expect(confirmed(prepared(), looked(3))).toEqual([])
    expect(confirmed(prepared(), looked(3), settled(false))).toEqual([])
    expect(confirmed(prepared(), unknown, settled(true))).toEqual([])
    const retried = [prepared(), looked(3), settled(false), prepared(), looked(5), settled(true)]
    expect(confirmed(...retried)).toEqual([['0xa', 5, '0xa']])
  })

  it('are told apart by their hash, and a wallet has the bytes of its own', () => {
    const both = [
      prepared(),
      prepared('0xb'),
      looked(3, { tx_hash: '0xa' }),
      looked(4, { tx_hash: '0xb' }),
      settled(true)
    ]
    expect(confirmed(...both)).toEqual([
      ['0xa', 3, '0xa'],
      ['0xb', 4, '0xb']
    ])
    const body = { kind: 'unsigned', transaction: { chain: 'eip155:1', from: null } }
    const asked = entry({ k: 'sealed', effect: 'chain.prepare', ok: true, body })
    const signed = [asked, looked(7, { tx_hash: '0xw' }), settled(true)]
    const [wallet] = transactionsIn(signed).confirmed
    expect(wallet).toMatchObject({ hash: '0xw', chain: 'eip155:1', from: null, transaction: null })
    expect(wallet && lookFor(wallet)).toMatchObject({ hash: '0xw', from: null, nonce: null })
  })
})

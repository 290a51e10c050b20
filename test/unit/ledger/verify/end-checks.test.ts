import { describe, expect, it } from 'vitest'
import { type Hash, type IdentityId, sha256Hex } from '../../../../src/core/index.js'
import { advance, type ChainHead, headRootOf } from '../../../../src/ledger/chain/chain-head.js'
import { wrapValue } from '../../../../src/ledger/envelope.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { growTiles, LogFrontier, leafHash } from '../../../../src/ledger/log/index.js'
import type { Head } from '../../../../src/ledger/record/head.js'
import { hashValue } from '../../../../src/ledger/state/index.js'
import {
  checkHead,
  checkKept,
  checkStateEntries
} from '../../../../src/ledger/verify/end-checks.js'
import { StateFold } from '../../../../src/ledger/verify/state-fold.js'
import { TileCheck } from '../../../../src/ledger/verify/tile-check.js'

const identity = sha256Hex('identity') as unknown as IdentityId
const keys = new StoreKeys(identity)
const hash = (number: number): Hash => sha256Hex(`receipt ${number}`)
const created = (key: string, text: string) => ({
  ...{ key, text, after: text, valueHash: hashValue(text) },
  ...{ before: undefined, beforeHash: undefined }
})

/** A fold after two receipts that have set two keys. */
function folded(): StateFold {
  const fold = new StateFold(identity)
  for (const [number, change] of [created('a', '1'), created('b', '2')].entries()) {
    const next = fold.next([change], fold.chainHead.publicKey)
    fold.commit(advance(fold.chainHead, next, hash(number)), [change])
  }
  return fold
}

function headOf(chainHead: ChainHead, frontier: LogFrontier, commits: number): Head {
  const { receipts, receiptHash } = chainHead
  return {
    ...{ epoch: 1, seq: commits, receipts, receiptHash, headRoot: headRootOf(chainHead) as never },
    ...{ storageRoot: chainHead.tree.root() as never, logSize: frontier.size },
    logRoot: frontier.root()
  }
}

describe('a stored head', () => {
  const { chainHead } = folded()
  const frontier = LogFrontier.empty.append(leafHash('one'))
  const chain = { chainHead, frontier, commits: 3 }
  const head = headOf(chainHead, frontier, 3)

  it('that is what the records give has no problem', () => {
    expect(checkHead(head, chain)).toBeUndefined()
  })

  it.each([
    ['seq', 4],
    ['receipts', 3],
    ['receiptHash', hash(7)],
    ['receiptHash', null],
    ['storageRoot', hash(7)],
    ['headRoot', hash(7)],
    ['logSize', 2],
    ['logRoot', hash(7)]
  ] as const)('with another %s is reported by that field alone: %j', (field, value) => {
    const found = checkHead({ ...head, [field]: value }, chain)
    expect(found?.field).toBe(`head.${field}`)
  })
})

describe('a place that a lock has kept (K10)', () => {
  const { chainHead } = folded()
  const placeOf = (one: Hash) => [hash(0), hash(1)].indexOf(one)
  const known = (one: Hash) => (placeOf(one) < 0 ? undefined : placeOf(one))
  const chain = { chainHead, placeOf: known }
  const last = { receipts: 2, receiptHash: hash(1), headRoot: headRootOf(chainHead) as never }

  it('is one of the chain: its end, a place before it, and the beginning', () => {
    expect(checkKept(last, chain)).toBeUndefined()
    const before = { receipts: 1, receiptHash: hash(0), headRoot: hash(9) as never }
    expect(checkKept(before, chain)).toBeUndefined()
    const first = { receipts: 0, receiptHash: null, headRoot: hash(9) as never }
    expect(checkKept(first, chain)).toBeUndefined()
  })

  it.each([
    ['lock', null],
    ['lock.receipts', { ...last, receipts: 3 }],
    ['lock.receiptHash', { ...last, receiptHash: hash(0) }],
    ['lock.receiptHash', { ...last, receiptHash: hash(5) }],
    ['lock.receiptHash', { ...last, receiptHash: null }],
    ['lock.receiptHash', { ...last, receipts: 1 }],
    ['lock.receiptHash', { ...last, receipts: 0 }],
    ['lock.headRoot', { ...last, headRoot: hash(9) as never }]
  ] as const)('that is none is reported by its field: %s, %j', (field, kept) => {
    expect(checkKept(kept, chain)?.field).toBe(field)
  })
})

describe('stored state entries', () => {
  const store = async (entries: Readonly<Record<string, string>>) => {
    const made = openMemoryStore()
    const puts = Object.entries(entries).map(([key, text]): [string, Uint8Array] => {
      const place = keys.state(key)
      return [place, wrapValue(place, text)]
    })
    await made.commit([{ puts, deletes: [] }])
    return made
  }

  it('that are the folded ones have no problem', async () => {
    const checked = await checkStateEntries(await store({ a: '1', b: '2' }), keys, folded())
    expect(checked).toEqual({ entries: 2 })
  })

  it.each([
    [
      { a: '1', b: '3' },
      { signed: '2', computed: '3', key: 'b' }
    ],
    [
      { a: '1', b: '2', c: '3' },
      { signed: 'absent', computed: '3', key: 'c' }
    ],
    [{ b: '2' }, { signed: '1', computed: 'absent', key: 'a' }],
    [{ a: '1' }, { signed: '2', computed: 'absent', key: 'b' }]
  ])('that are others are told by the first key: %j', async (entries, problem) => {
    const { problem: found } = await checkStateEntries(await store(entries), keys, folded())
    expect(found).toEqual({ field: 'state', ...problem })
  })
})

describe('folded state', () => {
  it('has its keys by prefix, in order, and what they hold', () => {
    const fold = folded()
    expect([fold.size, fold.has('a'), fold.has('c'), fold.read('b')]).toEqual([2, true, false, '2'])
    expect(fold.list('')).toEqual(['a', 'b'])
    expect(fold.list('b')).toEqual(['b'])
  })

  it('tells the change whose value before is another, and forgets what was deleted', () => {
    const fold = folded()
    const changed = { ...created('a', '5'), before: '1' }
    expect(fold.wrongBefore([changed])).toBeUndefined()
    expect(fold.wrongBefore([{ ...changed, before: '2' }])?.key).toBe('a')
    expect(fold.wrongBefore([{ ...changed, before: undefined }])?.key).toBe('a')
    expect(fold.wrongBefore([created('new', '5')])).toBeUndefined()
    const hashed = { ...created('new', '5'), beforeHash: hashValue('4') }
    expect(fold.wrongBefore([hashed])?.key).toBe('new')
    fold.commit(fold.chainHead, [{ key: 'a', text: null }])
    expect([fold.has('a'), fold.size]).toEqual([false, 1])
  })

  it('knows of a value that was withheld its hash alone', () => {
    const fold = new StateFold(identity)
    const secret = { ...created('a', '1'), text: undefined }
    const next = fold.next([secret], fold.chainHead.publicKey)
    fold.commit(advance(fold.chainHead, next, hash(0)), [secret])
    expect([fold.has('a'), fold.read('a')]).toEqual([true, undefined])
    const again = { ...created('a', '2'), beforeHash: hashValue('1') }
    expect(fold.wrongBefore([again])).toBeUndefined()
    expect(fold.wrongBefore([{ ...again, beforeHash: hashValue('9') }])?.key).toBe('a')
  })
})

describe('stored tiles of a log', () => {
  const leaves = Array.from({ length: 300 }, (_, number) => leafHash(`leaf ${number}`))
  const stored = new Map<string, Uint8Array>()
  for (const tile of growTiles({ size: 0, leaves, readTile: () => undefined })) {
    stored.set(keys.tile(`${tile.level}/${tile.index}`), tile.bytes)
  }
  const checked = (read: (key: string) => Uint8Array | undefined) => {
    const check = new TileCheck(keys, read)
    for (const leaf of leaves) check.add(leaf)
    return { problem: check.finish(), tiles: check.tiles }
  }

  it('that are those of its leaves have no problem', () => {
    const read = (key: string) => stored.get(key)
    expect(checked(read)).toEqual({ problem: undefined, tiles: stored.size })
    expect(stored.size).toBe(3)
  })

  it.each([...stored.keys()])('tell the one that is absent or another: %s', (bad) => {
    const without = checked((key) => (key === bad ? undefined : stored.get(key)))
    const named = { field: 'derived.tile', key: bad }
    expect(without.problem).toMatchObject({ ...named, computed: 'absent' })
    const other = Buffer.from(stored.get(bad) ?? [])
    other[0] = (other[0] ?? 0) ^ 1
    const altered = checked((key) => (key === bad ? other : stored.get(key)))
    expect(altered.problem).toMatchObject({ ...named, computed: 'other hashes' })
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chainJournal,
  type Hash,
  limits,
  type RunId,
  sha256Hex,
  type UnitId
} from '../../../../src/core/index.js'
import { IndexRuns, unitIndexKey } from '../../../../src/ledger/derived/index-runs.js'
import { uncheckedForm } from '../../../../src/ledger/derived/record-form.js'
import { RUN_COMMITS_IN_BLOCK } from '../../../../src/ledger/derived/run-records.js'
import { type Ledger, type Store, storeAround, verifyLedger } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { inclusionProof, leafHash, verifyInclusion } from '../../../../src/ledger/log/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { cases } from '../../../support/effort.js'
import { collect, commit, entry, fixedIdentity, loneItem, newLedger, reopen } from './support.js'

const { identity } = fixedIdentity()

describe('derived index', () => {
  it('L5: finds every entry after any sequence of additions, in O(log n) runs of small pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 12 }),
        async (sizes) => {
          const store = openMemoryStore()
          const index = new IndexRuns({
            store,
            pageKey: (run, page) => new StoreKeys(identity).indexPage(run, page),
            form: uncheckedForm,
            runs: []
          })
          let next = 0
          for (const size of sizes) {
            const entries = Array.from({ length: size }, (_, at) => ({
              key: unitIndexKey(`unit-${next + at}` as UnitId),
              commitSeq: next + at,
              ordinal: at % 5
            }))
            next += size
            const { runs, puts, deletes } = await index.add(entries, 0)
            await store.commit([{ puts, deletes }])
            index.adopt(runs)
          }
          for (let at = 0; at < next; at += 7) {
            const found = index.find(unitIndexKey(`unit-${at}` as UnitId))
            expect(found.map(({ commitSeq }) => commitSeq)).toEqual([at])
          }
          expect(index.find(unitIndexKey('nobody' as UnitId))).toEqual([])
          expect(index.runs.length).toBeLessThanOrEqual(2 + Math.log2(next))
          for (const [, value] of await collect(store.entries({ gte: '', lt: '\u{10ffff}' }))) {
            expect(value.length).toBeLessThan(32 * 1024)
          }
        }
      ),
      // Many small ones are more than the runs that there may be.
      { numRuns: cases({ usual: 3, long: 8 }), examples: [[Array.from({ length: 40 }, () => 1)]] }
    )
  })

  it('L4: opening reads the record of an open run once, and what is written later is read anew', async () => {
    const opened = await newLedger()
    const runIds = ['one', 'two', 'three'] as RunId[]
    const hashes = new Map<RunId, Hash>()
    const write = async (ledger: Ledger, n: number, k: string) => {
      for (const runId of runIds) {
        const text = entry(runId, n, { k, status: 'running' })
        const journalHash = chainJournal(hashes.get(runId) ?? '', text)
        hashes.set(runId, journalHash)
        await commit(ledger, { runId, entries: [text], journalHash })
      }
    }
    await write(opened.ledger, 0, 'run.started')
    await commit(opened.ledger, loneItem({ id: 'ended' }))
    await opened.ledger.close()
    const { gte, lt } = new StoreKeys(identity).runs()
    const asked: string[] = []
    const get = (key: string) => {
      if (gte <= key && key < lt) asked.push(key)
      return opened.store.get(key)
    }
    const store: Store = storeAround(opened.store, { get })
    const ledger = await reopen({ ...opened, store })
    expect(await ledger.forgedJournal()).toBeUndefined()
    expect(asked).toEqual([])
    await write(ledger, 1, 'sealed')
    await ledger.close()
    const again = await reopen({ ...opened, store })
    await write(again, 2, 'sealed')
    await again.logHashes()
    asked.length = 0
    expect(await again.forgedJournal()).toBeUndefined()
    expect(asked).toHaveLength(runIds.length)
    for (const runId of runIds) {
      expect((await collect(again.journal(runId))).map(({ n }) => n)).toEqual([0, 1, 2])
    }
    await again.close()
  })

  it('L5: a long run keeps its journal findable in blocks, from any entry', async () => {
    const opened = await newLedger()
    const { ledger } = opened
    const runId = 'long' as RunId
    const count = RUN_COMMITS_IN_BLOCK * 2 + 50
    for (let n = 0; n < count; n += 1) {
      const k = n === 0 ? 'run.started' : 'sealed'
      const appended = ledger.append({
        runId,
        entries: [entry(runId, n, n === 0 ? { k, status: 'running' } : { k })]
      })
      if (appended.ok) await ledger.durable(appended.position)
      if (n % 100 === 0) await ledger.logHashes()
    }
    for (const from of [0, 1, 255, 256, 300, count - 1, count]) {
      const found = (await collect(ledger.journal(runId, from))).map(({ n }) => n)
      expect(found).toEqual(Array.from({ length: count - from }, (_, at) => from + at))
    }
    await ledger.close()
    const again = await reopen(opened)
    expect(again.run(runId)).toMatchObject({ entries: count, status: 'running' })
    expect(await collect(again.journal(runId, count - 3))).toHaveLength(3)
    expect((await verifyLedger({ store: opened.store, identity })).failure).toBeUndefined()
  })

  it('derives behind by itself, and log proofs come out of the tiles', async () => {
    const opened = await newLedger()
    const { ledger } = opened
    const count = limits.DERIVE_RECEIPTS + 300
    let last = 0
    for (let n = 0; n < count; n += 1) {
      const appended = ledger.append(loneItem({ id: `u${n}`, writes: { [`k${n % 50}`]: n } }))
      if (appended.ok) last = appended.position
    }
    await ledger.durable(last)
    const { size, readHash } = await ledger.logHashes()
    expect(size).toBe(count)
    const stored = await ledger.receipt(4_100)
    const [record] = await collect(ledger.log({ from: 4_100, to: 4_101 }))
    expect(record).toMatchObject({ kind: 'receipt', leaf: 4_100, text: stored?.text })
    const head = (await verifyLedger({ store: opened.store, identity })).head
    expect(
      verifyInclusion({
        index: 4_100,
        size,
        leaf: leafHash(stored?.text ?? ''),
        proof: inclusionProof(4_100, size, readHash),
        root: head?.logRoot as Hash
      })
    ).toBe(true)
    for (const n of [0, 1_023, 1_024, 4_095, 4_096, count - 1]) {
      const found = await ledger.receipt(n)
      expect(found?.receipt.inputPayload.id).toBe(`u${n}`)
      expect((await ledger.unit(`u${n}` as UnitId))?.index).toBe(n)
      expect((await ledger.receipt(found?.receipt.receiptHash ?? sha256Hex('')))?.index).toBe(n)
    }
    const some = await collect(ledger.receipts({ from: 4_000, to: 4_010 }))
    expect(some.map(({ index }) => index)).toEqual(
      Array.from({ length: 10 }, (_, at) => 4_000 + at)
    )
    await commit(ledger, loneItem({ id: 'more' }))
    await ledger.close()
    const again = await reopen(opened)
    expect(again.state()).toMatchObject({ mode: 'ready', receipts: count + 1 })
    expect(await collect(again.runs())).toHaveLength(count + 1)
  }, 60_000)
})

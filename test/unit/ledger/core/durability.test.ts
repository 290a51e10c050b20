import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunId } from '../../../../src/core/index.js'
import { limits } from '../../../../src/core/index.js'
import { unwrapValue } from '../../../../src/ledger/envelope.js'
import {
  type Store,
  type StoreItem,
  storeAround,
  verifyLedger
} from '../../../../src/ledger/index.js'
import { openMemoryStore } from '../../../../src/ledger/stores/memory.js'
import { openLedger } from '../../../support/ledgers.js'
import {
  collect,
  commit,
  entry,
  fixedIdentity,
  ledgerOptions,
  loneItem,
  newLedger,
  reopen
} from './support.js'

/** A store that lets a test look at each commit, or fail it. */
function watchedStore(
  options: {
    readonly onCommit?: (items: readonly StoreItem[], count: number) => void | Promise<void>
  } = {}
): Store & { readonly commits: (readonly StoreItem[])[] } {
  const store = openMemoryStore()
  const commits: (readonly StoreItem[])[] = []
  const commit: Store['commit'] = async (items) => {
    commits.push(items)
    await options.onCommit?.(items, commits.length)
    return store.commit(items)
  }
  return { commits, ...storeAround(store, { commit }) }
}

const isSource = (items: readonly StoreItem[]) =>
  items.some(({ puts }) => puts.some(([key]) => key.includes('/commit/')))

describe('ledger durability', () => {
  it('says of each commit how long its record is, without the envelope', async () => {
    const store = watchedStore()
    const { ledger } = await newLedger({ store })
    const told: (number | undefined)[] = []
    ledger.onCommit(({ written }) => told.push(written?.bytes))
    const before = store.commits.length
    await commit(ledger, loneItem({ id: 'a', writes: { x: 'é€🙂' } }))
    await commit(ledger, loneItem({ id: 'b' }))
    const records = store.commits.slice(before).flatMap((items) => {
      const puts = items.flatMap((item) => item.puts)
      return puts.flatMap(([key, value]) =>
        key.includes('/commit/') ? [unwrapValue(key, value)] : []
      )
    })
    expect(told).toEqual(records.map(({ length }) => length))
    expect(told).toHaveLength(2)
    await ledger.close()
  })

  it('L1: one commit puts at most 3 values and one for each changed key', async () => {
    const store = watchedStore()
    const { ledger } = await newLedger({ store })
    const before = store.commits.length
    await commit(ledger, loneItem({ id: 'a', writes: { x: 1, y: 2 } }))
    await commit(ledger, loneItem({ id: 'b' }))
    const appended = [
      ledger.append(loneItem({ id: 'c', writes: { x: 3 } })),
      ledger.append(loneItem({ id: 'd', writes: { x: 4, y: undefined } }))
    ]
    const last = appended.at(-1)
    if (last?.ok) await ledger.durable(last.position)
    const commits = store.commits.slice(before)
    expect(commits.every((items) => items.length === 1 && isSource(items))).toBe(true)
    const counts = commits.map(([item]) => [item?.puts.length, item?.deletes.length])
    expect(counts).toEqual([
      [4, 0],
      [2, 0],
      [3, 1]
    ])
  })

  it('L1: commits that come while one is under way share the next, in order', async () => {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let waited = false
    const store = watchedStore({
      onCommit: async (items) => {
        if (!isSource(items) || waited) return
        waited = true
        await gate
      }
    })
    const { ledger } = await newLedger({ store })
    const first = commit(ledger, loneItem({ id: 'first' }))
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const order: number[] = []
    const later = Array.from({ length: 50 }, (_, n) =>
      commit(ledger, loneItem({ id: `later-${n}`, writes: { k: n } })).then(() => order.push(n))
    )
    release()
    await Promise.all([first, ...later])
    expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n))
    expect(store.commits.filter(isSource)).toHaveLength(2)
    const ids = (await collect(ledger.receipts())).map(({ receipt }) => receipt.inputPayload.id)
    expect(ids).toEqual(['first', ...Array.from({ length: 50 }, (_, n) => `later-${n}`)])
  })

  it('D2: nothing is written before a caller waits or enough is ready', async () => {
    const store = watchedStore()
    const { ledger } = await newLedger({ store })
    const before = store.commits.length
    const item = { runId: 'r' as RunId, entries: [] }
    for (let n = 0; n < limits.FLUSH_READY_ITEMS - 1; n += 1) ledger.append(item)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(store.commits.length).toBe(before)
    expect(ledger.backlog().items).toBe(limits.FLUSH_READY_ITEMS - 1)
    const last = ledger.append(item)
    if (last.ok) await ledger.durable(last.position)
    expect(store.commits.length).toBe(before + 1)
    expect(ledger.backlog()).toEqual({ items: 0, bytes: 0 })
  })

  it('L1: what hears of commits gets each once, in order, when its records are found', async () => {
    const { ledger } = await newLedger({ store: openMemoryStore() })
    const heard: unknown[] = []
    const stop = ledger.onCommit(({ seq, items }) => {
      const found = items.map(({ runId }) => ledger.run(runId, { durable: true })?.entries ?? 0)
      heard.push({ seq, runs: items.map(({ runId }) => runId), found })
    })
    await commit(ledger, loneItem({ id: 'a' }))
    await commit(ledger, loneItem({ id: 'b' }))
    stop()
    await commit(ledger, loneItem({ id: 'c' }))
    const [one, other] = heard as { readonly seq: number }[]
    expect(heard).toMatchObject([
      { runs: ['run-a'], found: [2] },
      { runs: ['run-b'], found: [2] }
    ])
    expect(other?.seq).toBe((one?.seq ?? 0) + 1)
    await ledger.close()
  })

  it('L2: a writer that was opened before another is fenced off', async () => {
    const opened = await newLedger()
    await commit(opened.ledger, loneItem({ id: 'a' }))
    const second = await reopen(opened)
    expect(second.state().epoch).toBe(opened.ledger.state().epoch + 1)
    await expect(commit(opened.ledger, loneItem({ id: 'b' }))).rejects.toMatchObject({
      code: 'ledger.poisoned',
      cause: { code: 'ledger.fenced' }
    })
    await commit(second, loneItem({ id: 'c' }))
    expect(
      (await collect(second.receipts())).map(({ receipt }) => receipt.inputPayload.id)
    ).toEqual(['a', 'c'])
  })

  it('L3: a failed write poisons the ledger: pending and later calls fail, reopening works', async () => {
    let broken = false
    const store = watchedStore({
      onCommit: () => {
        if (broken) throw new Error('no space left on device')
      }
    })
    const opened = await newLedger({ store })
    await commit(opened.ledger, loneItem({ id: 'kept' }))
    broken = true
    const pending = [
      commit(opened.ledger, loneItem({ id: 'lost-1' })),
      commit(opened.ledger, loneItem({ id: 'lost-2' }))
    ]
    for (const wait of pending) {
      await expect(wait).rejects.toMatchObject({ code: 'ledger.poisoned' })
    }
    expect(() => opened.ledger.append(loneItem({ id: 'more' }))).toThrow(
      expect.objectContaining({ code: 'ledger.poisoned' })
    )
    await expect(opened.ledger.durable(1)).rejects.toMatchObject({ code: 'ledger.poisoned' })
    expect(opened.ledger.state()).toMatchObject({
      mode: 'poisoned',
      cause: { message: 'no space left on device' }
    })
    broken = false
    const again = await reopen(opened)
    expect(again.state()).toMatchObject({ mode: 'ready', receipts: 1 })
  })

  it('L3: a signer that fails poisons the ledger, for the queue cannot skip a receipt', async () => {
    const { store, keys } = await newLedger()
    const signer = {
      publicKey: keys.publicKey,
      sign: () => Promise.reject(new Error('the key service is down'))
    }
    const ledger = await openLedger({ ...ledgerOptions(store, keys), signer })
    await expect(commit(ledger, loneItem({ id: 'a' }))).rejects.toMatchObject({
      code: 'ledger.poisoned'
    })
  })

  it('L6: a unit id gets one receipt', async () => {
    const { ledger } = await newLedger()
    ledger.append(loneItem({ id: 'once' }))
    expect(() => ledger.append(loneItem({ id: 'once' }))).toThrow(
      expect.objectContaining({ code: 'ledger.unit_exists' })
    )
    expect(await ledger.hasUnit('once' as never)).toBe(true)
    expect(await ledger.hasUnit('never' as never)).toBe(false)
  })

  it('L1: whatever was derived when it crashed, it reopens to the same answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }),
        fc.nat(8),
        async (steps, crashAfter) => {
          let derivedWrites = -1_000
          let crashed = false
          const store = watchedStore({
            onCommit: (items) => {
              if (isSource(items)) return
              derivedWrites += 1
              if (derivedWrites > crashAfter + 1) crashed = true
              if (crashed) throw new Error('crash')
            }
          })
          const opened = await newLedger({ store })
          derivedWrites = 0
          let { ledger } = opened
          let n = 0
          for (const step of steps) {
            if (step === 3) {
              await ledger.logHashes().catch(() => undefined)
              if (crashed) {
                crashed = false
                derivedWrites = -1_000
                ledger = await reopen(opened)
              }
            }
            await commit(ledger, loneItem({ id: `u${n}`, writes: { [`k${step}`]: n } }))
            n += 1
          }
          const answers = async (from: typeof ledger) => ({
            receipts: (await collect(from.receipts())).map(({ text }) => text),
            byUnit: (await from.unit(`u${n - 1}` as never))?.index,
            byIndex: (await from.receipt(Math.floor(n / 2)))?.receipt.inputPayload.id,
            runs: await collect(from.runs()),
            journal: await collect(from.journal(`run-u${n - 1}` as RunId)),
            roots: from.roots()
          })
          const expected = await answers(ledger)
          derivedWrites = -1_000
          const again = await reopen(opened)
          expect(await answers(again)).toEqual(expected)
          expect((await verifyLedger({ store, identity: fixedIdentity().identity })).failure).toBe(
            undefined
          )
        }
      ),
      { numRuns: 40 }
    )
  }, 60_000)

  it('keeps checkpoints once their position is durable, the newest of a run', async () => {
    const opened = await newLedger()
    const runId = 'flow' as RunId
    const first = opened.ledger.append({
      runId,
      entries: [entry(runId, 0, { k: 'run.started', status: 'running' })]
    })
    if (!first.ok) throw new Error('conflict')
    opened.ledger.saveCheckpoint(runId, { text: '{"a":1}', entries: 1 }, first.position)
    opened.ledger.saveCheckpoint(runId, { text: '{"a":\n2}', entries: 1 }, first.position)
    expect(opened.ledger.checkpoint(runId)?.text).toBe('{"a":\n2}')
    await opened.ledger.close()
    const again = await reopen(opened)
    expect(again.checkpoint(runId)).toEqual({ text: '{"a":\n2}', entries: 1 })
    again.saveCheckpoint(runId, null, 0)
    await again.close()
    expect((await reopen(opened)).checkpoint(runId)).toBeUndefined()
  })
})

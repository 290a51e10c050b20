import { describe, expect, it } from 'vitest'
import type { RunId, UnitId } from '../../../../src/core/index.js'
import { collect, commit, entry, loneItem, newLedger, reopen } from './support.js'

describe('ledger: append and read', () => {
  it('L1: keeps order, and gives everything back by place, hash and unit', async () => {
    const { ledger } = await newLedger()
    const hashes = []
    for (let n = 0; n < 5; n += 1) {
      hashes.push(await commit(ledger, loneItem({ id: `u${n}`, writes: { [`k${n}`]: n } })))
    }
    const receipts = await collect(ledger.receipts())
    expect(receipts.map(({ receipt }) => receipt.receiptHash)).toEqual(hashes)
    expect(receipts.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4])
    expect((await ledger.receipt(3))?.receipt.receiptHash).toBe(hashes[3])
    expect((await ledger.unit('u2' as UnitId))?.index).toBe(2)
    expect(await ledger.unit('nobody' as UnitId)).toBeUndefined()
    expect(ledger.read('k4')).toBe('4')
    expect(ledger.state().mode).toBe('ready')
  })

  it('reopens to the same head, state, runs and journal', async () => {
    const opened = await newLedger()
    const { ledger } = opened
    for (let n = 0; n < 20; n += 1) {
      await commit(ledger, loneItem({ id: `u${n}`, writes: { [`k${n % 7}`]: n } }))
    }
    const before = {
      head: ledger.head(),
      roots: ledger.roots(),
      receipts: await collect(ledger.receipts()),
      runs: await collect(ledger.runs()),
      journal: await collect(ledger.journal('run-u3' as RunId))
    }
    for (const clean of [false, true]) {
      if (clean) await ledger.close()
      const again = await reopen(opened)
      expect(again.state().mode).toBe('ready')
      expect({
        head: again.head(),
        roots: again.roots(),
        receipts: await collect(again.receipts()),
        runs: await collect(again.runs()),
        journal: await collect(again.journal('run-u3' as RunId))
      }).toEqual(before)
      expect(await collect(again.stateEntries())).toHaveLength(7)
      if (!clean) continue
      await commit(again, loneItem({ id: 'later', writes: { k0: 'x' } }))
      expect(again.state().receipts).toBe(21)
    }
  })

  it('L10: refuses a unit whose read or listed prefix changed, queued changes included', async () => {
    const { ledger } = await newLedger()
    await commit(ledger, loneItem({ id: 'a', writes: { 'x/1': 1 } }))
    expect(await ledger.list('x/')).toEqual(['x/1'])
    ledger.append(loneItem({ id: 'b', writes: { 'x/2': 2 } }))
    expect(ledger.append(loneItem({ id: 'c', reads: { 'x/2': undefined } }))).toEqual({
      ok: false,
      conflict: 'x/2'
    })
    expect(ledger.append(loneItem({ id: 'd', lists: { 'x/': ['x/1'] } }))).toEqual({
      ok: false,
      conflict: 'x/'
    })
    expect(await ledger.list('x/')).toEqual(['x/1', 'x/2'])
    const appended = ledger.append(
      loneItem({ id: 'e', reads: { 'x/2': 2 }, lists: { 'x/': ['x/1', 'x/2'] } })
    )
    expect(appended.ok).toBe(true)
  })

  it('folds run entries into a record, queued ones included', async () => {
    const { ledger } = await newLedger()
    const runId = 'flow-1' as RunId
    ledger.append({ runId, entries: [entry(runId, 0, { k: 'run.started', status: 'running' })] })
    expect(ledger.run(runId)).toMatchObject({ status: 'running', entries: 1 })
    const appended = ledger.append({
      runId,
      entries: [
        entry(runId, 1, { k: 'sealed', body: 1 }),
        entry(runId, 2, { k: 'run.waiting', status: 'waiting', waits: [] })
      ]
    })
    expect(ledger.run(runId)).toMatchObject({ status: 'waiting', entries: 3 })
    if (appended.ok) await ledger.durable(appended.position)
    expect(ledger.run(runId)).toMatchObject({ status: 'waiting', entries: 3 })
    expect((await collect(ledger.journal(runId, 1))).map(({ n }) => n)).toEqual([1, 2])
  })
})

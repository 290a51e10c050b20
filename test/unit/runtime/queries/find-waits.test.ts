import { describe, expect, it } from 'vitest'
import { limits, type RunId } from '../../../../src/core/index.js'
import type { Ledger } from '../../../../src/ledger/index.js'
import { WaitBeginnings } from '../../../../src/runtime/queries/find-waits.js'

describe('Q1: when the waits of a run began', () => {
  const read: RunId[] = []
  const journal = async function* (runId: RunId) {
    read.push(runId)
    yield { value: { k: 'wait', token: `of ${runId}`, at: 7 } }
    yield { value: { k: 'sealed', body: '"k":"wait"', token: 'none', at: 8 } }
  }
  const ledger = { journal } as unknown as Pick<Ledger, 'journal'>
  const [a, b] = ['a' as RunId, 'b' as RunId]

  it('is read once for as many entries as the run has', async () => {
    const beginnings = new WaitBeginnings(ledger)
    for (const entries of [3, 3, 4, 4]) {
      expect([...(await beginnings.of({ runId: a, entries }))]).toEqual([['of a', 7]])
    }
    expect([...(await beginnings.of({ runId: b, entries: 3 }))]).toEqual([['of b', 7]])
    expect(read.splice(0)).toEqual([a, a, b])
  })

  it('is forgotten of those that were asked for longest ago', async () => {
    const beginnings = new WaitBeginnings(ledger)
    await beginnings.of({ runId: a, entries: 1 })
    await beginnings.of({ runId: b, entries: 1 })
    await beginnings.of({ runId: a, entries: 1 })
    for (let more = 1; more < limits.CACHE_ENTRIES_MAX; more += 1) {
      await beginnings.of({ runId: `run-${more}` as RunId, entries: 1 })
    }
    read.splice(0)
    await beginnings.of({ runId: a, entries: 1 })
    await beginnings.of({ runId: b, entries: 1 })
    expect(read.splice(0)).toEqual([b])
  })
})

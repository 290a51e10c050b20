import { describe, expect, it } from 'vitest'
import type { RunId } from '../../../../src/core/index.js'
import type { Ledger, RunRecord } from '../../../../src/ledger/index.js'
import { RunIndex } from '../../../../src/runtime/queries/run-index.js'

const ids = Array.from({ length: 200 }, (_, at) => `run-${at}` as RunId)
const recordOf = (runId: RunId) =>
  ({
    runId,
    status: 'done',
    started: { name: 'one', at: ids.indexOf(runId) },
    last: {}
  }) as unknown as RunRecord

type Listener = Parameters<Ledger['onCommit']>[0]

/** A ledger that cannot read some of its records. */
class DamagedLedger {
  readonly unread = new Set<RunId>()
  #moved: Listener = () => undefined

  onCommit(listener: Listener): () => void {
    this.#moved = listener
    return () => undefined
  }

  move(runId: RunId): void {
    this.#moved({ items: [{ runId }] } as unknown as Parameters<Listener>[0])
  }

  run(runId: RunId): RunRecord {
    if (this.unread.has(runId)) throw new Error(`${runId} cannot be read`)
    return recordOf(runId)
  }

  async *runs(): AsyncGenerator<RunRecord> {
    for (const id of ids) yield this.run(id)
  }
}

describe('Q1: the index of runs', () => {
  it('has all runs in order once what could not be read is read', async () => {
    const ledger = new DamagedLedger()
    const index = new RunIndex(ledger as unknown as ConstructorParameters<typeof RunIndex>[0])
    const listed = () => [...index.oldest(undefined)].map(({ id }) => id)
    for (const unread of [ids[150], ids[3]] as const) {
      ledger.unread.add(unread as RunId)
      await expect(index.refresh()).rejects.toThrow('cannot be read')
      ledger.unread.clear()
    }
    await index.refresh()
    expect([listed(), index.counts.get('done')]).toEqual([ids, ids.length])
    const late = 'late' as RunId
    ledger.move(late)
    ledger.unread.add(late)
    await expect(index.refresh()).rejects.toThrow('cannot be read')
    ledger.unread.clear()
    await index.refresh()
    expect([...listed()].sort()).toEqual([...ids, late].sort())
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainJournal, type Hash, type RunId } from '../../../../src/core/index.js'
import type { Ledger, Store } from '../../../../src/ledger/index.js'
import { StoreKeys } from '../../../../src/ledger/keys.js'
import { cases } from '../../../support/effort.js'
import { collect, commit, entry, fixedIdentity, loneItem, newLedger, reopen } from './support.js'

const { identity } = fixedIdentity()
const names = ['a', 'b', 'schedule:c', 'schedule:d'] as const

/** What happens to a ledger: a run begins or goes on, it ends, or the ledger is opened again. */
const happening = fc.oneof(
  fc.record({
    run: fc.constantFrom(...names),
    kind: fc.constantFrom('goes on', 'ends'),
    isAwaited: fc.boolean()
  }),
  fc.constant('reopened' as const)
)

describe('runs that have not ended', () => {
  it('are those of all runs that are open, whatever is queued, durable, derived or read again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 1, maxLength: 24, size: 'max' }),
        async (happenings) => {
          const opened = await newLedger()
          let { ledger } = opened
          const runs = new Map<RunId, { entries: number; hash: Hash | ''; isOver: boolean }>()
          for (const happens of happenings) {
            if (happens === 'reopened') {
              await ledger.close()
              ledger = await reopen(opened)
            } else {
              const runId = happens.run as RunId
              const run = runs.get(runId) ?? { entries: 0, hash: '' as const, isOver: false }
              if (run.isOver) continue
              const isOver = happens.kind === 'ends' && run.entries > 0
              const k = run.entries === 0 ? 'run.started' : isOver ? 'run.finished' : 'sealed'
              // Without a receipt, which these runs have none of, a run has failed.
              const status = isOver ? 'failed' : 'running'
              const text = entry(runId, run.entries, { k, status })
              const hash = chainJournal(run.hash, text)
              runs.set(runId, { entries: run.entries + 1, hash, isOver })
              const item = { runId, entries: [text], journalHash: hash }
              if (happens.isAwaited) await commit(ledger, item)
              else ledger.append(item)
            }
            await compare(ledger)
          }
          const open = [...runs].filter(([, { isOver }]) => !isOver).map(([runId]) => runId)
          expect(Array.from(ledger.openRuns(), ({ runId }) => runId)).toEqual(open.sort())
          await ledger.close()
        }
      ),
      { numRuns: cases({ usual: 20, long: 60 }) }
    )
  })

  it('are found without reading what is stored of those that have', async () => {
    const opened = await newLedger()
    for (let n = 0; n < 20; n += 1) await commit(opened.ledger, loneItem({ id: `ended-${n}` }))
    const runId = 'open' as RunId
    const text = entry(runId, 0, { k: 'run.started', status: 'running' })
    await commit(opened.ledger, { runId, entries: [text], journalHash: chainJournal('', text) })
    await opened.ledger.close()
    const { gte, lt } = new StoreKeys(identity).runs()
    const asked: string[] = []
    const store: Store = {
      get: (key) => {
        if (gte <= key && key < lt) asked.push(key.slice(gte.length))
        return opened.store.get(key)
      },
      entries: (range) => opened.store.entries(range),
      commit: (items) => opened.store.commit(items),
      compact: () => opened.store.compact(),
      close: () => opened.store.close()
    }
    const ledger = await reopen({ ...opened, store })
    expect(Array.from(ledger.openRuns(), (run) => run.runId)).toEqual([runId])
    expect(asked).toEqual([runId])
    await ledger.close()
  })
})

/** What is read of open runs alone, and by a prefix, is what reading all gives, and which are. */
async function compare(ledger: Ledger): Promise<void> {
  const ids = names as readonly string[] as readonly RunId[]
  const known = ids.filter((id) => ledger.run(id) !== undefined)
  expect(ids.filter((id) => ledger.hasRun(id))).toEqual(known)
  for (const durable of [false, true]) {
    const all = await collect(ledger.runs({ durable }))
    const open = all.filter(({ status }) => status === 'running' || status === 'waiting')
    expect([...ledger.openRuns({ durable })]).toEqual(open)
    const prefix = 'schedule:'
    const some = all.filter(({ runId }) => runId.startsWith(prefix))
    expect(await collect(ledger.runs({ durable, prefix }))).toEqual(some)
  }
}

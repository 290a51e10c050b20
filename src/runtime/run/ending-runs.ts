import { type EndedWithoutCode, EndingWithoutCode, type RecordedEntry } from '../../block/index.js'
import { isTallyError, type Json } from '../../core/index.js'
import { isEnded } from './ended.js'
import type { RunEntry } from './run-entry.js'
import type { RunStore } from './run-store.js'

/**
 * Whether what keeps a run from being cancelled by its own code lies in that code: it is not here,
 * is another one, does not compile, or throws. What lies in the ledger stays an error.
 */
export function isOfCode(error: unknown): boolean {
  if (!isTallyError(error)) return true
  const { code } = error
  return !/^(ledger|store|owner|runtime|service|core)\./.test(code) && !ofTheLedger.has(code)
}

const ofTheLedger: ReadonlySet<string> = new Set(['run.not_found', 'run.journal_forged'])

/** Ends a run that has not ended, from its journal alone (K10). */
export async function cancelWithoutCode(
  store: RunStore,
  entry: RunEntry,
  given: { readonly reason: string; readonly by: Json }
): Promise<void> {
  await entry.live?.over
  await entry.resuming?.catch(() => undefined)
  // Nothing may resume the run meanwhile.
  const ending = endOf(store, entry, given)
  const isOver = ending.then(
    () => undefined,
    () => undefined
  )
  entry.resuming = isOver.finally(() => {
    entry.resuming = undefined
  })
  const ended = await ending
  if (ended === undefined) return
  const { runId } = entry
  const { ledger } = store.parts
  const { response, position } = ended
  ledger.saveCheckpoint(runId, null, position)
  await ledger.durable(position)
  entry.callOffDue?.()
  store.settle(entry, { result: { id: runId, status: 'cancelled', response } })
}

/** Appends the end of a run that nothing drives; undefined when it has ended already. */
async function endOf(
  store: RunStore,
  entry: RunEntry,
  { reason, by }: { readonly reason: string; readonly by: Json }
): Promise<EndedWithoutCode | undefined> {
  const { runId } = entry
  const { ledger } = store.parts
  // The journal is read from the disk, and an end that is on its way is not there yet.
  await ledger.logHashes()
  const ending = new EndingWithoutCode(runId, store.hostOf(entry))
  for await (const { text, value, receiptHash, mac } of ledger.journal(runId)) {
    // The journal gives back what the pump has written.
    const recorded = value as unknown as RecordedEntry['entry']
    ending.take({ entry: recorded, text, receiptHash, mac })
  }
  const record = ledger.run(runId)
  if (record !== undefined && isEnded(record)) return undefined
  return ending.end(reason, by)
}

import {
  type EndedWithoutCode,
  EndingWithoutCode,
  type PumpHost,
  type RecordedEntry
} from '../block/index.js'
import { canonicalizeLedgerValue, isTallyError, type Json, type RunId } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { isEnded } from './ended.js'
import type { Known, Settled } from './known.js'
import type { Mail } from './mail.js'
import type { Quarantine } from './quarantine.js'

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

/** What cancelling a run needs of the runs. */
export interface CancelPort {
  readonly ledger: Ledger
  readonly quarantine: Pick<Quarantine, 'holds'>
  readonly runs: {
    readonly mail: Pick<Mail, 'cancel'>
    attach(runId: RunId, how?: { readonly isShown: boolean }): Promise<Known>
  }
  hostOf(known: Known): PumpHost
  settle(known: Known, how: Settled): void
}

/**
 * Ends a run, whatever has become of its code: by its code, or from its journal alone where that is
 * not here, cannot go on, or is not to (K10). Throws what lies in the ledger.
 */
export async function cancelAnyway(
  runId: RunId,
  { reason, by }: { readonly reason: string; readonly by: Json },
  port: CancelPort
): Promise<void> {
  canonicalizeLedgerValue([reason, by])
  if (!port.quarantine.holds(runId)) {
    try {
      return await port.runs.mail.cancel(runId, reason, by)
    } catch (error) {
      if (!isOfCode(error)) throw error
    }
  }
  const known = await port.runs.attach(runId, { isShown: false })
  await known.live?.over
  await known.resuming?.catch(() => undefined)
  // Nothing may take the run up meanwhile.
  const ending = endWithoutCode(runId, { port, known, reason, by })
  const isOver = ending.then(
    () => undefined,
    () => undefined
  )
  known.resuming = isOver.finally(() => {
    known.resuming = undefined
  })
  const ended = await ending
  if (ended === undefined) return
  const { response, position } = ended
  port.ledger.saveCheckpoint(runId, null, position)
  await port.ledger.durable(position)
  known.callOffDue?.()
  port.settle(known, { result: { id: runId, status: 'cancelled', response } })
}

/** Appends the end of a run that nothing drives; undefined when it has ended already. */
async function endWithoutCode(
  runId: RunId,
  given: {
    readonly port: CancelPort
    readonly known: Known
    readonly reason: string
    readonly by: Json
  }
): Promise<EndedWithoutCode | undefined> {
  const { port, known, reason, by } = given
  const { ledger } = port
  // The journal is read from the disk, and an end that is on its way is not there yet.
  await ledger.logHashes()
  const ending = new EndingWithoutCode(runId, port.hostOf(known))
  for await (const { text, value, receiptHash, mac } of ledger.journal(runId)) {
    // The journal gives back what the pump has written.
    const entry = value as unknown as RecordedEntry['entry']
    ending.take({ entry, text, receiptHash, mac })
  }
  const record = ledger.run(runId)
  if (record !== undefined && isEnded(record)) return undefined
  return ending.end(reason, by)
}

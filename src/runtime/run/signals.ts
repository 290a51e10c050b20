import {
  hashOfSignal,
  type JournalEntry,
  type SentSignal,
  type SignalOutcome
} from '../../block/index.js'
import {
  bytesOver,
  canonicalizeLedgerValue,
  coreError,
  type Json,
  limits,
  type RunId,
  runtimeError
} from '../../core/index.js'
import type { RunDriver } from './run-driver.js'

/**
 * Signals to runs wherever they are: live, parked, or moving between the two (W10, B3). One to a
 * run that has ended is judged by its journal.
 */
export async function sendSignal(
  driver: RunDriver,
  runId: RunId,
  given: SentSignal
): Promise<SignalOutcome> {
  const signal = copyOf(given)
  return driver.followed<SignalOutcome>(runId, {
    ask: ({ inbox }) => inbox.signal(signal),
    ended: () => earlierOutcome(driver, runId, signal)
  })
}

/** A signal of its own; refuses what a journal cannot keep. */
function copyOf({ name, id, value, by }: SentSignal): SentSignal {
  checkText('name', name, limits.SIGNAL_NAME_LENGTH_MAX)
  checkText('id', id, limits.COMMAND_ID_LENGTH_MAX)
  const text = canonicalizeLedgerValue(value)
  const actual = bytesOver(text, limits.SIGNAL_BYTES_MAX)
  if (actual !== undefined) {
    const limit = limits.SIGNAL_BYTES_MAX
    throw coreError('core.limit_exceeded', { what: 'A signal in bytes', actual, limit })
  }
  canonicalizeLedgerValue([name, id, by])
  return { name, id, value: JSON.parse(text) as Json, by }
}

function checkText(what: 'id' | 'name', text: string, limit: number): void {
  const actual = text.length
  if (actual === 0) throw runtimeError('run.invalid_signal', { problem: `its ${what} is empty` })
  if (actual <= limit) return
  const named = `The length of the ${what} of a signal`
  throw coreError('core.limit_exceeded', { what: named, actual, limit })
}

async function earlierOutcome(
  { store }: RunDriver,
  runId: RunId,
  signal: SentSignal
): Promise<SignalOutcome> {
  const { ledger } = store.parts
  // An archive has its signals: whether this one was among them is not looked up.
  if (ledger.archiving.errorOf(runId) !== undefined) return { accepted: false, reason: 'run_ended' }
  for await (const { value } of ledger.journal(runId)) {
    // The journal gives back what the pump has written.
    const entry = value as unknown as JournalEntry
    if (entry.k !== 'signal' || entry.id !== signal.id) continue
    const isSame = hashOfSignal(entry) === hashOfSignal(signal)
    if (isSame) return { accepted: true, repeated: true }
    return { accepted: false, reason: 'signal_id_reused' }
  }
  return { accepted: false, reason: 'run_ended' }
}

import type { Ledger, RunRecord, StoredReceipt } from '../../ledger/index.js'
import { signsJournal } from '../run/shown.js'

/**
 * What of that which is shown could not be compared with what is signed, in words (L12).
 *
 * Owns nothing: the one place for it. That a ledger was cut, or made again with its own key, is no
 * matter of one run or receipt: verifications, imports and exports say of what no note is given.
 */

type Opened = Pick<Ledger, 'hasKey' | 'state'>

const JOURNAL = 'the journal of the run: what authenticates it needs the blob key'

/** Of all that is known of a run; `completed` is the receipt that ends it. */
export function uncheckedOf(
  ledger: Opened,
  { status }: Pick<RunRecord, 'status'>,
  completed: StoredReceipt | undefined
): readonly string[] {
  const isSigned = status === 'done' && completed !== undefined && signsJournal(completed)
  return [...unsafe(ledger), ...(ledger.hasKey || isSigned ? [] : [JOURNAL])]
}

/** Of a run in a list: its waits are compared there, and how it ended is when it is shown alone. */
export function uncheckedInList(
  ledger: Opened,
  { status }: Pick<RunRecord, 'status'>
): readonly string[] {
  if (status !== 'waiting')
    return [...unsafe(ledger), 'how the run stands, until it is shown alone']
  return [...unsafe(ledger), ...(ledger.hasKey ? [] : [JOURNAL])]
}

/** Of a receipt: its changes are signed as the state that they lead to, not by themselves. */
export function uncheckedOfReceipt(ledger: Opened): readonly string[] {
  return [...unsafe(ledger), 'changes of the state: a verification compares them with the roots']
}

function unsafe(ledger: Opened): readonly string[] {
  const { mode, cause } = ledger.state()
  return mode === 'safe' ? [`the ledger is in safe mode: ${cause?.message}`] : []
}

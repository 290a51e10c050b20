import { type VerificationReport, verifyLedgerDeep } from '../../audit/index.js'
import type { JournalEntry, OpenWait } from '../../block/index.js'
import type { RunId } from '../../core/index.js'
import type { Store, StoredReceipt } from '../../ledger/index.js'
import type { WiredRuntime } from '../../runtime/index.js'
import type { MachineBounds } from './options.js'
import type { World } from './world.js'

/** What a ledger holds after a play. */
export interface Left {
  /** Open waits of runs that have not ended. */
  readonly waits: readonly OpenWait[]
  readonly receipts: readonly StoredReceipt[]
  readonly state: ReadonlyMap<string, string>
  readonly journals: ReadonlyMap<RunId, readonly JournalEntry[]>
  /** Of the texts of their entries. */
  readonly journalBytes: number
  readonly report: VerificationReport | undefined
}

/** Reads what runs have left. `verifies`: the store of the ledger, to execute everything again. */
export async function leftIn(
  runtime: WiredRuntime,
  { runs, verifies }: { readonly runs: readonly RunId[]; readonly verifies: Store | undefined }
): Promise<Left> {
  const waits: OpenWait[] = []
  const journals = new Map<RunId, JournalEntry[]>()
  let journalBytes = 0
  for (const id of runs) {
    if (!runtime.ledger.hasRun(id)) continue
    waits.push(...(await runtime.runsOf.durableWaits(id)))
    const entries: JournalEntry[] = []
    // Journals hold what the block room has written.
    for await (const { value, text } of runtime.journal(id)) {
      entries.push(value as never)
      journalBytes += Buffer.byteLength(text)
    }
    journals.set(id, entries)
  }
  const receipts: StoredReceipt[] = []
  for await (const receipt of runtime.receipts()) receipts.push(receipt)
  const state = new Map<string, string>()
  for await (const [key, text] of runtime.ledger.stateEntries()) state.set(key, text)
  const report = verifies === undefined ? undefined : await verified(runtime, verifies)
  return { waits, journals, journalBytes, receipts, state, report }
}

/** Not by the runtime: what it has in memory must not help, and it would mark what it finds. */
function verified({ ledger, registry }: WiredRuntime, store: Store): Promise<VerificationReport> {
  const { identity, verificationKey: key } = ledger
  return verifyLedgerDeep({ store, identity, code: registry, key })
}

/** Why a play was ended before its runs were. */
export function overrunOf({ asked }: World, { effects, steps }: Required<MachineBounds>): string {
  return asked > effects ? `more than ${effects} effects` : `more than ${steps} steps`
}

/** What exceeds the bounds of a play, and by how much. */
export function tooLarge(
  { receipts, state, journalBytes }: Pick<Left, 'receipts' | 'state' | 'journalBytes'>,
  bounds: Required<MachineBounds>
): string | undefined {
  const { steps, stateBytes } = bounds
  if (receipts.length > steps) return `${receipts.length} steps, of ${steps}`
  let bytes = 0
  for (const [key, text] of state) bytes += Buffer.byteLength(key) + Buffer.byteLength(text)
  if (bytes > stateBytes) return `${bytes} bytes of state, of ${stateBytes}`
  if (journalBytes <= bounds.journalBytes) return undefined
  return `${journalBytes} bytes of journals, of ${bounds.journalBytes}`
}

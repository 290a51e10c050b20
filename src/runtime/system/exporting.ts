import { resolve } from 'node:path'
import type { AuditFailure, VerificationReport } from '../../audit/index.js'
import {
  type IdentityId,
  isTallyError,
  type JsonObject,
  ledgerError,
  type RunId
} from '../../core/index.js'
import { doneReply, type IntentReply, KERNEL_ID } from '../../intent/index.js'
import {
  archivedIn,
  isOfCodes,
  type Ledger,
  type SnapshotReport,
  type Store,
  storedCommits,
  wholeStore,
  writeSnapshot
} from '../../ledger/index.js'
import type { RuntimeAudit } from '../audit/verifying.js'
import { refusal } from '../gate/refusal.js'

/** Where a snapshot is written, and what is in it. */
export interface ExportOptions {
  /** A new file; packed with gzip when its name ends in `.gz`. */
  readonly path: string
  /** Ends the file with a signed note. Default true; never in safe mode, or without a key. */
  readonly signed?: boolean
  /** Copies a ledger that does not verify, as far as its chain can be read. Default: refuses it. */
  readonly damaged?: boolean
  /** All archives of the ledger, where history was archived: the snapshot is whole again. */
  readonly archives?: readonly string[]
  /** Hears how far it is, with each commit that is verified and each line that is written. */
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined
}

export interface ExportProgress {
  readonly phase: 'verifying' | 'writing'
  /** Commit records, then lines of the file. */
  readonly done: number
  readonly total: number
}

/** What was exported, and what its verification found. */
export interface ExportReport extends SnapshotReport {
  /** What is wrong with the ledger, and so with the file, which no import takes; null: nothing. */
  readonly failure: AuditFailure | null
  /** What the verification before it did not check, in words. */
  readonly notChecked: readonly string[]
}

/** A ledger as it is exported. */
export interface Exported {
  readonly store: Store
  readonly identity: IdentityId
  /** By its bytes; `onRecord` is called with each commit record that is read. */
  verify(onRecord: (() => void) | undefined): Promise<VerificationReport>
  /** Null where nothing may be signed. */
  note(): Promise<string | null>
}

/**
 * Writes a snapshot of an opened ledger (formats.md §8) once that verifies; units of work continue
 * meanwhile.
 * Throws `snapshot.damaged`, `snapshot.unwritable`, `ledger.corrupt`.
 */
export async function exportLedger(
  { store, identity, verify, note: noted }: Exported,
  { path, signed = true, damaged = false, onProgress }: ExportOptions
): Promise<ExportReport> {
  const archived = archivedIn(store, identity)
  if (archived !== undefined) throw archived
  const total = onProgress === undefined ? 0 : await storedCommits(store, identity)
  let read = 0
  const onRecord = () => {
    read += 1
    // A verification that meets a commit under way begins anew.
    onProgress?.({ phase: 'verifying', done: Math.min(read, total), total })
  }
  const { failure: found, notChecked } = await verify(onProgress && onRecord)
  // No snapshot has records that are derived, or checkpoints.
  const failure = found === undefined || isOfCodes(found) ? null : found
  if (failure !== null && !damaged) {
    throw ledgerError('snapshot.damaged', { problem: problemOf(failure) })
  }
  const note = signed && failure === null ? await noted() : null
  const written = await writeSnapshot({
    store,
    identity,
    path: resolve(path),
    note,
    onLine: onProgress && ((done, of) => onProgress({ phase: 'writing', done, total: of }))
  })
  return { ...written, failure, notChecked }
}

/** {@link exportLedger} of a ledger that is open, with the archives that it was given. */
export async function exportOpened(
  { ledger, store }: { readonly ledger: Ledger; readonly store: Store },
  audit: RuntimeAudit,
  options: ExportOptions
): Promise<ExportReport> {
  const { archives } = options
  const { identity } = ledger
  const whole = archives === undefined ? store : await wholeStore(store, identity, archives)
  const verify = (onRecord?: () => void) =>
    audit.verifySteadily({ reexecute: false, onRecord, ...(archives && { archives }) })
  const note = async () => (ledger.mode === 'safe' ? null : ledger.note())
  return exportLedger({ store: whole, identity, verify, note }, options)
}

const SHOWN_LENGTH = 200

/** What is wrong, in the words of an import that refuses it. */
function problemOf({ index, field, signed, computed }: AuditFailure): string {
  const text = `receipt ${index}, ${field}: signed ${signed}, computed ${computed}`
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
}

/**
 * `system.export`: `{ path, damaged? }` on the machine of the ledger. The owner's only (K13).
 */
export async function exportIntent(
  write: (options: ExportOptions) => Promise<ExportReport>,
  { id, payload }: { readonly id: RunId; readonly payload: JsonObject }
): Promise<IntentReply> {
  const action = 'system.export'
  const { path, damaged = false, ...rest } = payload
  const isMeant = typeof path === 'string' && path !== '' && typeof damaged === 'boolean'
  if (!isMeant || Object.keys(rest).length > 0) {
    const problem = 'it takes { path } and { damaged: true } and nothing else'
    return refusal(id, action, 'invalid_input', { problem })
  }
  try {
    const { failure, notChecked, ...report } = await write({ path, damaged })
    const result = { ...report, failure: failure && { ...failure }, notChecked: [...notChecked] }
    return doneReply({ id, dappId: KERNEL_ID, receipt: null, result })
  } catch (error) {
    if (!isTallyError(error)) throw error
    const { code, message, fix } = error
    return refusal(id, action, 'not_exported', { problem: message, code, fix })
  }
}

import { resolve } from 'node:path'
import { isTallyError, type JsonObject, type RunId } from '../core/index.js'
import { doneReply, type IntentReply, KERNEL_ID } from '../intent/index.js'
import { type Ledger, type SnapshotReport, type Store, writeSnapshot } from '../ledger/index.js'
import { refusal } from './refusal.js'

export interface ExportOptions {
  /** A new file; packed with gzip when its name ends in `.gz`. */
  readonly path: string
  /** Ends the file with a signed note. Default true; never in safe mode, or without a key. */
  readonly signed?: boolean
}

/**
 * Writes a snapshot of an opened ledger (formats.md §8); units of work continue meanwhile. In safe
 * mode too, as long as the chain itself is whole.
 * Throws `snapshot.unwritable`, `ledger.corrupt`.
 */
export async function exportLedger(
  { ledger, store }: { readonly ledger: Ledger; readonly store: Store },
  { path, signed = true }: ExportOptions
): Promise<SnapshotReport> {
  const { mode } = ledger.state()
  const maySign = signed && (mode === 'ready' || mode === 'committing')
  const note = maySign ? await ledger.note() : null
  return writeSnapshot({ store, identity: ledger.identity, path: resolve(path), note })
}

/** `system.export`: `{ path }` on the machine of the ledger. The owner's only (K13). */
export async function exportIntent(
  opened: Parameters<typeof exportLedger>[0],
  { id, payload }: { readonly id: RunId; readonly payload: JsonObject }
): Promise<IntentReply> {
  const action = 'system.export'
  const { path, ...rest } = payload
  if (typeof path !== 'string' || path === '' || Object.keys(rest).length > 0) {
    return refusal(id, action, 'invalid_input', { problem: 'it takes { path } and nothing else' })
  }
  try {
    const result = { ...(await exportLedger(opened, { path })) }
    return doneReply({ id, dappId: KERNEL_ID, receipt: null, result })
  } catch (error) {
    if (!isTallyError(error)) throw error
    const { code, message, fix } = error
    return refusal(id, action, 'not_exported', { problem: message, code, fix })
  }
}

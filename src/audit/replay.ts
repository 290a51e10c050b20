import type { Hash, IdentityId } from '../core/index.js'
import { type Store, type VerifiedReceipt, verifyLedger } from '../ledger/index.js'
import { Auditor } from './auditor.js'
import type { CodeSource } from './code-source.js'
import type { Difference } from './difference.js'
import type { AuditFailure } from './report.js'
import { hooksOf } from './verify.js'

/** What doing one receipt again gave (semantics.md P2). */
export interface ReceiptReplay {
  readonly index: number
  readonly receiptHash: Hash
  /** Whether it was executed again, twice, to the recorded result and changes. */
  readonly ok: boolean
  readonly failure?: AuditFailure
  /** As in a report of a verification. */
  readonly difference?: Difference
  readonly notChecked: readonly string[]
}

// Ends a pass over a ledger that has seen enough.
const ENOUGH = { field: 'enough', signed: '', computed: '' } as const

/**
 * Executes one receipt again, twice, on the state and the run that led to it. Undefined when the
 * ledger has no such receipt; a failure at an earlier receipt is reported as it is.
 */
export async function replayReceipt(options: {
  readonly store: Store
  readonly identity: IdentityId
  readonly code: CodeSource
  readonly which: Hash | number
}): Promise<ReceiptReplay | undefined> {
  const { store, identity, code, which } = options
  const isWanted = ({ index, receipt }: VerifiedReceipt) =>
    typeof which === 'number' ? index === which : receipt.receiptHash === which
  const auditor = new Auditor({ code, identity, executions: 2, isWanted })
  let found: { readonly index: number; readonly receiptHash: Hash } | undefined
  const { hooks, found: differing } = hooksOf(auditor)
  const { onItem, onReceipt } = hooks
  const { failure } = await verifyLedger({
    store,
    identity,
    ...(onItem === undefined ? {} : { onItem }),
    onReceipt: async (verified) => {
      const problem = await onReceipt?.(verified)
      if (!isWanted(verified)) return problem
      found = { index: verified.index, receiptHash: verified.receipt.receiptHash }
      return problem ?? ENOUGH
    }
  })
  if (found === undefined) return undefined
  const isDone = failure === undefined || failure.field === ENOUGH.field
  const difference = differing()
  return {
    ...found,
    ok: isDone && auditor.reexecuted === 1,
    ...(isDone ? {} : { failure }),
    ...(difference === undefined ? {} : { difference }),
    notChecked: auditor.finish()
  }
}

/**
 * The state after receipt `upTo` (from 0), by folding verified write sets: key to canonical JSON,
 * undefined where the value is withheld. Stops at the first thing that is wrong, which it names.
 */
export async function reconstructState(options: {
  readonly store: Store
  readonly identity: IdentityId
  readonly upTo: number
}): Promise<{
  readonly state: ReadonlyMap<string, string | undefined>
  /** Receipts that were folded. */
  readonly receipts: number
  readonly failure?: AuditFailure
}> {
  const { store, identity, upTo } = options
  const state = new Map<string, string | undefined>()
  let receipts = 0
  const { failure } = await verifyLedger({
    store,
    identity,
    onReceipt: ({ index, changes }) => {
      if (index > upTo) return ENOUGH
      for (const { key, text } of changes) {
        if (text === null) state.delete(key)
        else state.set(key, text)
      }
      receipts = index + 1
      return undefined
    }
  })
  const isWhole = failure === undefined || failure.field === ENOUGH.field
  return { state, receipts, ...(isWhole ? {} : { failure }) }
}

import type { Hash, RunId } from '../core/index.js'
import type { HookVerdict, VerifiedItem, VerifiedReceipt } from '../ledger/index.js'

/**
 * Something that came out otherwise when it was executed again (K10, L14): the records are whole,
 * and the code that is here does not give what they say.
 */
export interface Difference {
  readonly run: RunId
  /** Null where it is an entry of the journal that no receipt stands beside. */
  readonly receipt: Hash | null
  /** Who did it: `name@version` of a block or package; null where it is the run's own chart. */
  readonly provider: string | null
  /** The first field that differs. */
  readonly field: string
}

/** Code that is another one, or is not here, is no difference: it was not executed. */
function isOfOtherCode({ field }: HookVerdict): boolean {
  return field === 'definitionHash' || field.endsWith('.codeHash')
}

/** The difference that an item's verdict tells. */
export function differenceOfItem(
  verdict: HookVerdict,
  { runId }: Pick<VerifiedItem, 'runId'>
): Difference | undefined {
  if (isOfOtherCode(verdict)) return undefined
  return { run: runId, receipt: null, provider: null, field: verdict.field }
}

/** The difference that a receipt's verdict tells. */
export function differenceOfReceipt(
  verdict: HookVerdict,
  { runId, receipt }: Pick<VerifiedReceipt, 'runId' | 'receipt'>
): Difference | undefined {
  if (isOfOtherCode(verdict)) return undefined
  const { kind, id } = receipt.inputPayload.provider
  const provider = kind === 'composite' ? null : id
  return { run: runId, receipt: receipt.receiptHash, provider, field: verdict.field }
}

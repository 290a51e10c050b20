import {
  bytesOver,
  canonicalizeLedgerValue,
  canonicalizeOwnLedgerValue,
  isTallyError,
  limits
} from '../../core/index.js'
import type { Attribution, BlockCode } from './block.js'
import { failure, type Outcome, outcomeOf, refusal } from './outcome.js'

/** The outcome of a value that code has returned, by the schema of the block and by who acted. */
export function resultOutcome(
  value: unknown,
  block: BlockCode,
  attribution: Attribution | undefined
): Outcome {
  try {
    const parsed = block.parseOutput(value === undefined ? null : value)
    if (!parsed.ok) return refusal('invalid_output', 'InvalidOutput', parsed)
    const refused = attribution?.refusal?.(parsed.value)
    if (refused !== undefined) return failure(refused.reason, 'InvalidOutput', refused.details)
    const text = ledgerTextBy(block, parsed.value)
    const bytes = bytesOver(text, limits.VALUE_BYTES_MAX)
    if (bytes !== undefined) return failure('output_too_large', 'InvalidOutput', { bytes })
    return { ok: true, text }
  } catch (error) {
    // A schema may run the caller's code, and a result may be a proxy.
    if (!isTallyError(error)) return outcomeOf(error)
    return failure('invalid_output', 'InvalidOutput', { problem: error.message })
  }
}

/** Canonical JSON of what a block's code asks for or gives. Throws `core.not_ledger_value`. */
export function ledgerTextBy({ makesPlainData }: BlockCode, value: unknown): string {
  return makesPlainData === true
    ? canonicalizeOwnLedgerValue(value)
    : canonicalizeLedgerValue(value)
}

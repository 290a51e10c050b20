import { canonicalizeLedgerValue, canonicalizeOwnLedgerValue } from '../../core/index.js'
import type { BlockCode } from './block.js'

/** Canonical JSON of what a block's code asks for or gives. Throws `core.not_ledger_value`. */
export function ledgerTextBy({ makesPlainData }: BlockCode, value: unknown): string {
  return makesPlainData === true
    ? canonicalizeOwnLedgerValue(value)
    : canonicalizeLedgerValue(value)
}

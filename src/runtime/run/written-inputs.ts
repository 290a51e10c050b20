import {
  canonicalizingLedgerValue,
  inTurns,
  isLarge,
  type Json,
  parseInTurns
} from '../../core/index.js'

/** A value as a run keeps it: its canonical JSON, and a copy with its keys in that order. */
export interface WrittenInputs {
  readonly text: string
  readonly value: Json
}

/**
 * What another process gives a run, written with turns of the event loop; undefined for few values,
 * which the start writes at once. Nothing else holds such a value: it cannot change meanwhile.
 * Rejects with `core.not_json`, `core.not_ledger_value`.
 */
export async function writtenInTurns(inputs: Json): Promise<WrittenInputs | undefined> {
  if (!isLarge(inputs)) return undefined
  const text = await inTurns(canonicalizingLedgerValue(inputs))
  return { text, value: await parseInTurns(text) }
}

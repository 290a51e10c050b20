import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  shownText
} from '../../core/index.js'
import type { FieldProblem } from '../receipt/parse.js'

/** What evidence says of the end of a run. */
export interface SaidOfEnd {
  readonly code: string
  /** Canonical JSON; undefined where they are withheld. */
  readonly details: string | undefined
}

/** What an item records beside the end of a run. */
export interface BesideEnd {
  readonly hasReceipt: boolean
  /** Canonical JSON; undefined where there is no receipt, and where the body is withheld. */
  readonly resultText: string | undefined
  readonly evidence: SaidOfEnd | undefined
}

/**
 * Compares the last entry of a run with the journal `before` it, and with the record that is signed
 * beside it (L12): no hash of the journal covers `run.finished`. A member that
 * it does not have shows nothing.
 */
export function endProblem(
  entry: JsonObject,
  { isCancelled, before }: { readonly isCancelled: boolean; readonly before: string },
  { hasReceipt, resultText, evidence }: BesideEnd
): FieldProblem | undefined {
  const { status, response, journalHash = before } = entry
  const expected = hasReceipt ? 'done' : isCancelled ? 'cancelled' : 'failed'
  const problem =
    unequal('journal.journalHash', before, hashIn(journalHash)) ??
    unequal('journal.status', expected, shownText(status))
  if (problem !== undefined || response === undefined) return problem
  if (!isJsonObject(response)) return unequal('journal.response', 'a response', text(response))
  const { success = null, data = null, reason = null, details = null } = response
  const members = hasReceipt ? successMembers : failureMembers
  const shape =
    unequal('journal.response.success', String(hasReceipt), text(success)) ??
    unequal('journal.response', members, Object.keys(response).sort().join())
  if (shape !== undefined) return shape
  // A withheld result has nothing to be compared with.
  const result = hasReceipt ? resultText : 'null'
  const other =
    result === undefined ? undefined : unequal('journal.response.data', result, text(data))
  if (hasReceipt || other !== undefined) return other
  if (evidence === undefined) return unequal('journal.response', 'evidence of its end', 'none')
  return (
    unequal('journal.response.reason', text(evidence.code), text(reason)) ??
    (evidence.details === undefined
      ? undefined
      : unequal('journal.response.details', told(JSON.parse(evidence.details)), told(details)))
  )
}

const successMembers = 'data,metadata,success'
const failureMembers = 'data,details,errorType,metadata,reason,success'

const hashIn = (value: Json): string => (typeof value === 'string' ? value : text(value))

/** Evidence names doubts besides, which no entry has. */
function told(details: Json): string {
  if (!isJsonObject(details)) return text(details)
  const { in_doubt: _, ...rest } = details
  return text(rest)
}

const text = (value: Json): string => canonicalize(value)

/** Results may be long: the report has their beginnings. */
const SHOWN_LENGTH = 200

function unequal(field: string, signed: string, computed: string): FieldProblem | undefined {
  if (signed === computed) return undefined
  const [one, other] = [signed, computed].map((side) => side.slice(0, SHOWN_LENGTH))
  return { field, signed: one ?? '', computed: other ?? '' }
}

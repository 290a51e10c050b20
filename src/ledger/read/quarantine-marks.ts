import {
  type Hash,
  type IdentityId,
  isHash,
  isJsonObject,
  type Json,
  shownText
} from '../../core/index.js'
import { unwrapText } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import type { Ledger } from '../ledger-api.js'
import type { Store } from '../stores/port.js'

/** State entries about runs that came out otherwise when they were executed again, by run id. */
export const QUARANTINE_PREFIX = 'system/quarantine/'

/** What is kept of a run that came out otherwise (K10, L14). */
export interface QuarantineMark {
  readonly run: string
  /** The receipt that came out otherwise; null where the difference is in the run's journal. */
  readonly receipt: Hash | null
  /** `name@version` of the code that differs; null where it is the chart of the run's document. */
  readonly provider: string | null
  /** The first field of the receipt, or of the journal, that differs. */
  readonly field: string
  /** Whether the owner has released the run since. */
  readonly isReleased: boolean
}

/** The mark that a state entry says; undefined when there is none. */
export function markIn(run: string, entry: Json | undefined): QuarantineMark | undefined {
  if (entry === undefined || !isJsonObject(entry)) return undefined
  const { receipt, provider, field, released } = entry
  return {
    run,
    receipt: isHash(receipt) ? receipt : null,
    provider: typeof provider === 'string' ? provider : null,
    field: shownText(field),
    isReleased: released !== undefined
  }
}

/** The mark of one run, queued changes included. */
export function markOf(ledger: Pick<Ledger, 'read'>, run: string): QuarantineMark | undefined {
  return parsedMark(run, ledger.read(QUARANTINE_PREFIX + run))
}

/** All marks of a ledger, queued changes included: those that were released as well. */
export async function marksOf(
  ledger: Pick<Ledger, 'read' | 'list'>
): Promise<readonly QuarantineMark[]> {
  const keys = await ledger.list(QUARANTINE_PREFIX)
  return keys.flatMap((key) => markOf(ledger, key.slice(QUARANTINE_PREFIX.length)) ?? [])
}

/** Marks of a stored ledger that were not released. What is damaged, a verification tells. */
export async function storedMarks(
  store: Store,
  identity: IdentityId
): Promise<readonly QuarantineMark[]> {
  const keys = new StoreKeys(identity)
  const marks: QuarantineMark[] = []
  for await (const [key, value] of store.entries(keys.states(QUARANTINE_PREFIX))) {
    const run = keys.stateKey(key).slice(QUARANTINE_PREFIX.length)
    const mark = parsedMark(run, textOf(key, value))
    if (mark !== undefined && !mark.isReleased) marks.push(mark)
  }
  return marks
}

function textOf(key: string, value: Uint8Array): string | undefined {
  try {
    return unwrapText(key, value)
  } catch {
    return undefined
  }
}

function parsedMark(run: string, text: string | undefined): QuarantineMark | undefined {
  try {
    return text === undefined ? undefined : markIn(run, JSON.parse(text) as Json)
  } catch {
    return undefined
  }
}

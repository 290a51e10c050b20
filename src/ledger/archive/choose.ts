import { isJsonObject, type Json, limits, nextTurn } from '../../core/index.js'
import { unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'
import type { ArchiveEnd } from './archiving-api.js'
import type { Boundary } from './boundary.js'
import type { BoundaryWalk } from './walk.js'

const MILLISECONDS = 1_000
const RECORDS_IN_TURN = 64

/** The last place between two commits that is not behind the given end. */
export async function chosenEnd(
  ledger: {
    readonly store: Store
    readonly keys: StoreKeys
    /** From where history is not archived yet. */
    readonly walk: BoundaryWalk
    readonly commits: number
  },
  end: ArchiveEnd,
  bytesMax: number = limits.ARCHIVE_RECORD_BYTES_MAX
): Promise<Boundary> {
  const { store, keys, walk, commits } = ledger
  const from = walk.boundary.commits
  let reached = walk.boundary
  let bytes = 0
  for await (const [key, value] of store.entries(keys.commits(from, commits))) {
    const body = unwrapValue(key, value)
    bytes += body.length
    // A file has its bound; the next one goes on behind it.
    if (bytes > bytesMax && reached.commits > from) return reached
    const items = walk.next(key, body)
    const { commits: behind } = walk.boundary
    if (
      'before' in end
        ? items.some((item) => isSince(item, end.before))
        : behind > end.throughCommit + 1
    ) {
      return reached
    }
    reached = walk.boundary
    if (behind % RECORDS_IN_TURN === 0) await nextTurn()
  }
  return reached
}

/** Whether something of an item is not older than a time. */
function isSince({ entries, receipt, evidence }: RecordItem, time: number): boolean {
  const last = entries.at(-1)
  return (
    numberIn(last, 'at') >= time ||
    (numberIn(receipt?.text, 'timestamp') + 1) * MILLISECONDS > time ||
    (numberIn(evidence, 'timestamp') + 1) * MILLISECONDS > time
  )
}

/** A number that a stored text has; below every time where there is no text. */
function numberIn(text: string | undefined, name: string): number {
  if (text === undefined) return Number.NEGATIVE_INFINITY
  const value = JSON.parse(text) as Json
  const found = isJsonObject(value) ? value[name] : undefined
  return typeof found === 'number' ? found : Number.POSITIVE_INFINITY
}

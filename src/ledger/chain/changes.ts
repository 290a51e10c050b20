import { canonicalString, limits, TallyError } from '../../core/index.js'
import { embed } from '../receipt/blob.js'

/** What a unit changes in effect, with its write set. */
export interface UnitChanges {
  /** In ascending order of keys. */
  readonly changes: readonly (readonly [key: string, text: string | null])[]
  /** Canonical JSON of the write set (formats.md §3). */
  readonly writeSet: string
  /** Values that the write set names by hash. */
  readonly blobs: readonly string[]
}

const noChanges: UnitChanges = { changes: [], writeSet: '[]', blobs: [] }

/**
 * Orders a unit's writes by key (UTF-16 code units), drops those that change nothing, and builds
 * the write set. Throws `ledger.invalid_item` for keys that cannot be state.
 */
export function unitChanges(
  writes: ReadonlyMap<string, string | null>,
  read: (key: string) => string | undefined
): UnitChanges {
  if (writes.size === 0) return noChanges
  if (writes.size > limits.WRITE_SET_KEYS_MAX) throw invalid('it changes too many keys')
  const keys = [...writes.keys()]
  if (keys.length > 1) keys.sort()
  const changes: (readonly [string, string | null])[] = []
  const blobs: string[] = []
  let writeSet = '['
  for (const key of keys) {
    checkKey(key)
    const after = writes.get(key) ?? null
    const before = read(key)
    if (after === (before ?? null)) continue
    changes.push([key, after])
    if (writeSet.length > 1) writeSet += ','
    writeSet += '{'
    if (after !== null) {
      const embedded = embed(after, undefined)
      if (embedded.blob !== undefined) blobs.push(embedded.blob)
      writeSet += `"after":${embedded.text},`
    }
    if (before !== undefined) writeSet += `"before":${embed(before, undefined).text},`
    writeSet += `"key":${canonicalString(key)}}`
  }
  return { changes, writeSet: `${writeSet}]`, blobs }
}

function checkKey(key: string): void {
  if (key === '' || key.length > limits.STATE_KEY_LENGTH_MAX || key.includes('\0')) {
    throw invalid('a state key is empty, too long, or holds NUL')
  }
  if (key.startsWith('local/')) throw invalid('keys under "local/" are outside the state root')
}

export function invalid(problem: string): TallyError {
  return new TallyError('ledger.invalid_item', { problem })
}

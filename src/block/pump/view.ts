import { canonicalizeLedgerValue, type Json, limits, TallyError } from '../../core/index.js'

/**
 * One unit of work's view of state: its own changes over whatever lies below, with a record of what
 * it read from below (L10). Values are kept as canonical text, so every reader gets a fresh copy.
 *
 * Owns: the changes of one unit. Does not own: the state itself; nothing here writes it (L8).
 */
export class StateView {
  readonly reads = new Map<string, string | undefined>()
  readonly lists = new Map<string, readonly string[]>()
  readonly writes = new Map<string, string | null>()
  readonly #below: (key: string) => string | undefined

  constructor(below: (key: string) => string | undefined) {
    this.#below = below
  }

  /** Canonical text of a key as this unit sees it. */
  read(key: string): string | undefined {
    const written = this.writes.get(key)
    if (written !== undefined) return written ?? undefined
    if (this.reads.has(key)) return this.reads.get(key)
    const text = this.#below(key)
    this.reads.set(key, text)
    return text
  }

  write(key: string, value: Json | undefined): void {
    checkKey(key)
    if (!this.writes.has(key) && this.writes.size >= limits.WRITE_SET_KEYS_MAX) {
      throw new TallyError('core.limit_exceeded', {
        what: 'The number of keys changed by one unit of work',
        actual: this.writes.size + 1,
        limit: limits.WRITE_SET_KEYS_MAX
      })
    }
    this.writes.set(key, value === undefined ? null : canonicalizeLedgerValue(value))
  }

  /** Applies this unit's own changes to the sorted keys found below it. */
  list(prefix: string, below: readonly string[]): readonly string[] {
    this.lists.set(prefix, below)
    const keys = new Set(below)
    for (const [key, text] of this.writes) {
      if (!key.startsWith(prefix)) continue
      if (text === null) keys.delete(key)
      else keys.add(key)
    }
    return [...keys].sort()
  }
}

const reservedPrefixes = ['permissions/', 'preferences/', 'approvers/', 'packages/', 'system/']

/** A key that a block may change: the kernel's tables are changed by system intents only (K5). */
export function notReserved(key: string): string {
  if (!reservedPrefixes.some((prefix) => String(key).startsWith(prefix))) return key
  throw new TallyError('block.reserved_state_key', { key: String(key).slice(0, 80) })
}

function checkKey(key: string): void {
  const isUsable =
    typeof key === 'string' &&
    key.length > 0 &&
    key.length <= limits.STATE_KEY_LENGTH_MAX &&
    key.isWellFormed() &&
    !key.startsWith('local/') &&
    !key.includes('\u0000')
  if (!isUsable) throw new TallyError('block.invalid_state_key', { key: String(key).slice(0, 80) })
}

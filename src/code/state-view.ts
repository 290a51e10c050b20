import {
  blockError,
  bytesOver,
  canonicalizeLedgerValue,
  coreError,
  type Json,
  limits
} from '../core/index.js'
import type { BlockState } from './context.js'

/**
 * One unit of work's view of state: its own changes over whatever lies below, with a record of what
 * it read from below (L10). Values are kept as canonical text, so every reader gets a fresh copy.
 *
 * Owns: the changes of one unit. Does not own: the state itself; nothing here writes it (L8).
 */
export class StateView {
  // Made at the first entry: most units of work touch no state, and three maps cost more than they.
  #reads: Map<string, string | undefined> | undefined
  #lists: Map<string, readonly string[]> | undefined
  #writes: Map<string, string | null> | undefined
  #isOutdated = false
  readonly #below: (key: string) => string | undefined

  constructor(below: (key: string) => string | undefined) {
    this.#below = below
  }

  get reads(): ReadonlyMap<string, string | undefined> {
    return this.#reads ?? nothing
  }

  get lists(): ReadonlyMap<string, readonly string[]> {
    return this.#lists ?? nothing
  }

  get writes(): ReadonlyMap<string, string | null> {
    return this.#writes ?? nothing
  }

  /**
   * Whether what was read through this view cannot all be so at its commit: the unit has to run
   * again (L10).
   */
  get isOutdated(): boolean {
    return this.#isOutdated
  }

  /** Notes that what a part of this unit has read is not so any more. */
  noteOutdated(): void {
    this.#isOutdated = true
  }

  /** Canonical text of a key as this unit sees it. */
  read(key: string): string | undefined {
    const written = this.#writes?.get(key)
    if (written !== undefined) return written ?? undefined
    if (this.#reads?.has(key) === true) return this.#reads.get(key)
    const text = this.#below(key)
    this.noteRead(key, text)
    return text
  }

  /** Takes over what a part of this unit has read from below. */
  noteRead(key: string, text: string | undefined): void {
    this.#reads ??= new Map()
    this.#reads.set(key, text)
  }

  /** Takes over a change that a part of this unit has made: canonical text, null when removed. */
  noteWrite(key: string, text: string | null): void {
    this.#writes ??= new Map()
    this.#writes.set(key, text)
  }

  write(key: string, value: Json | undefined): void {
    checkKey(key)
    if (!this.writes.has(key) && this.writes.size >= limits.WRITE_SET_KEYS_MAX) {
      throw coreError('core.limit_exceeded', {
        what: 'The number of keys changed by one unit of work',
        actual: this.writes.size + 1,
        limit: limits.WRITE_SET_KEYS_MAX
      })
    }
    this.noteWrite(key, value === undefined ? null : stateText(value))
  }

  /** Applies this unit's own changes to the sorted keys found below it. */
  list(prefix: string, below: readonly string[]): readonly string[] {
    this.noteList(prefix, below)
    return keysOver(below, this.writesBelow(prefix))
  }

  /** Takes over what a part of this unit has listed below it. */
  noteList(prefix: string, below: readonly string[]): void {
    this.#lists ??= new Map()
    const seen = this.#lists.get(prefix)
    if (seen !== undefined && !isSameList(seen, below)) this.#isOutdated = true
    this.#lists.set(prefix, below)
  }

  /** The changes of keys that begin with `prefix`. */
  writesBelow(prefix: string): readonly (readonly [key: string, text: string | null])[] {
    return [...this.writes].filter(([key]) => key.startsWith(prefix))
  }
}

/** Sorted keys, with changes applied. */
export function keysOver(
  below: readonly string[],
  writes: readonly (readonly [key: string, text: string | null])[]
): readonly string[] {
  const keys = new Set(below)
  for (const [key, text] of writes) {
    if (text === null) keys.delete(key)
    else keys.add(key)
  }
  return [...keys].sort()
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index])
}

function stateText(value: Json): string {
  const text = canonicalizeLedgerValue(value)
  const limit = limits.VALUE_BYTES_MAX
  const actual = bytesOver(text, limit)
  if (actual === undefined) return text
  throw coreError('core.limit_exceeded', { what: 'A state value in bytes', actual, limit })
}

const nothing: ReadonlyMap<string, never> = new Map<string, never>()

const reservedPrefixes = [
  'approvers/',
  'contacts/',
  'messages/',
  'packages/',
  'permissions/',
  'preferences/',
  'system/',
  'wallet/'
]

/**
 * A key that a block may change: the kernel's tables are changed by system intents only (K5), and
 * those of the scoped API by it alone, or no sum of balances would hold (K6).
 */
export function notReserved(key: string): string {
  if (!reservedPrefixes.some((prefix) => String(key).startsWith(prefix))) return key
  throw blockError('block.reserved_state_key', { key: String(key).slice(0, 80) })
}

function checkKey(key: string): void {
  const isUsable =
    typeof key === 'string' &&
    key.length > 0 &&
    key.length <= limits.STATE_KEY_LENGTH_MAX &&
    key.isWellFormed() &&
    !key.startsWith('local/') &&
    !key.includes('\u0000')
  if (!isUsable) throw blockError('block.invalid_state_key', { key: String(key).slice(0, 80) })
}

/** State as code sees it, through a view; `list` is a call, whose answer is sealed. */
export function blockState(
  view: StateView,
  list: (prefix: string) => Promise<readonly string[]>
): BlockState {
  return Object.freeze<BlockState>({
    get: <Value extends Json>(key: string) => {
      const text = view.read(key)
      return text === undefined ? undefined : (JSON.parse(text) as Value)
    },
    has: (key) => view.read(key) !== undefined,
    set: (key, value) => view.write(notReserved(key), value),
    delete: (key) => view.write(notReserved(key), undefined),
    list: async (prefix) => view.list(prefix, await list(prefix))
  })
}

import { type Clock, limits } from '../../core/index.js'

/**
 * Keeps units of work of concurrent runs serialisable where optimism is not enough (L10): a unit
 * whose reads kept changing runs alone, and keys read before a write-class effect was sent are
 * reserved.
 *
 * A unit that would wait for itself by way of others gives up what it holds, and goes after them:
 * what it has read may have changed then, and it runs again on its recorded results.
 *
 * Owns: who runs alone and which keys are reserved, in memory. Does not own: the check of reads at
 * the commit queue, which the ledger makes for every unit.
 */
export class UnitGate {
  readonly #clock: Clock
  #alone: object | undefined
  /** Who has reserved a key, in the order in which they did: the first may change it. */
  readonly #reserved = new Map<string, Set<object>>()
  readonly #keysOf = new Map<object, Set<string>>()
  /** Prefixes that a unit has listed: no other may add or take away a key below them. */
  readonly #prefixesOf = new Map<object, readonly string[]>()
  #waiting: (() => void)[] = []
  /** Units that wait to commit, and the keys that they change. */
  readonly #wanted = new Map<object, readonly string[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * From now until `release`, only `unit` may commit. False when another unit runs alone already.
   */
  runAlone(unit: object): boolean {
    this.#alone ??= unit
    return this.#alone === unit
  }

  /** Keeps other units from changing these keys until `release`. */
  reserve(unit: object, keys: Iterable<string>, prefixes: Iterable<string> = []): void {
    const listed = [...prefixes]
    if (listed.length > 0) this.#prefixesOf.set(unit, listed)
    const own = this.#keysOf.get(unit) ?? new Set()
    this.#keysOf.set(unit, own)
    for (const key of keys) {
      own.add(key)
      const holders = this.#reserved.get(key)
      if (holders === undefined) this.#reserved.set(key, new Set([unit]))
      else holders.add(unit)
    }
  }

  /** Lets go of what a unit holds; call it when the unit has ended, however it did. */
  release(unit: object): void {
    if (this.#alone === unit) this.#alone = undefined
    for (const key of this.#keysOf.get(unit) ?? []) {
      const holders = this.#reserved.get(key)
      holders?.delete(unit)
      if (holders?.size === 0) this.#reserved.delete(key)
    }
    this.#keysOf.delete(unit)
    this.#prefixesOf.delete(unit)
    const woken = this.#waiting
    this.#waiting = []
    for (const wake of woken) wake()
  }

  /** Whether the unit has to wait before it commits these changes. */
  blocks(unit: object, changed: Iterable<string>): boolean {
    if (this.#alone !== undefined && this.#alone !== unit) return true
    if (this.#reserved.size === 0 && this.#prefixesOf.size === 0) return false
    return this.#blockers(unit, changed).next().done !== true
  }

  /** The units that have to end before this one commits these changes. */
  *#blockers(unit: object, changed: Iterable<string>): Generator<object> {
    if (this.#alone !== undefined && this.#alone !== unit) yield this.#alone
    for (const key of changed) {
      const lister = this.#listerOf(key)
      if (lister !== undefined && lister !== unit) yield lister
      const first = this.#reserved.get(key)?.values().next().value
      if (first !== undefined && first !== unit) yield first
    }
  }

  /** As with keys, the unit that listed first may change it. */
  #listerOf(key: string): object | undefined {
    for (const [holder, prefixes] of this.#prefixesOf) {
      if (prefixes.some((prefix) => key.startsWith(prefix))) return holder
    }
    return undefined
  }

  /** Whether the unit, by way of others that wait, would wait for itself. */
  #closesCycle(unit: object, changed: readonly string[]): boolean {
    const seen = new Set<object>()
    const open = [...this.#blockers(unit, changed)]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === unit) return true
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...this.#blockers(next, this.#wanted.get(next) ?? []))
    }
    return false
  }

  /** Waits until the unit may commit; false when it took too long (`intent_conflict`). */
  async enter(unit: object, changed: Iterable<string>): Promise<boolean> {
    const keys = [...changed]
    const until = this.#clock.now() + limits.RESERVATION_WAIT_MS
    try {
      while (this.blocks(unit, keys)) {
        if (this.#clock.now() >= until) return false
        if (this.#closesCycle(unit, keys)) this.release(unit)
        this.#wanted.set(unit, keys)
        await this.#released(until)
      }
      return true
    } finally {
      this.#wanted.delete(unit)
    }
  }

  #released(until: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#clock.schedule(until, resolve)
      this.#waiting.push(() => {
        callOff()
        resolve()
      })
    })
  }
}

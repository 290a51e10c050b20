import { canonicalize, isJsonObject } from '../core/index.js'
import type { Ledger, StateView, WriteSet } from '../ledger/index.js'

/**
 * The state before the last receipt of an open ledger: the state as it is, with what the receipt
 * changed taken back.
 *
 * Owns: nothing. Lists of keys are read before they are asked for; one that is asked for and was
 * not read is noted in {@link StateBefore.wanted}, and its answer is not to be used.
 */
export class StateBefore implements StateView {
  /** Prefixes whose keys were asked for and not read yet. */
  readonly wanted = new Set<string>()
  /** A key that was asked for and whose value before is not kept here. */
  withheld: string | undefined
  readonly #ledger: Pick<Ledger, 'read' | 'list'>
  readonly #changed: ReadonlyMap<string, WriteSet[number]>
  readonly #lists = new Map<string, readonly string[]>()

  constructor(ledger: Pick<Ledger, 'read' | 'list'>, writeSet: WriteSet) {
    this.#ledger = ledger
    this.#changed = new Map(writeSet.map((entry) => [entry.key, entry]))
  }

  read(key: string): string | undefined {
    const changed = this.#changed.get(key)
    if (changed === undefined) return this.#ledger.read(key)
    const { before } = changed
    if (before === undefined) return undefined
    if (!isJsonObject(before) || !('$blob' in before)) return canonicalize(before)
    this.withheld ??= key
    return undefined
  }

  list(prefix: string): readonly string[] {
    const known = this.#lists.get(prefix)
    if (known !== undefined) return known
    this.wanted.add(prefix)
    return []
  }

  /** Reads the lists that were asked for; false when there are none. */
  async readWanted(): Promise<boolean> {
    const wanted = [...this.wanted]
    this.wanted.clear()
    for (const prefix of wanted) {
      const keys = new Set(await this.#ledger.list(prefix))
      for (const { key, before, after } of this.#changed.values()) {
        if (!key.startsWith(prefix)) continue
        if (before === undefined) keys.delete(key)
        else if (after === undefined) keys.add(key)
      }
      this.#lists.set(prefix, [...keys].sort())
    }
    return wanted.length > 0
  }
}

import type { Ground } from '../block/index.js'
import type { StateView } from '../ledger/index.js'

/**
 * State while a ledger is read, item by item: what it was before the item, which values are
 * withheld, and when each key was changed last.
 *
 * Owns: those two sets, which grow with the state. Does not own: the values, which
 * the reader of the ledger has.
 */
export class StateLog implements Ground {
  /** Items that were begun. */
  item = 0
  readonly #withheld = new Set<string>()
  /** Number of the item that changed a key last. */
  readonly #changed = new Map<string, number>()
  #before: StateView | undefined

  /** The next item, with the state before it. */
  begin(stateBefore: StateView): void {
    this.item += 1
    this.#before = stateBefore
  }

  read(key: string): string | undefined {
    return this.#before?.read(key)
  }

  list(prefix: string): readonly string[] {
    return this.#before?.list(prefix) ?? []
  }

  isWithheld(key: string): boolean {
    return this.#withheld.has(key)
  }

  changedSince(item: number, key: string): boolean {
    return (this.#changed.get(key) ?? 0) > item
  }

  changedBelowSince(item: number, prefix: string): boolean {
    for (const [key, at] of this.#changed) if (at > item && key.startsWith(prefix)) return true
    return false
  }

  /** What the receipt of the item has changed; undefined where the value is withheld. */
  changed(changes: readonly { readonly key: string; readonly text: string | null | undefined }[]) {
    for (const { key, text } of changes) {
      this.#changed.set(key, this.item)
      if (text === undefined) this.#withheld.add(key)
      else this.#withheld.delete(key)
    }
  }

  /** The same state, with a note of what was asked for and is withheld. */
  touching(touched: string[]): StateView {
    if (this.#withheld.size === 0) return this
    return {
      read: (key) => {
        if (this.#withheld.has(key)) touched.push(key)
        return this.read(key)
      },
      list: (prefix) => this.list(prefix)
    }
  }
}

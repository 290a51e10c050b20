/** What stands in a list by its age. */
export interface Aged {
  /** When it came, and in what order among those that came then. */
  readonly since: number
  readonly order: number
  /** It has left, and is passed over. */
  readonly isGone: boolean
}

/**
 * Oldest first. What is added is the youngest as a rule; what has left is dropped when it is come
 * to, so that leaving costs nothing.
 */
export class AgedList<Item extends Aged> {
  #items: Item[] = []
  #from = 0

  add(item: Item): void {
    let at = this.#items.length
    while (at > this.#from && isOlder(item, this.#items[at - 1])) at -= 1
    if (at === this.#items.length) this.#items.push(item)
    else this.#items.splice(at, 0, item)
  }

  /** The oldest that has not left. */
  first(): Item | undefined {
    for (; this.#from < this.#items.length; this.#from += 1) {
      const item = this.#items[this.#from]
      if (item !== undefined && !item.isGone) {
        this.#trim()
        return item
      }
    }
    this.#items = []
    this.#from = 0
    return undefined
  }

  /** Those that have not left, oldest first. */
  *[Symbol.iterator](): Generator<Item> {
    for (let at = this.#from; at < this.#items.length; at += 1) {
      const item = this.#items[at]
      if (item !== undefined && !item.isGone) yield item
    }
  }

  /** Forgets those that have left. */
  compact(): void {
    this.#items = [...this]
    this.#from = 0
  }

  #trim(): void {
    if (this.#from < TRIMMED_FROM || this.#from * 2 < this.#items.length) return
    this.#items = this.#items.slice(this.#from)
    this.#from = 0
  }
}

const TRIMMED_FROM = 64

function isOlder(item: Aged, other: Aged | undefined): boolean {
  if (other === undefined) return true
  return item.since < other.since || (item.since === other.since && item.order < other.order)
}

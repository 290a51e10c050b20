/**
 * A list that is changed by copying: plain JSON, so that it survives a restart, in rows, so that
 * changing one item of thousands copies two short lists and not all of them.
 */
export type Rows<Item> = readonly (readonly Item[])[]

/** Items of a row; a change copies a row and the list of rows. */
const ROW_ITEMS = 64

export function rowsOf<Item>(items: readonly Item[]): Rows<Item> {
  const rows: Item[][] = []
  for (let from = 0; from < items.length; from += ROW_ITEMS) {
    rows.push(items.slice(from, from + ROW_ITEMS))
  }
  return rows
}

export function itemAt<Item>(rows: Rows<Item>, place: number): Item | undefined {
  return rows[Math.floor(place / ROW_ITEMS)]?.[place % ROW_ITEMS]
}

export function withItem<Item>(rows: Rows<Item>, place: number, item: Item): Rows<Item> {
  const which = Math.floor(place / ROW_ITEMS)
  const row = rows[which]
  return row === undefined ? rows : rows.with(which, row.with(place % ROW_ITEMS, item))
}

/**
 * Changes of one list under way: what they copy first is changed in place by those that follow.
 *
 * Owns: the rows that it has copied. The list that it began with stays as it is.
 */
export class RowsChange<Item> {
  #rows: Rows<Item>
  /** The list of rows, once it is a copy, and which of its rows are. */
  #copied: Item[][] | undefined
  readonly #whichCopied: number[] = []

  constructor(rows: Rows<Item>) {
    this.#rows = rows
  }

  /** The list so far; it stays as it is once nothing more is changed. */
  get rows(): Rows<Item> {
    return this.#rows
  }

  at(place: number): Item | undefined {
    return itemAt(this.#rows, place)
  }

  set(place: number, item: Item): void {
    const which = Math.floor(place / ROW_ITEMS)
    const row = this.#rows[which]
    if (row === undefined) return
    if (this.#copied === undefined) {
      // Rows that are not copied are not changed.
      this.#copied = [...this.#rows] as Item[][]
      this.#rows = this.#copied
    }
    if (!this.#whichCopied.includes(which)) {
      this.#copied[which] = [...row]
      this.#whichCopied.push(which)
    }
    const copy = this.#copied[which]
    if (copy !== undefined) copy[place % ROW_ITEMS] = item
  }
}

export function* itemsOf<Item>(rows: Rows<Item>): Generator<Item> {
  for (const row of rows) yield* row
}

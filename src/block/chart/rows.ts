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

export function* itemsOf<Item>(rows: Rows<Item>): Generator<Item> {
  for (const row of rows) yield* row
}

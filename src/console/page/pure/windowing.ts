export interface Scrolled {
  readonly count: number
  readonly rowHeight: number
  readonly scrollTop: number
  readonly viewHeight: number
}

/** Rows that are drawn, from `first` to before `end`, and the empty height around them. */
export interface RowWindow {
  readonly first: number
  readonly end: number
  readonly before: number
  readonly after: number
}

/** Rows that are drawn beyond each border of what is seen. */
export const ROWS_BEYOND = 12

/** Which rows of a list are drawn: all have the same height, so that it is arithmetic. */
export function windowOf({ count, rowHeight, scrollTop, viewHeight }: Scrolled): RowWindow {
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight)
  const seen = Math.ceil(viewHeight / rowHeight) + 1
  const first = Math.max(0, Math.min(top, count - seen) - ROWS_BEYOND)
  const end = Math.min(count, first + seen + 2 * ROWS_BEYOND)
  return { first, end, before: first * rowHeight, after: (count - end) * rowHeight }
}

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { windowOf } from '../pure/windowing.js'

/** Rows from the end of a list at which its next page is asked for. */
const ROWS_BEFORE_END = 40

export interface RowsProps {
  readonly count: number
  readonly rowHeight: number
  readonly row: (index: number) => ComponentChildren
  readonly label: string
  readonly head?: ComponentChildren
  /** In place of rows, once it is known that there are none. */
  readonly empty?: ComponentChildren
  /** Row that is kept in sight when it changes, and when the room for rows does. */
  readonly chosen?: number | undefined
  readonly more?: () => void
  readonly className?: string
}

/** Rows of one height, of which only those in sight are drawn. */
export function Rows(props: RowsProps) {
  const { count, rowHeight, row, label, head, empty, chosen, more, className = '' } = props
  const box = useRef<HTMLElement>(null)
  const [scrollTop, setScrollTop] = useState(0)
  const [viewHeight, setViewHeight] = useState(600)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const seen = new ResizeObserver(() => setViewHeight(element.clientHeight))
    seen.observe(element)
    return () => seen.disconnect()
  }, [])
  useEffect(() => {
    const element = box.current
    if (element === null || chosen === undefined || chosen < 0) return
    const top = chosen * rowHeight
    const isAbove = top < element.scrollTop
    const isBelow = top + 2 * rowHeight > element.scrollTop + element.clientHeight
    if (isAbove || isBelow) element.scrollTop = Math.max(0, top - element.clientHeight / 2)
  }, [chosen, rowHeight, viewHeight])
  const { first, end, before, after } = windowOf({ count, rowHeight, scrollTop, viewHeight })
  useEffect(() => {
    if (more !== undefined && end + ROWS_BEFORE_END >= count) more()
  }, [end, count, more])
  const drawn = Array.from({ length: end - first }, (_, index) => row(first + index))
  return (
    <section
      ref={box}
      class={`rows ${className}`}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
    >
      {head}
      {count === 0 ? empty : null}
      <div style={{ height: `${before}px` }} />
      {drawn}
      <div style={{ height: `${after}px` }} />
    </section>
  )
}

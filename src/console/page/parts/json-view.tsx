import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Json } from '../../../core/index.js'
import { shownLine } from '../pure/shown-text.js'

/** Values that are drawn before the rest is asked for with a press: a payload may be large. */
const VALUES_DRAWN = 300
const FLAT_LENGTH_MAX = 46
const TEXT_LENGTH_DRAWN = 2_000

/** A value as indented JSON, each part a text node. */
export function JsonView({ value, label = 'JSON' }: { value: Json; label?: string }) {
  const [limit, setLimit] = useState(VALUES_DRAWN)
  const parts: ComponentChildren[] = []
  const isCut = drawn(value, '', parts, { left: limit })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="js" tabIndex={0} aria-label={label}>
      {parts}
      {isCut ? (
        <button type="button" class="btn" onClick={() => setLimit(limit * 8)}>
          Draw more
        </button>
      ) : null}
    </section>
  )
}

/** Adds the parts of a value; true where some are left out. */
function drawn(
  value: Json | undefined,
  pad: string,
  parts: ComponentChildren[],
  room: { left: number }
): boolean {
  room.left -= 1
  if (room.left < 0) {
    parts.push(<span class="k">…</span>)
    return true
  }
  if (value === undefined) return false
  if (value === null || typeof value === 'boolean') parts.push(<span class="b">{`${value}`}</span>)
  else if (typeof value === 'number') parts.push(<span class="n">{`${value}`}</span>)
  else if (typeof value === 'string') parts.push(<span class="s">{quoted(value)}</span>)
  else return drawnMembers(value, pad, parts, room)
  return false
}

function drawnMembers(
  value: Exclude<Json, string | number | boolean | null>,
  pad: string,
  parts: ComponentChildren[],
  room: { left: number }
): boolean {
  const isList = Array.isArray(value)
  const members: [string, Json][] = Object.entries(value)
  const [open, close] = isList ? '[]' : '{}'
  if (members.length === 0) {
    parts.push(`${open}${close}`)
    return false
  }
  const isFlat =
    isList &&
    members.length < FLAT_LENGTH_MAX &&
    members.every(([, item]) => item === null || typeof item !== 'object') &&
    JSON.stringify(value).length < FLAT_LENGTH_MAX
  let isCut = false
  parts.push(open)
  for (const [index, [name, member]] of members.entries()) {
    if (!isFlat) parts.push(`\n${pad}  `)
    if (room.left > 0 && !isList) parts.push(<span class="k">{quoted(name)}: </span>)
    isCut = drawn(member, `${pad}  `, parts, room)
    if (isCut) break
    if (index < members.length - 1) parts.push(isFlat ? ', ' : ',')
  }
  if (!isFlat) parts.push(`\n${pad}`)
  parts.push(close)
  return isCut
}

function quoted(text: string): string {
  const cut = text.length > TEXT_LENGTH_DRAWN
  return `${shownLine(JSON.stringify(text.slice(0, TEXT_LENGTH_DRAWN)))}${cut ? '…' : ''}`
}

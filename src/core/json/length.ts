import type { Pieces } from '../document/pieces.js'
import { isSliceFull, passSteps } from '../document/work.js'
import { JSON_DEPTH_MAX } from '../limits.js'
import type { Json } from './value.js'

/** Text of a value that is walked wherever it is used. */
const SHORT_LENGTH = 64

/**
 * About how long the canonical JSON of a plain value is, in UTF-16 units. What is used in many
 * places counts each time and is walked once: so a value that is small in memory and large as text
 * can be refused before it is written out. Linear in what is in memory; at most as deep as JSON.
 */
export function writtenLength(value: unknown, known = new Map<object, number>()): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  const before = known.get(value)
  if (before !== undefined) return before
  let length = 2
  if (Array.isArray(value)) {
    for (const item of value) length += 1 + writtenLength(item, known)
  } else {
    for (const key of Object.keys(value)) {
      length += key.length + 4 + writtenLength((value as Record<string, unknown>)[key], known)
    }
  }
  // To walk what is short again is cheaper than to keep it.
  if (length <= SHORT_LENGTH) return length
  passSteps((Array.isArray(value) ? value : Object.keys(value)).length / VALUES_OF_STEP)
  known.set(value, length)
  return length
}

/** Values inside of a value from which work on it is done in pieces. */
const VALUES_AT_ONCE_MAX = 128
/** Depth of a definition made of the deepest document. */
const DEPTH_MAX = 2 * JSON_DEPTH_MAX
/** Values that are looked at for one step of work. */
const VALUES_OF_STEP = 4

/**
 * The objects and lists of plain data that have many values inside, those at any depth included:
 * what is not among them may be worked on at once.
 */
export function* findingLarge(value: unknown): Pieces<ReadonlySet<object>> {
  // Listing the members of a wide object for each object around it would be quadratic.
  const wide = new Set<object>()
  if (!isLarge(value, wide)) return none
  const large = new Set<object>()
  const around = new Set<object>()
  let isTooDeep = false
  function* visiting(part: object): Pieces<undefined> {
    large.add(part)
    around.add(part)
    isTooDeep ||= around.size > DEPTH_MAX + 1
    for (const member of Array.isArray(part) ? part : Object.values(part)) {
      if (isSliceFull()) yield
      if (isTooDeep) break
      if (around.has(member)) isTooDeep = true
      else if (!large.has(member) && isLarge(member, wide)) yield* visiting(member)
    }
    around.delete(part)
    return undefined
  }
  yield* visiting(value)
  // What is so deep, or a cycle, is refused as a whole.
  return isTooDeep ? none : large
}

const none: ReadonlySet<object> = new Set()

/** Whether an object or list has many values inside, those at any depth included. */
export function isLarge(value: unknown, wide = new Set<object>()): value is object {
  const size = sizeWithin(value, VALUES_AT_ONCE_MAX, wide)
  passSteps(size / VALUES_OF_STEP)
  return size > VALUES_AT_ONCE_MAX
}

/** How many values there are with those inside, or a number above the limit if it is more. */
function sizeWithin(value: unknown, limit: number, wide: Set<object>): number {
  if (typeof value !== 'object' || value === null) return 1
  if (wide.has(value)) return limit + 1
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  if (members.length > VALUES_AT_ONCE_MAX) {
    wide.add(value)
    return limit + 1
  }
  let size = 1
  for (const member of members) {
    if (size > limit) break
    size += sizeWithin(member, limit - size, wide)
  }
  return size
}

/** How many values are inside of plain data, which is not large. */
export function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    count += 1 + valuesIn(member)
  }
  return count
}

/** Whether a JSON value, or one at any depth inside of it, is what is looked for. */
export function* anyWithin(value: Json, isWanted: (value: Json) => boolean): Pieces<boolean> {
  const left: Json[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    passSteps(1 / VALUES_OF_STEP)
    if (isSliceFull()) yield
    if (isWanted(next)) return true
    if (typeof next !== 'object' || next === null) continue
    for (const member of Array.isArray(next) ? next : Object.values(next)) left.push(member)
  }
  return false
}

/** {@link writtenLength} in pieces. */
export function* writingLength(value: unknown): Pieces<number> {
  const large = yield* findingLarge(value)
  return large.has(value as object)
    ? yield* measuring(value as object, { large, known: new Map() })
    : writtenLength(value)
}

interface Measured {
  readonly large: ReadonlySet<object>
  readonly known: Map<object, number>
}

function* measuring(part: object, measured: Measured): Pieces<number> {
  const { large, known } = measured
  const before = known.get(part)
  if (before !== undefined) return before
  let length = 2
  for (const [key, member] of Object.entries(part as Readonly<Record<string, unknown>>)) {
    passSteps(1 / VALUES_OF_STEP)
    if (isSliceFull()) yield
    length += Array.isArray(part) ? 1 : key.length + 4
    length += large.has(member as object)
      ? yield* measuring(member as object, measured)
      : writtenLength(member, known)
  }
  known.set(part, length)
  return length
}

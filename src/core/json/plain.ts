import { types } from 'node:util'
import { JSON_DEPTH_MAX } from '../limits.js'
import { isLiteralPrototype } from './canonicalize.js'

/**
 * A value as JSON would write it where types allow more: members that are undefined are left out,
 * and a value without one is given back as it is. What else is no JSON stays, to be refused.
 */
export function withoutUndefined(value: unknown, depth = 0): unknown {
  // Deeper values are refused where they are written.
  if (typeof value !== 'object' || value === null || depth > JSON_DEPTH_MAX) return value
  if (types.isProxy(value)) return value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => withoutUndefined(item, depth + 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const members = plainMembers(value)
  if (members === undefined) return value
  let isSame = true
  const kept: [string, unknown][] = []
  for (const [key, member] of members) {
    const plain = withoutUndefined(member, depth + 1)
    if (plain !== member || member === undefined) isSame = false
    if (member !== undefined) kept.push([key, plain])
  }
  return isSame ? value : Object.fromEntries(kept)
}

/** Undefined for other objects than those of literals, and for accessors: nothing is called. */
function plainMembers(value: object): readonly (readonly [string, unknown])[] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isLiteralPrototype(prototype)) return undefined
  const members = Object.entries(Object.getOwnPropertyDescriptors(value))
  if (members.some(([, { get, set }]) => get !== undefined || set !== undefined)) return undefined
  return members
    .filter(([, one]) => one.enumerable)
    .map(([key, one]) => [key, one.value as unknown])
}

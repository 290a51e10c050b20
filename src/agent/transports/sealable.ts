import {
  canonicalizingLedgerValue,
  inTurns,
  isSliceFull,
  type Json,
  type Pieces,
  parseInTurns,
  passSteps
} from '../../core/index.js'

/**
 * A value from outside as the ledger can keep it (formats.md §1): fractions stay numbers, integers
 * beyond 2^53 - 1 become decimal text, and text becomes well-formed. Undefined for what it cannot
 * keep: keys that begin with `$`, numbers that JSON cannot carry, or too much depth. Large values
 * are looked at with turns of the event loop.
 */
export async function sealable(value: unknown): Promise<Json | undefined> {
  try {
    // The canonical text of what was just made is plain JSON, so reading it gives plain JSON.
    return await parseInTurns(await inTurns(sealing(value)))
  } catch {
    return undefined
  }
}

function* sealing(value: unknown): Pieces<string> {
  return yield* canonicalizingLedgerValue(yield* plain(value))
}

function* plain(value: unknown): Pieces<unknown> {
  passSteps(1)
  if (isSliceFull()) yield
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return isUnsafeInteger(value) ? decimalText(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* plain(item))
    return items
  }
  const members: [string, unknown][] = []
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) members.push([key.toWellFormed(), yield* plain(inner)])
  }
  return Object.fromEntries(members)
}

// A double that large has lost its last digits already; as text no code computes with it unaware.
function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** A finite number written out without an exponent: the shortest digits that mean it. */
export function decimalText(value: number): string {
  const shortest = String(value)
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(shortest)
  if (parts === null) return shortest
  const [, sign = '', first = '', rest = '', exponentText = '0'] = parts
  const digits = first + rest
  const point = 1 + Number(exponentText)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length)
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

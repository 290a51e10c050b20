import { canonicalizeLedgerValue, type Json } from '../../core/index.js'

/**
 * A value from outside as the ledger can keep it (formats.md §1): fractions stay numbers, integers
 * beyond 2^53 - 1 become decimal text, and text becomes well-formed. Undefined for what it cannot
 * keep: keys that begin with `$`, numbers that JSON cannot carry, or too much depth.
 */
export function sealable(value: unknown): Json | undefined {
  try {
    // The canonical text of what was just made is plain JSON, so reading it gives plain JSON.
    return JSON.parse(canonicalizeLedgerValue(plain(value))) as Json
  } catch {
    return undefined
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return isUnsafeInteger(value) ? decimalText(value) : value
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries.map(([key, inner]) => [key.toWellFormed(), plain(inner)]))
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

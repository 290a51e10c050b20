import type { Json } from '../json/value.js'

/** A plain scalar read as JSON, or why it is refused. */
export type ScalarReading =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string }

const words = new Map<string, Json>([
  ['', null],
  ['~', null],
  ['null', null],
  ['Null', null],
  ['NULL', null],
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false]
])
const integer = /^[-+]?(0|[1-9][0-9]*)$/
const decimal = /^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const ambiguous = /^(0x[0-9a-fA-F]+|0o[0-7]+|[-+]?0[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)$/
const notFinite = /^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/

/**
 * Reads an unquoted YAML scalar by the YAML 1.2 core schema, narrowed to what JSON can carry.
 *
 * Refused: NaN and infinities, integers outside the safe range, and forms that one reader takes for
 * a number and a person for text (`0xa9059cbb`, `0755`): those must be quoted or written in
 * decimal. Everything else is text, dates and `yes`/`no` included.
 */
export function readPlainScalar(text: string): ScalarReading {
  const word = words.get(text)
  if (word !== undefined) return { ok: true, value: word }
  if (notFinite.test(text)) return { ok: false, problem: `JSON has no ${text}` }
  if (ambiguous.test(text)) {
    return { ok: false, problem: `${text.slice(0, 80)} is a number to some readers; quote it` }
  }
  if (!integer.test(text) && !decimal.test(text)) return { ok: true, value: text }
  const value = Number(text)
  const problem = unsafeNumber(value)
  if (problem !== undefined) return { ok: false, problem }
  return { ok: true, value: Object.is(value, -0) ? 0 : value }
}

/** Why a number may not stand in a document, if it may not. */
export function unsafeNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return 'the number is too large'
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined
  return 'the integer is outside the safe range; write it as a quoted decimal string'
}

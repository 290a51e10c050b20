import { isTallyError, TallyError } from '../errors/error.js'
import { parse } from '../json/parse.js'
import type { Json } from '../json/value.js'
import { DOCUMENT_BYTES_MAX } from '../limits.js'
import { refuseDeepNesting } from './nesting.js'
import { placesIn } from './places.js'
import { malformedAt } from './position.js'
import { unsafeNumber } from './scalar.js'
import { STEPS_OF_CONTAINER, STEPS_OF_SCALAR, spendWork } from './work.js'
import { type DocumentPath, readYaml } from './yaml.js'

/**
 * Reads a document, YAML or JSON text, as a plain JSON value (formats.md §10).
 *
 * At most {@link DOCUMENT_BYTES_MAX} bytes of UTF-8 and 64 levels, both checked before parsing.
 * YAML is narrowed to what JSON can say: no anchors, aliases, tags, merge keys, duplicate keys,
 * `__proto__`, NaN, infinities or unsafe integers. Dates, `yes` and `no` are text. Text that begins
 * with a bracket and is JSON goes through the strict JSON reader.
 *
 * Throws `document.malformed` with line and column, or `core.limit_exceeded`.
 *
 * @example readDocument('name: demo\nsteps: [1, 2]') // { name: 'demo', steps: [1, 2] }
 */
export function readDocument(text: string): Json {
  refuseLargeText(text)
  if (text.charCodeAt(0) === 0xfeff) {
    throw malformedAt(text, 0, 'it begins with a byte-order mark')
  }
  refuseDeepNesting(text)
  return /^\s*[[{]/.test(text) ? readBracketed(text) : readYaml(text)
}

function refuseLargeText(text: string): void {
  const bytes = text.length > DOCUMENT_BYTES_MAX ? text.length : Buffer.byteLength(text)
  if (bytes > DOCUMENT_BYTES_MAX) {
    throw new TallyError('core.limit_exceeded', {
      what: 'The document',
      actual: `${bytes} bytes`,
      limit: `${DOCUMENT_BYTES_MAX} bytes`
    })
  }
}

function readBracketed(text: string): Json {
  let value: Json
  try {
    value = parse(text)
  } catch (error) {
    if (!isTallyError(error, 'core.malformed_json')) throw error
    // YAML in flow style begins with a bracket too; a quoted first key says that JSON was meant.
    if (!/^\s*(\{\s*["}]|\[\s*[[{"\]])/.test(text)) return readYaml(text)
    throw malformedAt(text, Number(error.context.offset), String(error.context.problem))
  }
  refuseUnsafeMembers(text, value, [])
  return value
}

function refuseUnsafeMembers(text: string, value: Json, path: (string | number)[]): void {
  const isContainer = typeof value === 'object' && value !== null
  spendWork(isContainer ? STEPS_OF_CONTAINER : STEPS_OF_SCALAR)
  if (typeof value === 'number') {
    const problem = unsafeNumber(value)
    if (problem !== undefined) throw atPath(text, path, problem)
  }
  if (!isContainer) return
  const members: Iterable<readonly [string | number, Json]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value)
  for (const [key, member] of members) {
    path.push(key)
    if (key === '__proto__') {
      // The YAML reader refuses the same key and knows its exact place.
      readYaml(text)
      throw atPath(text, path, 'the key "__proto__" is not allowed')
    }
    refuseUnsafeMembers(text, member, path)
    path.pop()
  }
}

function atPath(text: string, path: DocumentPath, problem: string): TallyError {
  return new TallyError('document.malformed', { ...placesIn(text)(path), problem })
}

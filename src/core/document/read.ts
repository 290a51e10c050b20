import { coreError, isTallyError } from '../errors/error.js'
import { type JsonWatch, reading } from '../json/parse.js'
import type { Json } from '../json/value.js'
import { DOCUMENT_BYTES_MAX, DOCUMENT_YAML_BYTES_MAX } from '../limits.js'
import { refusingDeepNesting } from './nesting.js'
import { atOnce, type Pieces } from './pieces.js'
import { type Locate, placesIn } from './places.js'
import { malformedAt } from './position.js'
import { unsafeNumber } from './scalar.js'
import { payWork, STEPS_OF_CONTAINER, STEPS_OF_SCALAR } from './work.js'
import { readingYaml } from './yaml.js'

/**
 * Reads a document, YAML or JSON text, as a plain JSON value (formats.md §10).
 *
 * At most {@link DOCUMENT_BYTES_MAX} bytes of UTF-8, {@link DOCUMENT_YAML_BYTES_MAX} of YAML that
 * is no JSON, and 64 levels, all checked before parsing. YAML is narrowed to what JSON can say: no
 * anchors, aliases, tags, merge keys, duplicate keys, `__proto__`, NaN, infinities or unsafe
 * integers. Dates, `yes` and `no` are text. Text that begins
 * with a bracket and is JSON goes through the strict JSON reader.
 *
 * Throws `document.malformed` with line and column, or `core.limit_exceeded`.
 *
 * @example readDocument('name: demo\nsteps: [1, 2]') // { name: 'demo', steps: [1, 2] }
 */
export function readDocument(text: string): Json {
  return atOnce(readingDocument(text)).value
}

/** A document's text as a value, and where its parts stand. */
export interface DocumentText {
  readonly value: Json
  readonly locate: Locate
}

/** {@link readDocument} in pieces: other work may be done wherever it yields. */
export function* readingDocument(text: string): Pieces<DocumentText> {
  refuseLargeText(text, 'The document', DOCUMENT_BYTES_MAX)
  if (text.charCodeAt(0) === 0xfeff) {
    throw malformedAt(text, 0, 'it begins with a byte-order mark')
  }
  yield* refusingDeepNesting(text)
  const value = beginsWithBracket.test(text) ? yield* readingBracketed(text) : undefined
  if (value !== undefined) return { value, locate: placesIn(text, 'json') }
  refuseLargeText(text, 'The document, which is YAML and not JSON,', DOCUMENT_YAML_BYTES_MAX)
  return { value: yield* readingYaml(text), locate: placesIn(text, 'yaml') }
}

const beginsWithBracket = /^\s*[[{]/
/** YAML in flow style begins with a bracket too; a quoted first key says that JSON was meant. */
const isMeantAsJson = /^\s*(\{\s*["}]|\[\s*[[{"\]])/

function refuseLargeText(text: string, what: string, limit: number): void {
  const bytes = text.length > limit ? text.length : Buffer.byteLength(text)
  if (bytes <= limit) return
  const [actual, most] = [`${bytes} bytes`, `${limit} bytes`]
  throw coreError('core.limit_exceeded', { what, actual, limit: most })
}

/** Undefined for a text that is no JSON and may be YAML. */
function* readingBracketed(text: string): Pieces<Json | undefined> {
  const check = new MemberCheck()
  try {
    const value = yield* reading(text, check)
    check.refuse(text)
    return value
  } catch (error) {
    if (!isTallyError(error, 'core.malformed_json')) throw error
    if (!isMeantAsJson.test(text)) return undefined
    throw malformedAt(text, Number(error.context.offset), String(error.context.problem))
  }
}

/** Pays for what is read, and finds the first part that JSON has and a document has not. */
class MemberCheck implements JsonWatch {
  #found: { readonly offset: number; readonly problem: string } | undefined

  key(key: string, offset: number): void {
    if (key === '__proto__') this.#found ??= { offset, problem: `the key "${key}" is not allowed` }
  }

  value(value: Json, offset: number): void {
    const isContainer = typeof value === 'object' && value !== null
    payWork(isContainer ? STEPS_OF_CONTAINER : STEPS_OF_SCALAR)
    if (typeof value !== 'number' || this.#found !== undefined) return
    const problem = unsafeNumber(value)
    if (problem !== undefined) this.#found = { offset, problem }
  }

  refuse(text: string): void {
    if (this.#found !== undefined) throw malformedAt(text, this.#found.offset, this.#found.problem)
  }
}

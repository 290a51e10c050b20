import { blockError, isTallyError, type TallyError } from './errors/error.js'
import { canonicalizeLedgerValue } from './json/canonicalize.js'
import { isJsonObject, type Json } from './json/value.js'
import {
  EXCEPTION_CAUSES_MAX,
  EXCEPTION_FRAMES_MAX,
  EXCEPTION_LENGTH_READ_MAX,
  EXCEPTION_TEXT_LENGTH_MAX,
  THROWN_TEXT_LENGTH_MAX,
  VALUE_BYTES_MAX
} from './limits.js'
import { bytesOver, shownText } from './text.js'

/** A member of whatever was thrown; undefined when it cannot be read. Never throws itself. */
export function thrownMember(thrown: unknown, key: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  try {
    return Reflect.get(thrown, key)
  } catch {
    return undefined
  }
}

/** `instanceof`, which a proxy can make throw. */
export function isThrown<Type>(
  thrown: unknown,
  type: abstract new (...given: never[]) => Type
): thrown is Type {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}

/** Keeps a promise that a synchronous function has returned from ending the process. */
export function ignoreRejection(value: unknown): void {
  if (isThrown(value, Promise)) Promise.prototype.catch.call(value, () => undefined)
}

/** Text of whatever was thrown, fit for a journal; never throws itself. */
export function plainText(value: unknown): string {
  try {
    // Cut first: a cut may leave half of a character behind.
    return String(value).slice(0, THROWN_TEXT_LENGTH_MAX).toWellFormed()
  } catch {
    return typeof value
  }
}

/** Details of a failure, fit for a journal: what is not plain JSON is named instead of kept. */
export function plainDetails(details: unknown): Json {
  try {
    const text = canonicalizeLedgerValue(details ?? null)
    const bytes = bytesOver(text, VALUE_BYTES_MAX)
    return bytes === undefined ? (JSON.parse(text) as Json) : { details_too_large: bytes }
  } catch (error) {
    return {
      details_invalid: isTallyError(error)
        ? plainText(thrownMember(error, 'code'))
        : 'core.not_json'
    }
  }
}

/** How a run was refused: its id, and the failed response that it would have ended with. */
export interface RefusedRun {
  readonly id: string
  readonly response: { readonly reason?: string; readonly details?: Json }
}

/** What `start` rejects with where `begin` gives this result; its cause is the response. */
export function refusedError({ id, response }: RefusedRun): TallyError<'run.refused'> {
  const { reason = '', details } = response
  const found = isJsonObject(details) ? details['diagnostics'] : undefined
  const [first, ...more] = Array.isArray(found) ? (found as readonly Json[]) : []
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  const problem = first === undefined ? reason : `${diagnosticText(first)}${others}`
  return blockError('run.refused', { runId: id, problem }, { cause: response })
}

function diagnosticText(diagnostic: Json): string {
  if (!isJsonObject(diagnostic)) return shownText(diagnostic)
  const { path, message } = diagnostic
  const place = Array.isArray(path) ? path.join('.') : ''
  return `${place === '' ? '' : `${shownText(place)}: `}${shownText(message)}`
}

/**
 * Something that was thrown, for people: plain JSON, bounded, without known secrets. It stands in
 * no record that is hashed, since texts and places of code differ between processes (D4).
 */
export type Exception = {
  readonly name: string
  readonly message: string
  /** Where it was thrown, the innermost first: lines of its stack. */
  readonly stack: readonly string[]
  /** Of an error of the system: `ECONNREFUSED`. */
  readonly code?: string
  readonly cause?: Exception
}

/** Describes what was thrown; `clean` takes secrets out of a text. Never throws. */
export function exceptionOf(
  thrown: unknown,
  clean: (text: string) => string,
  causes = EXCEPTION_CAUSES_MAX
): Exception {
  const read = (key: string) => thrownMember(thrown, key)
  const isObject = typeof thrown === 'object' && thrown !== null
  const code = read('code')
  const cause = read('cause')
  return {
    name: textOf(isObject ? (read('name') ?? 'object') : typeof thrown, clean),
    message: textOf(isObject ? (read('message') ?? '') : thrown, clean),
    stack: framesOf(read('stack'), clean),
    ...(typeof code === 'string' ? { code: textOf(code, clean) } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: exceptionOf(cause, clean, causes - 1) })
  }
}

/** An exception that was kept; undefined for anything else. */
export function exceptionIn(value: Json, causes = EXCEPTION_CAUSES_MAX): Exception | undefined {
  if (!isJsonObject(value)) return undefined
  const { name, message, stack, code, cause } = value
  if (typeof name !== 'string' || typeof message !== 'string' || !isTexts(stack)) return undefined
  const inner = cause === undefined || causes === 0 ? undefined : exceptionIn(cause, causes - 1)
  return {
    name,
    message,
    stack: stack.slice(0, EXCEPTION_FRAMES_MAX),
    ...(typeof code === 'string' ? { code } : {}),
    ...(inner === undefined ? {} : { cause: inner })
  }
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function textOf(value: unknown, clean: (text: string) => string): string {
  try {
    // Secrets are looked for before the text is cut to what is shown.
    const text = clean(String(value).slice(0, EXCEPTION_LENGTH_READ_MAX).toWellFormed())
    return text.slice(0, EXCEPTION_TEXT_LENGTH_MAX).toWellFormed()
  } catch {
    return typeof value
  }
}

function framesOf(stack: unknown, clean: (text: string) => string): readonly string[] {
  if (typeof stack !== 'string') return []
  return stack
    .slice(0, EXCEPTION_LENGTH_READ_MAX)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, EXCEPTION_FRAMES_MAX)
    .map((line) => textOf(line.trim(), clean))
}

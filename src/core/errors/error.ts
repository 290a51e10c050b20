import { types } from 'node:util'
import type { ErrorCode, errorCatalogue } from './codes.js'
import type { CodeTexts, Texts } from './texts.js'

/** The names inside `{braces}` of a catalogue message; they are the error's context. */
type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

type Catalogue = typeof errorCatalogue

/** Context an error of this code carries: one printable value for each placeholder. */
export type ErrorContext<Code extends ErrorCode> = Readonly<
  Record<Placeholder<Catalogue[Code]['message'] | Catalogue[Code]['fix']>, string | number>
>

const footprint = Symbol.for('tallystick/TallyError')

/**
 * The one error class. Thrown for misuse and for corruption; expected failures are data.
 * `code` is stable and never reused, `message` says what happened, `fix` says what to do.
 * Recognise it with {@link isTallyError}, which also works across duplicate installs.
 */
export class TallyError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'TallyError'
  readonly code: Code
  readonly context: ErrorContext<Code>
  readonly fix: string

  constructor(
    code: Code,
    { message, fix }: Texts,
    context: ErrorContext<Code>,
    options: ErrorOptions = {}
  ) {
    super(message, options)
    this.code = code
    this.context = context
    this.fix = fix
    Object.defineProperty(this, footprint, { value: true })
  }
}

/** Makes errors of the codes of a table. */
export type ErrorsOf<Name> = <Code extends Name & ErrorCode>(
  code: Code,
  context: ErrorContext<Code>,
  options?: ErrorOptions
) => TallyError<Code>

/** What makes errors of the codes of a table: their texts are those of the table. */
export function errorsOf<Name extends string>(table: CodeTexts<Name>): ErrorsOf<Name> {
  return function errorOf(code, context, options) {
    const { message, fix } = table[code]
    const texts = { message: fill(message, context), fix: fill(fix, context) }
    const error = new TallyError(code, texts, context, options)
    // The stack begins with who called.
    Error.captureStackTrace(error, errorOf)
    return error
  }
}

/** Whether `error` is a TallyError, and of `code` when one is given (narrows `context`). */
export function isTallyError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code
): error is TallyError<Code> {
  if (typeof error !== 'object' || error === null) return false
  try {
    return footprint in error && (code === undefined || Reflect.get(error, 'code') === code)
  } catch {
    // A proxy may throw whatever is asked of it.
    return false
  }
}

function fill(template: string, context: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(context[name]))
}

/**
 * Whether something thrown is an error, of another realm too: where a test runner executes modules
 * in a realm of their own, what Node throws is none of their `Error`.
 */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown)
}

/** The system's name of an error, such as ENOENT. */
export function errorNumber(error: unknown): string | undefined {
  if (!isError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

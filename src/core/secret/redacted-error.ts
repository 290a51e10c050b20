import { type ErrorContext, isError, isTallyError, TallyError } from '../errors/error.js'
import type { Redactor } from './redactor.js'

/** Deeper causes are left out. */
const CAUSES_MAX = 8

/** An error without known secrets, in its causes neither; the same one where it holds none. */
export function redactedError(error: unknown, redactor: Redactor, causes = 0): unknown {
  if (redactor.isEmpty) return error
  if (typeof error === 'string') return redactor.text(error)
  if (!isError(error)) return error
  const cause = causes < CAUSES_MAX ? redactedError(error.cause, redactor, causes + 1) : undefined
  const message = redactor.text(error.message)
  if (isTallyError(error)) {
    const entries = Object.entries<string | number>(error.context).map(
      ([name, value]) => [name, typeof value === 'string' ? redactor.text(value) : value] as const
    )
    if (message === error.message && cause === error.cause && entries.every(isOf(error))) {
      return error
    }
    // The same names as before.
    const context = Object.fromEntries(entries) as ErrorContext<typeof error.code>
    return new TallyError(error.code, context, cause === undefined ? {} : { cause })
  }
  if (message === error.message && cause === error.cause) return error
  const clean = new Error(message, cause === undefined ? {} : { cause })
  // The stack repeats the message.
  clean.name = error.name
  clean.stack = redactor.text(error.stack ?? '')
  return 'code' in error ? Object.assign(clean, { code: error.code }) : clean
}

function isOf(error: TallyError) {
  const context: Readonly<Record<string, string | number>> = error.context
  return ([name, value]: readonly [string, string | number]) => context[name] === value
}

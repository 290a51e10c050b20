import { type ErrorContext, isError, isTallyError, TallyError } from '../errors/error.js'
import type { Redactor } from './redactor.js'

/** Deeper causes are left out. */
const CAUSES_MAX = 8

/** Gives each text of an error, takes it back without secrets, and returns the error without. */
type Cleaning = Generator<string, unknown, string>

/**
 * An error without known secrets, in its causes neither; the same one where it holds none. Its
 * texts may be as long as what it is about: they are searched with turns of the event loop.
 */
export async function redactedError(error: unknown, redactor: Redactor): Promise<unknown> {
  if (redactor.isEmpty) return error
  const cleaning = cleaningError(error, 0)
  let step = cleaning.next()
  while (step.done !== true) step = cleaning.next(await redactor.inTurns('text', step.value))
  return step.value
}

/** The same at once, for an error whose texts are short. */
export function redactedErrorAtOnce(error: unknown, redactor: Redactor): unknown {
  if (redactor.isEmpty) return error
  const cleaning = cleaningError(error, 0)
  let step = cleaning.next()
  while (step.done !== true) step = cleaning.next(redactor.text(step.value))
  return step.value
}

function* cleaningError(error: unknown, causes: number): Cleaning {
  if (typeof error === 'string') return yield error
  if (!isError(error)) return error
  const cause = causes >= CAUSES_MAX ? undefined : yield* cleaningError(error.cause, causes + 1)
  const message = yield error.message
  const more = cause === undefined ? {} : { cause }
  if (isTallyError(error)) {
    const entries: [string, string | number][] = []
    for (const [name, value] of Object.entries<string | number>(error.context)) {
      entries.push([name, typeof value === 'string' ? yield value : value])
    }
    if (message === error.message && cause === error.cause && entries.every(isOf(error))) {
      return error
    }
    const fix = yield error.fix
    // The same names as before.
    const context = Object.fromEntries(entries) as ErrorContext<typeof error.code>
    return new TallyError(error.code, { message, fix }, context, more)
  }
  if (message === error.message && cause === error.cause) return error
  const copy = new Error(message, more)
  // The stack repeats the message.
  copy.name = error.name
  copy.stack = yield error.stack ?? ''
  return 'code' in error ? Object.assign(copy, { code: error.code }) : copy
}

function isOf(error: TallyError) {
  const context: Readonly<Record<string, string | number>> = error.context
  return ([name, value]: readonly [string, string | number]) => context[name] === value
}

import { type ErrorContext, isError, isTallyError, TallyError } from '../errors/error.js'
import type { Redactor } from './redactor.js'

/** Deeper causes are left out. */
const CAUSES_MAX = 8

/**
 * An error without known secrets, in its causes neither; the same one where it holds none. Its
 * texts may be as long as what it is about: they are searched with turns of the event loop.
 */
export async function redactedError(
  error: unknown,
  redactor: Redactor,
  causes = 0
): Promise<unknown> {
  if (redactor.isEmpty) return error
  const clean = (text: string) => redactor.inTurns('text', text)
  if (typeof error === 'string') return clean(error)
  if (!isError(error)) return error
  const isDeep = causes >= CAUSES_MAX
  const cause = isDeep ? undefined : await redactedError(error.cause, redactor, causes + 1)
  const message = await clean(error.message)
  const more = cause === undefined ? {} : { cause }
  if (isTallyError(error)) {
    const entries: [string, string | number][] = []
    for (const [name, value] of Object.entries<string | number>(error.context)) {
      entries.push([name, typeof value === 'string' ? await clean(value) : value])
    }
    if (message === error.message && cause === error.cause && entries.every(isOf(error))) {
      return error
    }
    // The same names as before.
    const context = Object.fromEntries(entries) as ErrorContext<typeof error.code>
    return new TallyError(error.code, context, more)
  }
  if (message === error.message && cause === error.cause) return error
  const copy = new Error(message, more)
  // The stack repeats the message.
  copy.name = error.name
  copy.stack = await clean(error.stack ?? '')
  return 'code' in error ? Object.assign(copy, { code: error.code }) : copy
}

function isOf(error: TallyError) {
  const context: Readonly<Record<string, string | number>> = error.context
  return ([name, value]: readonly [string, string | number]) => context[name] === value
}

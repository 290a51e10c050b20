import { type Json, type Redactor, redactedError, redactedErrorAtOnce } from '../../core/index.js'
import type { OwnerHandler } from '../../ledger/index.js'

/** The same service, in whose results, events and errors no secret is that this process knows. */
export function redactedService(handle: OwnerHandler, redactor: Redactor): OwnerHandler {
  const refused = async (error: unknown) => Promise.reject(await redactedError(error, redactor))
  return (request) => {
    let answer: ReturnType<OwnerHandler>
    try {
      answer = handle(request)
    } catch (error) {
      // A caller that reads a stream has to see it at once; such an error has only names of a
      // request, which are short.
      throw redactedErrorAtOnce(error, redactor)
    }
    if (Symbol.asyncIterator in answer) return redactedEvents(answer, redactor)
    return answer.then((result) => redactor.inTurns('json', result), refused)
  }
}

async function* redactedEvents(
  events: AsyncIterable<Json>,
  redactor: Redactor
): AsyncGenerator<Json> {
  try {
    for await (const event of events) yield await redactor.inTurns('json', event)
  } catch (error) {
    throw await redactedError(error, redactor)
  }
}

/** A warning for the owner of the ledger that names the secrets that are not sought. */
export function exemptSecrets({ exempt }: Redactor): readonly string[] {
  if (exempt.length === 0) return []
  const names = exempt.join(', ')
  return [`too short to be looked for in what comes back, fewer than 8 characters: ${names}`]
}

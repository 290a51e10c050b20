import { type AttemptKey, type JournalEntry, placeKey } from '../../block/index.js'
import type { Response } from '../../code/index.js'
import { blockError, type Json, type RunId } from '../../core/index.js'
import type { JournalEntry as Stored } from '../../ledger/index.js'
import type { ComparedRuns } from './compared-runs.js'
import type { Call, Calls } from './picture-types.js'
import type { QueryParts } from './query-parts.js'

/**
 * What one attempt asked for and got. Answers stand in the journal; of requests it has the hashes,
 * so the attempt's code is executed again on its answers, and what it asks for is shown where the
 * hash is that of the journal (Q3). Throws `run.not_found`, and the codes of what is not as signed.
 */
export async function callsOf(
  parts: Pick<QueryParts, 'ledger' | 'running'> & { readonly compared: ComparedRuns },
  id: RunId,
  place: AttemptKey
): Promise<Calls> {
  const { ledger, compared } = parts
  const record = ledger.run(id, { durable: true })
  if (record === undefined) throw blockError('run.not_found', { runId: id })
  const isOfPlace = mayBeOf(place)
  const known = await answersIn(compared.journal(record, { isMeant: isOfPlace }), place, isOfPlace)
  const again = await requestsOf(parts, id, place)
  const calls = [...known.answers.values()].map((call): Call => {
    const asked = known.requests.get(call.seq) ?? again.calls.get(call.seq)
    const isSame = asked?.requestHash === call.requestHash
    return { ...call, request: isSame ? asked.request : null }
  })
  calls.sort((one, other) => one.seq - other.seq)
  return { calls, input: again.input, output: known.output, notChecked: again.notChecked }
}

/** Whether an entry may be about a place, by its canonical text: most need not be parsed. */
function mayBeOf({ path, step }: AttemptKey): (text: string) => boolean {
  const named = `"path":${JSON.stringify(path)}`
  const numbered = [`"step":${step},`, `"step":${step}}`]
  return (text) => text.includes(named) && numbered.some((one) => text.includes(one))
}

interface Asked {
  readonly request: Json
  readonly requestHash: string
}

/** What the journal says of an attempt. */
async function answersIn(
  journal: AsyncIterable<readonly Stored[]>,
  place: AttemptKey,
  isOfPlace: (text: string) => boolean
): Promise<{
  readonly answers: ReadonlyMap<number, Call>
  /** Of waits, whose requests stand in the journal. */
  readonly requests: ReadonlyMap<number, Asked>
  readonly output: Response | null
}> {
  const answers = new Map<number, Call>()
  const requests = new Map<number, Asked>()
  let output: Response | null = null
  for await (const part of journal) {
    for (const stored of part) {
      if (!isOfPlace(stored.text)) continue
      // The journal gives back what the runtime has written.
      const entry = stored.value as unknown as JournalEntry
      if (!('attempt' in entry) || placeKey(entry) !== placeKey(place)) continue
      if (entry.k === 'sealed') {
        const { seq, effect, requestHash, body = null, responseHash, salt, ok } = entry
        const response = { response: body, responseHash, salt, ok }
        answers.set(seq, { seq, effect, request: null, requestHash, ...response })
      } else if (entry.k === 'wait' && entry.seq !== null) requests.set(entry.seq, entry)
      else if (entry.k === 'rewound') for (const seq of entry.dropped) answers.delete(seq)
      else if (entry.k === 'settled') output = entry.response
    }
  }
  return { answers, requests, output }
}

type Requests = {
  readonly calls: ReadonlyMap<number, Asked>
  readonly input: Json
  readonly notChecked: readonly string[]
}

async function requestsOf(
  { ledger, running }: Pick<QueryParts, 'ledger' | 'running'>,
  runId: RunId,
  place: AttemptKey
): Promise<Requests> {
  if (running === undefined) {
    return { calls: new Map(), input: null, notChecked: ['requests: no code is here'] }
  }
  const { callsAgain } = await import('./attempt-recording.js')
  return callsAgain(ledger, running.registry, { runId, place })
}

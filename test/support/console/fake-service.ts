import { blockError, type Json, type JsonObject, ledgerError } from '../../../src/core/index.js'
import type { OwnerHandler, OwnerRequest } from '../../../src/ledger/index.js'

/**
 * A service that does nothing and says what it was asked: results name their method, `runs` gives
 * two events, `feed` gives what a test pushes after `since`, until its caller ends it.
 */
export class FakeService {
  readonly asked: { readonly method: string; readonly params: Json }[] = []
  /** How many followers of the feed there are now. */
  followers = 0
  readonly #events: JsonObject[] = []
  #changed: () => void = () => undefined

  readonly handle: OwnerHandler = (request) => {
    const { method, params } = request
    this.asked.push({ method, params })
    if (method === 'feed') return this.#feed(request)
    if (method === 'runs') return two()
    if (method === 'receipts') return broken()
    if (method === 'show') throw blockError('run.not_found', { runId: 'none' })
    return Promise.resolve({ method, readOnly: false })
  }

  push(...events: readonly JsonObject[]): void {
    this.#events.push(...events)
    this.#changed()
  }

  async *#feed({ params, signal }: OwnerRequest): AsyncGenerator<Json> {
    const { since } = params as { readonly since?: string }
    const isSince = (event: JsonObject) => since !== undefined && event['place'] === since
    let next = this.#events.findIndex(isSince) + 1
    this.followers += 1
    signal.addEventListener('abort', () => this.#changed())
    try {
      while (!signal.aborted) {
        const event = this.#events[next]
        if (event !== undefined) {
          next += 1
          yield event
          continue
        }
        await new Promise<void>((resolve) => {
          const before = this.#changed
          this.#changed = () => {
            before()
            resolve()
          }
        })
      }
    } finally {
      this.followers -= 1
    }
  }
}

async function* two(): AsyncGenerator<Json> {
  yield { id: 'first' }
  yield { id: 'second' }
}

async function* broken(): AsyncGenerator<Json> {
  yield { index: 0 }
  throw ledgerError('ledger.closed', {})
}

/** An entry of the feed. */
export const entryAt = (seq: number): JsonObject => ({
  place: `${seq}.0`,
  type: 'entry',
  runId: 'run',
  entry: { seq }
})

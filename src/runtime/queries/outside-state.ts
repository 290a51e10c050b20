import { isTallyError, type Json, limits, type Redactor, runtimeError } from '../../core/index.js'
import type { Ledger, PastLedger, PastValues } from '../../ledger/index.js'
import type { Page } from './query-types.js'

/** A key of the state, and its value; null where its body is withheld. */
export interface StateEntry {
  readonly key: string
  readonly value: Json
}

/** Which keys of a list. */
export interface StateListOptions {
  /** Keys of the page: 50 by default, `limits.PAGE_ITEMS_MAX` at most. */
  readonly limit?: number
  /** `next` of the page before, or any key: the page begins behind it. */
  readonly after?: string | null
}

/** The state of the ledger as it is on disk, read from outside of runs. */
export interface OutsideState {
  /** The value of a key; undefined where it is absent. */
  get(key: string): Promise<Json | undefined>
  /** Keys that begin with `prefix`, in the order of their UTF-8 bytes, with their values. */
  list(prefix?: string, options?: StateListOptions): Promise<Page<StateEntry>>
}

/**
 * {@link OutsideState} of a ledger: what the last durable receipt has left. Secrets that a redactor
 * knows are taken out.
 */
export function outsideState(
  ledger: Pick<Ledger, 'past' | 'read' | 'durable' | 'state'>,
  redactor?: Redactor
): OutsideState {
  const shown = async (text: string): Promise<Json> => {
    const value = JSON.parse(text) as Json
    return (await redactor?.inTurns('json', value)) ?? value
  }
  const list = async (
    prefix = '',
    { limit = limits.PAGE_ITEMS_DEFAULT, after }: StateListOptions = {}
  ): Promise<Page<StateEntry>> => {
    checkLimit(limit)
    const found = await valuesNow(await ledger.past(), { prefix, after: after ?? undefined, limit })
    const items: StateEntry[] = []
    for (const { key, text } of found.values) {
      items.push({ key, value: text === undefined ? null : await shown(text) })
    }
    return { items, next: found.next ?? null }
  }
  return {
    list,
    get: async (key) => {
      // A ledger that is whole has its state at hand, compared with its root as it is read.
      if (ledger.state().mode === 'ready') {
        const text = ledger.read(key)
        await ledger.durable(Number.MAX_SAFE_INTEGER)
        return text === undefined ? undefined : shown(text)
      }
      // The key itself comes before all that begin with it.
      const { items } = await list(key, { limit: 1 })
      return items[0]?.key === key ? items[0].value : undefined
    }
  }
}

/** A value that a run changes meanwhile may stand in an archive, as of the receipt before. */
async function valuesNow(
  past: PastLedger,
  page: Omit<Parameters<PastLedger['values']>[0], 'asOf'>
): Promise<PastValues> {
  for (let again = 0; ; again += 1) {
    if (past.receipts === 0) return { values: [], next: undefined }
    try {
      return await past.values({ ...page, asOf: past.receipts - 1 })
    } catch (error) {
      if (!isTallyError(error, 'ledger.archived') || again === limits.STATE_READS_AGAIN_MAX)
        throw error
    }
  }
}

function checkLimit(limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= limits.PAGE_ITEMS_MAX) return
  const problem = `limit is no whole number from 1 to ${limits.PAGE_ITEMS_MAX}`
  throw runtimeError('service.invalid_params', { method: 'state', problem })
}

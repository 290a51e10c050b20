import type { JournalEntry, Provider } from '../../block/index.js'
import type { BlockContext, EffectCall } from '../../code/index.js'
import { isJsonObject, type Json, type RunId } from '../../core/index.js'
import type { Budget } from '../policy/bounds.js'

/** Effect by which a node takes what it is about to give away from what its run may spend. */
export const SPEND_EFFECT = 'ais.spend'

type Amounts = ReadonlyMap<string, bigint>

/** By place: a node and which of its executions. */
type Taken = Map<string, Amounts>

/** Reads what the journal of a run has of an effect. */
export type ReadJournal = (runId: RunId, text: string) => Promise<readonly JournalEntry[]>

/**
 * What runs have spent of what they may, all nodes together (W15).
 *
 * Owns: the amounts that nodes of runs in this process have taken. Does not own: the answers, which
 * are sealed, so that a run replays without it and a process that resumes a run reads them.
 *
 * 1. Amounts are taken before anything is prepared, so what is spent was taken.
 * 2. One execution of a node takes once, however often it is tried again.
 */
export class RunBudgets {
  readonly provider: Provider
  readonly #runs = new Map<RunId, Promise<Taken>>()
  #read: ReadJournal = async () => []

  constructor() {
    this.provider = { name: SPEND_EFFECT, perform: (call) => this.#take(call) }
  }

  useJournals(read: ReadJournal): void {
    this.#read = read
  }

  /** A run has left memory: all that it has taken is in its journal. */
  forget(runId: RunId): void {
    this.#runs.delete(runId)
  }

  async #take({ request, runId }: EffectCall): Promise<Json> {
    const asked = askedIn(request)
    const taken = runId === undefined ? new Map() : await this.#takenOf(runId)
    const totals = sums(taken, asked.place, asked.amounts)
    const beyond = [...asked.bounds].filter(([asset, bound]) => (totals.get(asset) ?? 0n) > bound)
    const isGranted = beyond.length === 0
    if (isGranted) taken.set(asked.place, asked.amounts)
    return {
      granted: isGranted,
      place: asked.place,
      amounts: plain(asked.amounts),
      totals: plain(totals),
      beyond: beyond.map(([asset]) => asset)
    }
  }

  #takenOf(runId: RunId): Promise<Taken> {
    const known = this.#runs.get(runId)
    if (known !== undefined) return known
    const reading = this.#fromJournal(runId)
    this.#runs.set(runId, reading)
    reading.catch(() => this.#runs.delete(runId))
    return reading
  }

  async #fromJournal(runId: RunId): Promise<Taken> {
    const taken: Taken = new Map()
    for (const entry of await this.#read(runId, `"effect":"${SPEND_EFFECT}"`)) {
      if (entry.k !== 'sealed' || entry.effect !== SPEND_EFFECT || !entry.ok) continue
      const { body } = entry
      if (!isJsonObject(body) || body['granted'] !== true) continue
      taken.set(String(body['place']), amountsIn(body['amounts'] ?? null))
    }
    return taken
  }
}

function askedIn(request: Json) {
  const { place = '', amounts = null, bounds = null } = isJsonObject(request) ? request : {}
  return { place: String(place), amounts: amountsIn(amounts), bounds: amountsIn(bounds) }
}

function amountsIn(value: Json): Amounts {
  if (!isJsonObject(value)) return new Map()
  return new Map(Object.entries(value).map(([asset, amount]) => [asset, BigInt(String(amount))]))
}

function plain(amounts: Amounts): Json {
  return Object.fromEntries([...amounts].map(([asset, amount]) => [asset, amount.toString()]))
}

/** What a run has spent of each asset when one place takes these amounts. */
function sums(taken: Taken, place: string, amounts: Amounts): Amounts {
  const totals = new Map(amounts)
  for (const [other, spent] of taken) {
    if (other === place) continue
    for (const [asset, amount] of spent) {
      const before = totals.get(asset)
      if (before !== undefined) totals.set(asset, before + amount)
    }
  }
  return totals
}

/**
 * Takes what an execution of a node gives away; a text for people when the run may not spend that
 * much. The answer is sealed.
 */
export async function takeBudget(
  ctx: BlockContext,
  { amounts, bounds }: Budget,
  execution: number
): Promise<string | undefined> {
  const request: Json = { place: `${ctx.unitId}:${execution}`, amounts, bounds }
  const answer = await ctx.effect<Json>(SPEND_EFFECT, { request, sideEffects: 'none' })
  if (!isJsonObject(answer) || answer['granted'] === true) return undefined
  const { beyond, totals = null } = answer
  const assets = Array.isArray(beyond) ? beyond.map(String) : []
  const spent = isJsonObject(totals) ? totals : {}
  return assets
    .map((asset) => `the run would spend ${spent[asset]} of ${asset}, beyond ${bounds[asset]}`)
    .join('; ')
}

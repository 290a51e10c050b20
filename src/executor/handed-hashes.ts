import type { JournalEntry } from '../block/index.js'
import { type Hash, isJsonObject, type Json, type JsonObject } from '../core/index.js'
import { chainEffects } from './steps/effects.js'
import { type Corrected, correctedHash, handedHash, handOverKind } from './steps/wallet-answer.js'

/** Member of a patch by which a person corrects a hash. */
export const correction = 'transaction_hash'

/** What a wallet outside says to have sent. */
export interface HandedHash {
  readonly chain: string
  readonly from: string | null
  /** What is looked for. */
  readonly hash: string
  /** What the wallet gave; a person may have put another hash in its place. */
  readonly handed: string
  /** What the wallet was asked to send. */
  readonly expected: JsonObject
}

/** One visit of a node. */
interface Visit {
  /** Of the request for the transaction. */
  requestHash: Hash | undefined
  unsigned: JsonObject | undefined
  /** Number of the call that asks the wallet. */
  asking: number | null
  handed: string | undefined
  isIncluded: boolean
  corrected: Corrected
}

/**
 * Reads off the entries of one run what wallets outside have said to have sent.
 * Owns: that, by the visits of its nodes; nothing of it is kept anywhere else.
 */
export class HandedHashes {
  readonly #visits = new Map<string, Visit>()

  take(entry: JournalEntry): void {
    if (entry.k === 'wait') {
      if (isHandOver(entry.request)) this.#at(entry).asking = entry.seq
    } else if (entry.k === 'decision') this.#decided(this.#at(entry), entry.patch)
    else if (entry.k === 'settled') {
      if (entry.response.success) this.#visits.delete(placeOf(entry))
    } else if (entry.k === 'sealed' && entry.ok) this.#sealed(this.#at(entry), entry)
  }

  /** Of visits that have not succeeded, and in which the chain has not shown it in a block. */
  *open(): Generator<readonly [string, HandedHash]> {
    for (const [place, { unsigned, handed, isIncluded, corrected }] of this.#visits) {
      if (unsigned === undefined || handed === undefined || isIncluded) continue
      const { chain, from = null, payload = null } = unsigned
      if (typeof chain !== 'string' || !isJsonObject(payload)) continue
      const hash = correctedHash(corrected, handed)
      const sender = typeof from === 'string' ? from : null
      yield [place, { chain, from: sender, hash, handed, expected: payload }]
    }
  }

  #at(entry: Place): Visit {
    const place = placeOf(entry)
    const known = this.#visits.get(place)
    if (known !== undefined) return known
    const visit: Visit = {
      requestHash: undefined,
      unsigned: undefined,
      asking: null,
      handed: undefined,
      isIncluded: false,
      corrected: {}
    }
    this.#visits.set(place, visit)
    return visit
  }

  #sealed(visit: Visit, entry: JournalEntry & { readonly k: 'sealed' }): void {
    const { effect, requestHash, seq, body } = entry
    if (!isJsonObject(body)) return
    if (effect === chainEffects.prepare) {
      // A later attempt seals again what it keeps.
      if (visit.requestHash !== requestHash) visit.handed = undefined
      visit.requestHash = requestHash
      const { transaction = null } = body
      const isUnsigned = body['kind'] === 'unsigned' && isJsonObject(transaction)
      visit.unsigned = isUnsigned ? transaction : undefined
    } else if (effect === chainEffects.look) visit.isIncluded = body['status'] === 'included'
    else if (seq === visit.asking && isMessage(body)) {
      visit.handed = handedHash(body['value'] ?? null) ?? visit.handed
    }
  }

  #decided(visit: Visit, patch: Json): void {
    const corrected = isJsonObject(patch) ? (patch[correction] ?? null) : null
    // A patch was checked when it was accepted.
    if (isJsonObject(corrected))
      visit.corrected = { ...visit.corrected, ...(corrected as Corrected) }
  }
}

type Place = Pick<JournalEntry & { readonly k: 'sealed' }, 'path' | 'step'>

/** As `transactionsIn` names the visits of nodes. */
export function placeOf({ step, path }: Place): string {
  return `${step} ${path}`
}

/** Whether a body answers a wait. */
export function isMessage(body: Json): boolean {
  return isJsonObject(body) && body['action'] === 'resume'
}

function isHandOver(request: Json): boolean {
  const inner = isJsonObject(request) ? (request['request'] ?? null) : null
  return isJsonObject(inner) && inner['kind'] === handOverKind
}

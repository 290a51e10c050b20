import { chainJournal, type Hash, limits } from '../../core/index.js'
import type { Ledger, RunRecord } from '../../ledger/index.js'
import { type KeptPicture, momentIn, parsePicture } from '../run/kept-picture.js'
import { stretchOf } from '../run/run-moments.js'
import type { ChartAt } from './query-types.js'

/**
 * Pictures that runs have kept as they went: a moment of a long run is read, not folded.
 *
 * Owns: those that were compared last, `KEPT_PICTURES_MAX`. Does not own: what is in them; each has
 * a code by the ledger's key.
 *
 * - Q4 A picture is shown only where the entries of its stretch are those that it was made of:
 *   their hashes lead from the journal's hash before it to the one that it ends with. Where they
 *   do not, it is left aside, and a fold says what is wrong.
 */
export class KeptPictures {
  readonly #ledger: Pick<Ledger, 'pictures' | 'journalParts'>
  readonly #compared = new Map<string, KeptPicture>()

  constructor(ledger: Pick<Ledger, 'pictures' | 'journalParts'>) {
    this.#ledger = ledger
  }

  /** How a run stood after an entry; undefined: no picture says so. */
  async at(record: RunRecord, entry: number): Promise<ChartAt | undefined> {
    const stretch = stretchOf(entry)
    // A fold of the first stretch is short, and compares the journal from its beginning.
    if (stretch === 0) return undefined
    const name = `${record.runId} ${stretch}`
    const known = this.#compared.get(name)
    const found = known && momentIn(known, entry)
    if (found !== undefined) return found
    const text = this.#ledger.pictures.picture({ runId: record.runId, stretch })
    const picture = text === undefined ? undefined : parsePicture(text)
    const moment = picture && momentIn(picture, entry)
    if (picture === undefined || !(await this.#isOf(record, picture))) return undefined
    this.#compared.delete(name)
    this.#compared.set(name, picture)
    const [oldest = name] = this.#compared.keys()
    if (this.#compared.size > limits.KEPT_PICTURES_MAX) this.#compared.delete(oldest)
    return moment
  }

  /** Whether the journal has the entries that a picture was made of. */
  async #isOf({ runId }: RunRecord, { from, before, through, moments }: KeptPicture) {
    let hash = before as Hash
    let at = from
    for await (const part of this.#ledger.journalParts(runId, from)) {
      for (const { text } of part) {
        hash = chainJournal(hash, text)
        at += 1
        if (at === from + moments.length) return hash === through
      }
    }
    return false
  }
}

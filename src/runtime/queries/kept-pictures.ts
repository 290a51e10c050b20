import type { JournalEntry } from '../../block/index.js'
import { chainJournal, type Hash, limits, type RunId } from '../../core/index.js'
import type { Ledger, RunRecord, RunStatus } from '../../ledger/index.js'
import {
  actorsAfter,
  type KeptPicture,
  parsePicture,
  pictureIn,
  stretchOf,
  type WrittenPicture
} from '../run/kept-picture.js'
import type { ChartAt } from './picture-types.js'

export interface KeptPicturesParts {
  readonly ledger: Pick<Ledger, 'pictures' | 'journalParts'>
  /** Of the stretch that a run in memory is in; undefined: nothing in memory has it. */
  livePicture?(id: RunId): WrittenPicture | undefined
}

/**
 * Pictures that runs have kept as they went: a moment of a long run is read, not folded.
 *
 * Owns: those that were read last, `KEPT_PICTURES_MAX`. Does not own: what is in them; each has a
 * code by the ledger's key.
 *
 * - Q4 A picture is shown only where the entries of its stretch are those that it was made of:
 *   their hashes lead from the journal's hash before it to the one that it ends with. Those before
 *   it, which it may build on, end where it begins. Where they do not, it is left aside, and a fold
 *   says what is wrong.
 */
export class KeptPictures {
  readonly #parts: KeptPicturesParts
  readonly #known = new Map<string, KnownPicture>()

  constructor(parts: KeptPicturesParts) {
    this.#parts = parts
  }

  /** How a run stood after an entry; undefined: no picture says so. */
  async at({ runId }: RunRecord, entry: number): Promise<ChartAt | undefined> {
    const stretch = stretchOf(entry)
    // A fold of the first stretch is short, and compares the journal from its beginning.
    if (stretch === 0) return undefined
    const live = pictureIn(this.#parts.livePicture?.(runId))
    if (covers(live, entry)) return this.#shown(runId, live, entry, await this.#times(runId, live))
    const known = this.#kept(runId, stretch)
    if (known === undefined || !covers(known.picture, entry)) return undefined
    const { picture } = known
    if (known.times === undefined) {
      const times = await this.#times(runId, picture)
      if (times.at(-1)?.hash === picture.through) known.times = times
    }
    return this.#shown(runId, picture, entry, known.times)
  }

  #shown(
    runId: RunId,
    picture: KeptPicture,
    entry: number,
    times: readonly EntryTime[] = []
  ): ChartAt | undefined {
    const time = times[entry - picture.from]
    const pictures = this.#sinceWhole(runId, picture)
    const actors = pictures && actorsAfter(entry, pictures)
    if (actors === undefined || time === undefined) return undefined
    return { entry, at: time.at, actors, status: time.status }
  }

  /** From the last picture with all actors to this one; undefined: not all of them are there. */
  #sinceWhole(runId: RunId, picture: KeptPicture): readonly KeptPicture[] | undefined {
    const found = [picture]
    for (let first = picture; first.actors === null; ) {
      const stretch = stretchOf(first.from) - 1
      const earlier = stretch < 0 ? undefined : this.#kept(runId, stretch)?.picture
      if (earlier === undefined || earlier.through !== first.before) return undefined
      found.push(earlier)
      first = earlier
    }
    return found.reverse()
  }

  #kept(runId: RunId, stretch: number): KnownPicture | undefined {
    const text = this.#parts.ledger.pictures.picture({ runId, stretch })
    const name = `${runId} ${stretch}`
    const earlier = this.#known.get(name)
    this.#known.delete(name)
    // A run that goes on writes the last one anew.
    const known = earlier?.text === text ? earlier : knownPicture(text)
    if (known === undefined || stretchOf(known.picture.from) !== stretch) return undefined
    this.#known.set(name, known)
    const [oldest = name] = this.#known.keys()
    if (this.#known.size > limits.KEPT_PICTURES_MAX) this.#known.delete(oldest)
    return known
  }

  /** Of the entries of a picture, as far as the journal has them. */
  async #times(
    runId: RunId,
    { from, entries, before, status: earlier }: KeptPicture
  ): Promise<readonly EntryTime[]> {
    const times: EntryTime[] = []
    let hash = before as Hash
    let status = earlier
    for await (const part of this.#parts.ledger.journalParts(runId, from)) {
      for (const { text, value } of part) {
        const entry = value as unknown as JournalEntry
        hash = chainJournal(hash, text)
        if ('status' in entry) status = entry.status
        times.push({ at: entry.at, status, hash })
        if (times.length === entries) return times
      }
    }
    return times
  }
}

interface KnownPicture {
  readonly text: string
  readonly picture: KeptPicture
  /** Of its entries, once they were compared. */
  times: readonly EntryTime[] | undefined
}

/** When an entry was, how the run stood then, and the hash of the journal with it. */
interface EntryTime {
  readonly hash: Hash
  readonly at: number
  readonly status: RunStatus
}

function knownPicture(text: string | undefined): KnownPicture | undefined {
  const picture = text === undefined ? undefined : parsePicture(text)
  return text === undefined || picture === undefined
    ? undefined
    : { text, picture, times: undefined }
}

function covers(picture: KeptPicture | undefined, entry: number): picture is KeptPicture {
  if (picture === undefined) return false
  return picture.from <= entry && entry < picture.from + picture.entries
}

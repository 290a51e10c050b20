import {
  type JournalEntry,
  type RunMoments as Moments,
  type Position,
  ShownActors
} from '../../block/index.js'
import { limits, type RunId } from '../../core/index.js'
import type { RunPictures, RunStatus } from '../../ledger/index.js'
import {
  type KeptPicture,
  type Moment,
  momentIn,
  PictureText,
  parsePicture
} from './kept-picture.js'

type Moved = Parameters<Moments['moved']>
type Taken = Parameters<Moments['took']>[2]

/**
 * Keeps where the charts of a run that is live stand after each entry, in stretches of
 * `PICTURE_ENTRIES_BETWEEN`, so that a long run is shown at any of them without a fold.
 *
 * Owns: the stretch that the run is in. Does not own: those before it, which the ledger has.
 *
 * - Q4 Of the first stretch nothing is kept but where it ended when the run left memory: a fold
 *   of it is short. A run that began or went on without this has no pictures from there on.
 */
export class RunMoments implements Moments {
  readonly runId: RunId
  readonly #store: RunPictures
  readonly #shown: ShownActors
  #hash: string
  #picture: PictureText
  /** The last entry, whose moment lasts. */
  #last: Omit<Moment, 'changed'> | undefined
  #status: RunStatus
  /** Pictures whose last entries may not be in the journal yet. */
  #held: { readonly stretch: number; readonly text: string }[] = []
  /** Where the first stretch was left is kept. */
  readonly #hasFirst: boolean
  #isOver = false

  constructor(runId: RunId, store: RunPictures, before: KeptPicture = noPicture) {
    this.runId = runId
    this.#store = store
    this.#hash = before.through
    this.#picture = new PictureText(before)
    this.#hasFirst = before !== noPicture
    this.#status = before.moments.at(-1)?.status ?? 'running'
    this.#shown = new ShownActors(before.actors)
    for (const { at, status, changed } of before.moments) {
      this.#picture.add(at, status, changed)
      this.#shown.restore(changed)
    }
  }

  took(entry: JournalEntry, journalHash: string, { kind, position }: Taken): void {
    if (this.#isOver) return
    this.#close()
    const { PICTURE_ENTRIES_BETWEEN: between, PICTURE_ACTORS_MAX } = limits
    if (entry.n > 0 && entry.n % between === 0) this.#begin(entry.n, kind)
    if (position !== undefined) this.#give(position)
    if ('status' in entry) this.#status = entry.status
    this.#last = { at: entry.at, status: this.#status }
    this.#hash = journalHash
    this.#shown.took(entry)
    if (this.#shown.size > PICTURE_ACTORS_MAX) this.#isOver = true
  }

  moved(...[path, event, state]: Moved): void {
    if (this.#isOver) return
    this.#shown.live(path, event, state)
  }

  /** How the run stood after an entry; undefined where that is no longer known here. */
  at(entry: number) {
    if (this.#isOver) return undefined
    const last = this.#last && { ...this.#last, changed: this.#shown.changed }
    const picture = parsePicture(this.#picture.text(this.#hash, last))
    return picture && momentIn(picture, entry)
  }

  /** The run leaves memory: it goes on where it is, or has ended. */
  leave(position: Position, how: 'ended' | 'checkpointed' | 'to be rebuilt'): void {
    if (this.#isOver) return
    this.#close()
    const stretch = stretchOf(this.#picture.from)
    if (stretch > 0 && this.#picture.length > 0)
      this.#held.push({ stretch, text: this.#picture.text(this.#hash) })
    if (stretch === 0 && how === 'checkpointed') this.#held.push({ stretch, text: this.#end() })
    this.#give(position)
    if (this.#hasFirst && how === 'ended') {
      this.#store.savePicture({ runId: this.runId, stretch: 0 }, null, position)
    }
    this.#isOver = true
  }

  #close(): void {
    if (this.#last === undefined) return
    const { at, status } = this.#last
    this.#picture.add(at, status, this.#shown.takeChanged())
    this.#last = undefined
  }

  /** A stretch begins, and the one before it is whole. */
  #begin(n: number, kind: Taken['kind']): void {
    const stretch = stretchOf(this.#picture.from)
    const isAny = stretch > 0 && this.#picture.length > 0
    if (isAny && !(kind === 'recovered' && this.#isKept(stretch))) {
      this.#held.push({ stretch, text: this.#picture.text(this.#hash) })
    }
    this.#picture = new PictureText({ from: n, before: this.#hash, actors: this.#shown.all })
  }

  /** A run that is rebuilt from its beginning goes through what was kept before. */
  #isKept(stretch: number): boolean {
    const kept = this.#store.picture({ runId: this.runId, stretch })
    return kept !== undefined && parsePicture(kept)?.through === this.#hash
  }

  #give(position: Position): void {
    for (const { stretch, text } of this.#held.splice(0)) {
      this.#store.savePicture({ runId: this.runId, stretch }, text, position)
    }
  }

  /** Where the run has come to, without how. */
  #end(): string {
    const from = this.#picture.from + this.#picture.length
    return new PictureText({ from, before: this.#hash, actors: this.#shown.all }).text(this.#hash)
  }
}

/** What follows a run from an entry on that it is rebuilt to; undefined: nothing can. */
export function momentsFrom(
  runId: RunId,
  store: RunPictures,
  entries: number
): RunMoments | undefined {
  if (entries === 0) return new RunMoments(runId, store)
  const text = store.picture({ runId, stretch: stretchOf(entries - 1) })
  const kept = text === undefined ? undefined : parsePicture(text)
  if (kept === undefined || kept.from + kept.moments.length < entries) return undefined
  const moments = kept.moments.slice(0, Math.max(0, entries - kept.from))
  // The hash behind an earlier entry is that of the journal, which the next entry brings.
  return kept.from > entries ? undefined : new RunMoments(runId, store, { ...kept, moments })
}

/** In which stretch of a journal an entry is. */
export function stretchOf(entry: number): number {
  return Math.floor(entry / limits.PICTURE_ENTRIES_BETWEEN)
}

const noPicture: KeptPicture = { from: 0, before: '', through: '', actors: [], moments: [] }

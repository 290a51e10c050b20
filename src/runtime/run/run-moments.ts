import type {
  JournalEntry,
  RunMoments as Moments,
  Position,
  RunCheckpoint
} from '../../block/index.js'
import { limits, type RunId } from '../../core/index.js'
import type { RunPictures, RunStatus } from '../../ledger/index.js'
import {
  actorsIn,
  type BegunPicture,
  type KeptPicture,
  PictureWriter,
  pictureIn,
  stretchOf,
  type WrittenActors,
  type WrittenPicture,
  writtenActors
} from './kept-picture.js'
import { type ActorAt, ShownActors } from './shown-actors.js'

type Moved = Parameters<Moments['moved']>

/** Of what the journal has already. */
const DURABLE = 0

/**
 * Keeps where the charts of a run in memory stand after each entry, in stretches of
 * `PICTURE_ENTRIES_BETWEEN`, so that a long run is shown at any of them without a fold.
 *
 * Owns: the stretch that the run is in. Does not own: those before it, which the ledger has.
 *
 * - Q4 A picture is given to the ledger with a position up to which its entries are durable.
 * - Q5 Actors stand whole in a picture when as many entries as there are actors lie behind the last
 *   that has them, and in the first: what pictures take grows with the journal alone.
 */
export class RunMoments implements Moments {
  readonly runId: RunId
  readonly #store: RunPictures
  readonly #shown: ShownActors
  #writer: PictureWriter
  #status: RunStatus = 'running'
  #hash = ''
  #entries = 0
  /** The first entry of the last picture with all actors. */
  #wholeFrom = 0
  /** Pictures whose last entries may not be in the journal yet. */
  #held: { readonly stretch: number; readonly text: string }[] = []
  #isOver = false

  constructor(runId: RunId, store: RunPictures, earlier?: EarlierMoments) {
    this.runId = runId
    this.#store = store
    this.#shown = new ShownActors(earlier?.now)
    if (earlier === undefined) {
      this.#writer = new PictureWriter(FIRST)
      return
    }
    const { entries, hash, status, picture, now } = earlier
    this.#status = status
    this.#hash = hash
    this.#entries = entries
    this.#wholeFrom = picture?.from ?? entries
    this.#writer =
      picture === undefined ? new PictureWriter(this.#begun(entries, true)) : writerOf(picture, now)
  }

  took(entry: JournalEntry, journalHash: string, position: Position | undefined): void {
    if (this.#isOver) return
    this.#takeChanged()
    const { n } = entry
    if (n > 0 && n % limits.PICTURE_ENTRIES_BETWEEN === 0) this.#begin(n, position)
    if (position !== undefined) this.#give(position)
    if (isAboutRun(entry)) this.#status = entry.status
    this.#hash = journalHash
    this.#entries = n + 1
    this.#shown.took(entry)
    if (this.#shown.size > limits.PICTURE_ACTORS_MAX) this.#isOver = true
  }

  appended(position: Position): void {
    this.#give(position)
  }

  moved(path: Moved[0], event: Moved[1], stands: Moved[2]): void {
    if (!this.#isOver) this.#shown.live(path, event, stands)
  }

  reported(path: string, isSuccess: boolean): void {
    if (!this.#isOver) this.#shown.reported(path, isSuccess)
  }

  /** The picture of the stretch that the run is in, as far as it has come. */
  get picture(): WrittenPicture | undefined {
    return this.#isOver ? undefined : this.#written()
  }

  /** For a checkpoint of the run, from which its moments go on. */
  save(): SavedMoments | undefined {
    if (this.#isOver) return undefined
    const saved = { ...writtenActors(this.#shown.all()), status: this.#status }
    return stretchOf(this.#writer.from) === 0 ? saved : { ...saved, picture: this.#written() }
  }

  /** The run leaves memory. Of the first stretch nothing is kept: a fold of it is short. */
  leave(position: Position): void {
    if (this.#isOver) return
    const { from } = this.#writer
    if (stretchOf(from) > 0 && this.#entries > from) this.#hold()
    this.#give(position)
    this.#isOver = true
  }

  #begin(n: number, position: Position | undefined): void {
    // A run that is rebuilt from its beginning goes through what it has kept.
    if (position !== DURABLE || !this.#isKept()) this.#hold()
    const isWhole = n - this.#wholeFrom >= this.#shown.size
    if (isWhole) this.#wholeFrom = n
    this.#writer = new PictureWriter(this.#begun(n, isWhole))
  }

  #begun(from: number, isWhole: boolean): BegunPicture {
    const actors = isWhole ? this.#shown.all().map((actor) => ({ ...actor })) : null
    return { from, before: this.#hash, status: this.#status, actors, named: this.#shown.size }
  }

  #takeChanged(): void {
    // What restoring actors changes comes before the first entry that follows.
    const entry = Math.max(this.#entries - 1, this.#writer.from)
    this.#shown.takeChanged(entry, this.#writer)
  }

  #isKept(): boolean {
    const kept = this.#store.picture({ runId: this.runId, stretch: stretchOf(this.#writer.from) })
    // What this room wrote, by its code.
    const { through } = JSON.parse(kept ?? '{}') as Partial<WrittenPicture>
    return through === this.#hash
  }

  #hold(): void {
    const text = JSON.stringify(this.#written())
    this.#held.push({ stretch: stretchOf(this.#writer.from), text })
  }

  #written(): WrittenPicture {
    this.#takeChanged()
    const entries = this.#entries - this.#writer.from
    return this.#writer.written({ entries, through: this.#hash })
  }

  #give(position: Position): void {
    if (this.#held.length === 0) return
    const { runId } = this
    for (const { stretch, text } of this.#held.splice(0)) {
      this.#store.savePicture({ runId, stretch }, text, position)
    }
  }
}

/** Moments of a run in its checkpoint: its actors, and where it stands. */
export interface SavedMoments extends WrittenActors {
  readonly status: RunStatus
  /** Of the stretch that the run is in; absent in the first one. */
  readonly picture?: WrittenPicture
}

/** Where a run stood that goes on from its checkpoint. */
export interface EarlierMoments {
  readonly entries: number
  /** Of its journal. */
  readonly hash: string
  readonly status: RunStatus
  readonly now: readonly ActorAt[]
  /** Undefined: it is in its first stretch, of which the next picture is from here on. */
  readonly picture: KeptPicture | undefined
}

/**
 * What follows a run from its first entry on; undefined for one with a subject: paths may have
 * names in clear that its code chose.
 */
export function newMoments(
  runId: RunId,
  { pictures }: PicturesOf,
  { subject }: { readonly subject?: unknown }
): RunMoments | undefined {
  return subject === undefined ? new RunMoments(runId, pictures) : undefined
}

interface PicturesOf {
  readonly pictures: RunPictures
}

/** What follows a run from its checkpoint on; undefined: nothing can. */
export function momentsFrom(
  runId: RunId,
  { pictures }: PicturesOf,
  {
    run: { entries, journalHash: hash },
    moments
  }: {
    readonly run: Pick<RunCheckpoint, 'entries' | 'journalHash'>
    readonly moments: SavedMoments | undefined
  }
): RunMoments | undefined {
  const now = moments && actorsIn(moments)
  if (moments === undefined || now === undefined) return undefined
  const { status, picture: written } = moments
  const picture = pictureIn(written)
  if (written !== undefined && picture === undefined) return undefined
  return new RunMoments(runId, pictures, { entries, hash, status, now, picture })
}

/** What goes on with a picture, of a run whose actors stand so now. */
function writerOf(
  { from, before, status, paths, actors, changes }: KeptPicture,
  now: readonly ActorAt[]
): PictureWriter {
  const named = actors === null ? now.length - paths.length : actors.length
  const shown = actors?.map((actor, place) => ({ ...actor, path: paths[place] ?? '' })) ?? null
  const writer = new PictureWriter({ from, before, status, actors: shown, named })
  for (const { entry, place, value, step, attempt, ended } of changes) {
    writer.add(entry, { path: now[place]?.path ?? '', place, value, step, attempt, ended })
  }
  return writer
}

const FIRST: BegunPicture = { from: 0, before: '', status: 'running', actors: [], named: 0 }

type RunEntry = Extract<JournalEntry, { readonly status: RunStatus }>

function isAboutRun(entry: JournalEntry): entry is RunEntry {
  return entry.k.startsWith('run.')
}

import { limits } from '../../core/index.js'
import type { RunStatus } from '../../ledger/index.js'
import { type ActorAt, actorAt, dotted, type ShownActor } from './shown-actors.js'

/** Where the charts of a run stood after each entry of a stretch of its journal. */
export interface KeptPicture {
  /** The first entry. */
  readonly from: number
  readonly entries: number
  /** Hashes of the journal before the first entry and with the last one. */
  readonly before: string
  readonly through: string
  /** Of the run before the first entry. */
  readonly status: RunStatus
  /**
   * Paths of actors in the order in which they were made: of those made in it and, where `actors`
   * is no null, of all before. The place of an actor is how many were made before it.
   */
  readonly paths: readonly string[]
  /** All actors before the first entry, by place; null: they follow from the picture before. */
  readonly actors: readonly ActorState[] | null
  readonly changes: readonly ActorChange[]
}

export type ActorState = Pick<ActorAt, 'value' | 'step' | 'attempt' | 'ended'>

/** An actor that an entry has changed, as it stood then; the last of an entry counts. */
export interface ActorChange extends ActorState {
  readonly entry: number
  readonly place: number
}

/** Actors as they stand in a picture, and in a checkpoint (store.md). */
export interface WrittenActors {
  readonly paths: readonly string[]
  readonly states: readonly WrittenState[]
  /** Two numbers for each: its state's place in `states`, and its step. */
  readonly actors: readonly number[]
}

export type WrittenState = readonly [value: string, attempt: number, end: number]

/** A picture as it stands in its record, and in a checkpoint (store.md). */
export interface WrittenPicture
  extends Pick<KeptPicture, 'from' | 'entries' | 'before' | 'through' | 'status'>,
    Omit<WrittenActors, 'actors'> {
  readonly format: number
  readonly actors: readonly number[] | null
  /** Four numbers for each: entries since the change before, place, state's place, step. */
  readonly changes: readonly number[]
}

/** Of what stands in a picture: one up whenever charts name their states otherwise. */
const FORMAT = 1
const ends = [null, 'succeeded', 'failed'] as const

/** What a picture is begun with. */
export interface BegunPicture extends Pick<KeptPicture, 'from' | 'before' | 'status'> {
  /** Null: they follow from the picture before. */
  readonly actors: readonly ShownState[] | null
  /** Actors before it. */
  readonly named: number
}

/** An actor as it stands at one moment. */
export type ShownState = Omit<ShownActor, 'place'>

/**
 * A picture while its run goes.
 *
 * Owns: what it is begun with, and what has changed since. Runs pay for it at every transition, and
 * most end before their picture is written: changes are kept as numbers in a row, without objects.
 */
export class PictureWriter {
  readonly #begun: BegunPicture
  readonly #paths: string[]
  /** Actors whose paths stand in it or before it. */
  #named: number
  /** Of each change: entry, place, attempt, end, step. */
  readonly #changes: number[] = []
  readonly #values: unknown[] = []

  constructor(begun: BegunPicture) {
    this.#begun = begun
    this.#named = begun.named
    this.#paths = begun.actors === null ? [] : begun.actors.map(({ path }) => path)
  }

  get from(): number {
    return this.#begun.from
  }

  /** An actor as an entry has left it. */
  add(entry: number, { path, place, value, attempt, ended, step }: ShownActor): void {
    if (place >= this.#named) {
      this.#paths.push(path)
      this.#named = place + 1
    }
    this.#changes.push(entry, place, attempt, endIn(ended), step)
    this.#values.push(value)
  }

  /** In the form that is read again, up to an entry and the journal's hash with it. */
  written({ entries, through }: Pick<KeptPicture, 'entries' | 'through'>): WrittenPicture {
    const { from, before, status, actors: begun } = this.#begun
    const states = new States()
    const actors = begun && states.ofAll(begun)
    const changes = this.#writtenChanges(states)
    return {
      actors,
      before,
      changes,
      entries,
      format: FORMAT,
      from,
      paths: [...this.#paths],
      states: states.all,
      status,
      through
    }
  }

  #writtenChanges(states: States): readonly number[] {
    const written: number[] = []
    let last = this.from
    for (const [index, value] of this.#values.entries()) {
      const at = index * NUMBERS_OF_KEPT_CHANGE
      const [entry = last, place = 0, attempt = 0, end = 0, step = 0] = this.#changes.slice(
        at,
        at + NUMBERS_OF_KEPT_CHANGE
      )
      written.push(entry - last, place, states.of(value, attempt, end), step)
      last = entry
    }
    return written
  }
}

const NUMBERS_OF_KEPT_CHANGE = 5

function endIn(ended: ActorAt['ended']): number {
  if (ended === null) return 0
  return ended === 'succeeded' ? 1 : 2
}

/** States of actors by their places. */
class States {
  readonly #all: WrittenState[] = []
  readonly #places = new Map<unknown, Map<number, number>>()

  get all(): readonly WrittenState[] {
    return this.#all
  }

  /** Two numbers for each actor. */
  ofAll(actors: readonly ShownState[]): readonly number[] {
    const written: number[] = []
    for (const { value, attempt, ended, step } of actors) {
      written.push(this.of(value, attempt, endIn(ended)), step)
    }
    return written
  }

  of(value: unknown, attempt: number, end: number): number {
    let places = this.#places.get(value)
    if (places === undefined) {
      places = new Map()
      this.#places.set(value, places)
    }
    const code = attempt * ends.length + end
    const known = places.get(code)
    if (known !== undefined) return known
    places.set(code, this.#all.length)
    return this.#all.push([dotted(value), attempt, end]) - 1
  }
}

/** Actors as they stand now. */
export function writtenActors(shown: readonly ShownActor[]): WrittenActors {
  const states = new States()
  const actors = states.ofAll(shown)
  return { paths: shown.map(({ path }) => path), states: states.all, actors }
}

/** In which stretch of a journal an entry is. */
export function stretchOf(entry: number): number {
  return Math.floor(entry / limits.PICTURE_ENTRIES_BETWEEN)
}

const statuses = ['running', 'waiting', 'done', 'failed', 'cancelled'] as const

/** The picture of a text; undefined: it is of another form. */
export function parsePicture(text: string): KeptPicture | undefined {
  try {
    return pictureIn(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The picture that was written; undefined: it is of another form. */
export function pictureIn(written: unknown): KeptPicture | undefined {
  if (typeof written !== 'object' || written === null) return undefined
  const said = written as { readonly [Member in keyof WrittenPicture]?: unknown }
  const { before, entries, from, paths, through } = said
  const status = statuses.find((one) => one === said.status)
  const isNamed = typeof before === 'string' && typeof through === 'string' && isTexts(paths)
  if (said.format !== FORMAT || !isNamed || status === undefined) return undefined
  if (!isCount(from) || !isCount(entries) || !Array.isArray(said.states)) return undefined
  const states = all(said.states.map(stateIn))
  const whole = said.actors === null ? null : rowsIn(said.actors, NUMBERS_OF_ACTOR)
  const changed = rowsIn(said.changes, NUMBERS_OF_CHANGE)
  if (states === undefined || whole === undefined || changed === undefined) return undefined
  const stateOf = (place = states.length, step = 0) => {
    const state = states[place]
    return state && { ...state, step }
  }
  const actors = whole && all(whole.map(([state, step]) => stateOf(state, step)))
  if (actors === undefined || (actors?.length ?? 0) > paths.length) return undefined
  let entry = from
  const changes = all(
    changed.map(([since = 0, place = 0, ...state]) => {
      entry += since
      const found = entry < from + entries ? stateOf(...state) : undefined
      return found && { ...found, entry, place }
    })
  )
  return changes && { from, entries, before, through, status, paths, actors, changes }
}

/** Actors that were written as they stood; undefined: they are of another form. */
export function actorsIn({ actors, paths, states }: WrittenActors): readonly ActorAt[] | undefined {
  return all(
    paths.map((path, place) => {
      const at = place * NUMBERS_OF_ACTOR
      const [state = -1, step = 0] = actors.slice(at, at + NUMBERS_OF_ACTOR)
      const found = stateIn(states[state])
      return found && actorAt({ ...found, path, step })
    })
  )
}

/**
 * All actors after an entry, from the picture that begins with all of them to the one that has the
 * entry; undefined: these are not that.
 */
export function actorsAfter(
  entry: number,
  [first, ...others]: readonly KeptPicture[]
): readonly ActorAt[] | undefined {
  const begun = first?.actors
  if (first === undefined || begun === undefined || begun === null) return undefined
  const paths = [first, ...others].flatMap((one) => one.paths)
  const states = [...begun]
  for (const { changes } of [first, ...others]) {
    for (const { entry: at, place, ...state } of changes) {
      if (at > entry) break
      if (place > states.length) return undefined
      states[place] = state
    }
  }
  const actors = states.map((state, place) => {
    const path = paths[place]
    return path === undefined ? undefined : actorAt({ path, ...state })
  })
  return all(actors)
}

const NUMBERS_OF_ACTOR = 2
const NUMBERS_OF_CHANGE = 4

function stateIn(said: unknown): Omit<ActorState, 'step'> | undefined {
  if (!Array.isArray(said) || said.length !== 3) return undefined
  const [value, attempt, end]: readonly unknown[] = said
  const ended = ends[isCount(end) ? end : ends.length]
  if (typeof value !== 'string' || !isCount(attempt) || ended === undefined) return undefined
  return { value, attempt, ended }
}

/** Numbers in rows of so many. */
function rowsIn(numbers: unknown, length: number): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(numbers) || numbers.length % length !== 0) return undefined
  if (!numbers.every(isCount)) return undefined
  const rows: (readonly number[])[] = []
  for (let at = 0; at < numbers.length; at += length) rows.push(numbers.slice(at, at + length))
  return rows
}

/** Undefined where one is. */
function all<Item>(items: readonly (Item | undefined)[]): readonly Item[] | undefined {
  const found = items.filter((item): item is Item => item !== undefined)
  return found.length === items.length ? found : undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

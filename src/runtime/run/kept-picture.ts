import { type ActorAt, markOf } from '../../block/index.js'
import type { RunStatus } from '../../ledger/index.js'

/** What one entry of a journal led to. */
export interface Moment {
  readonly at: number
  readonly status: RunStatus
  /** Actors that it has changed. */
  readonly changed: readonly ActorAt[]
}

/** Where the charts of a run stood after each entry of a stretch of its journal. */
export interface KeptPicture {
  /** The first entry. */
  readonly from: number
  /** Hashes of the journal before the first entry and with the last one. */
  readonly before: string
  readonly through: string
  /** All actors as they were before the first entry. */
  readonly actors: readonly ActorAt[]
  readonly moments: readonly Moment[]
}

/** Of what stands in a picture: one up whenever charts name their states otherwise. */
const FORMAT = 1
const ends = [null, 'succeeded', 'failed'] as const
const statuses = ['running', 'waiting', 'done', 'failed', 'cancelled'] as const

/** Names by their places. */
class Places {
  readonly #places = new Map<string, number>()

  get names(): readonly string[] {
    return [...this.#places.keys()]
  }

  of(name: string): number {
    const known = this.#places.get(name)
    if (known !== undefined) return known
    this.#places.set(name, this.#places.size)
    return this.#places.size - 1
  }
}

/**
 * A picture that is written as a run goes (store.md): `{actors, before, format, from, moments,
 * paths, through, values}`, an actor being five numbers in a row: places in `paths` and `values`,
 * step, attempt, end. What is kept of a moment is its text: live runs make one for each entry.
 */
export class PictureText {
  readonly from: number
  readonly #before: string
  readonly #paths = new Places()
  readonly #values = new Places()
  readonly #actors: number[] = []
  /** Those of all moments in a row: objects for each entry would cost more than the run's own. */
  readonly #numbers: number[] = []
  /** Where in them each moment begins. */
  readonly #starts: number[] = []

  constructor({ from, before, actors }: Pick<KeptPicture, 'from' | 'before' | 'actors'>) {
    this.from = from
    this.#before = before
    this.#add(this.#actors, actors)
  }

  get length(): number {
    return this.#starts.length
  }

  add(at: number, status: RunStatus, changed: readonly ActorAt[]): void {
    this.#starts.push(this.#numbers.length)
    this.#numbers.push(at, statuses.indexOf(status))
    this.#add(this.#numbers, changed)
  }

  /** `last`: of an entry whose moment lasts, and that is not added. */
  text(through: string, last?: Moment): string {
    const moments = this.#starts.map((start, n) => this.#numbers.slice(start, this.#starts[n + 1]))
    if (last !== undefined) {
      const numbers = [last.at, statuses.indexOf(last.status)]
      this.#add(numbers, last.changed)
      moments.push(numbers)
    }
    return JSON.stringify({
      actors: this.#actors,
      before: this.#before,
      format: FORMAT,
      from: this.from,
      moments,
      paths: this.#paths.names,
      through,
      values: this.#values.names
    })
  }

  #add(numbers: number[], actors: readonly ActorAt[]): void {
    for (const { path, value, step, attempt, ended } of actors) {
      const [place, state] = [this.#paths.of(path), this.#values.of(value)]
      numbers.push(place, state, step, attempt, ends.indexOf(ended))
    }
  }
}

export function encodePicture({ through, moments, ...picture }: KeptPicture): string {
  const written = new PictureText(picture)
  for (const { at, status, changed } of moments) written.add(at, status, changed)
  return written.text(through)
}

/** The picture of a text; undefined: it is of another form. */
export function parsePicture(text: string): KeptPicture | undefined {
  const said = parsed(text)
  if (said === undefined || said['format'] !== FORMAT) return undefined
  const { before, from, through } = said
  const isNamed = typeof before === 'string' && typeof through === 'string'
  if (!isNamed || !isCount(from)) return undefined
  const named = { paths: textsIn(said['paths']), values: textsIn(said['values']) }
  const actors = actorsIn(numbersIn(said['actors']), named)
  if (actors === undefined || !Array.isArray(said['moments'])) return undefined
  const moments: Moment[] = []
  for (const one of said['moments']) {
    const [at = Number.NaN, status = Number.NaN, ...rest] = numbersIn(one) ?? []
    const changed = actorsIn(rest, named)
    const name = statuses[status]
    if (!isCount(at) || name === undefined || changed === undefined) return undefined
    moments.push({ at, status: name, changed })
  }
  return { from, before, through, actors, moments }
}

/** How a run stood after an entry of a picture; undefined: it has no such entry. */
export function momentIn(picture: Omit<KeptPicture, 'before' | 'through'>, entry: number) {
  const { from, actors, moments } = picture
  const moment = moments[entry - from]
  if (moment === undefined) return undefined
  const shown = new Map(actors.map((actor) => [actor.path, actor]))
  for (const { changed } of moments.slice(0, entry - from + 1)) {
    for (const actor of changed) shown.set(actor.path, actor)
  }
  return { entry, at: moment.at, actors: [...shown.values()], status: moment.status }
}

interface Named {
  readonly paths: readonly string[] | undefined
  readonly values: readonly string[] | undefined
}

function actorsIn(
  numbers: readonly number[] | undefined,
  { paths, values }: Named
): readonly ActorAt[] | undefined {
  if (numbers === undefined || numbers.length % NUMBERS_OF_ACTOR !== 0) return undefined
  const actors: ActorAt[] = []
  for (let at = 0; at < numbers.length; at += NUMBERS_OF_ACTOR) {
    const [path, value] = [paths?.[numbers[at] ?? -1], values?.[numbers[at + 1] ?? -1]]
    const [step, attempt] = [numbers[at + 2], numbers[at + 3]]
    const ended = ends[numbers[at + 4] ?? -1]
    if (path === undefined || value === undefined || ended === undefined) return undefined
    if (!isCount(step) || !isCount(attempt)) return undefined
    actors.push({ path, mark: markOf(value), value, step, attempt, ended })
  }
  return actors
}

const NUMBERS_OF_ACTOR = 5

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    return value as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}

function numbersIn(value: unknown): readonly number[] | undefined {
  return Array.isArray(value) && value.every(isCount) ? value : undefined
}

function textsIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

import type { BlockStands, CompositeEvent, JournalEntry } from '../../block/index.js'
import { ROOT_PATH } from '../../code/index.js'

/** What the actor of a block does: nothing yet, its work, or waiting for a message. */
export type BlockMark = 'READY' | 'BUSY' | 'WAITING'

/** One actor of a run, after an entry. */
export interface ActorAt {
  readonly path: string
  readonly mark: BlockMark
  /** State of its chart in dotted form. */
  readonly value: string
  readonly step: number
  readonly attempt: number
  /** How its last attempt that has ended did, of an earlier step too; null before that. */
  readonly ended: 'succeeded' | 'failed' | null
}

/** An actor as it is kept: changed in place, since live runs pay for it at every transition. */
export interface ShownActor {
  readonly path: string
  /** How many actors were there before it. */
  readonly place: number
  /** State of its chart: of the table, the same object each time, or its dotted form. */
  readonly value: unknown
  readonly step: number
  readonly attempt: number
  readonly ended: ActorAt['ended']
}

/**
 * Where the charts of a run stand, as far as it is shown. A fold of its journal and its live actors
 * give it the same events, so both show the same (D6).
 *
 * Owns: each actor that has got something, in the order in which they first did. Does not own: the
 * charts, and what in their contexts is not shown.
 */
export class ShownActors {
  readonly #actors = new Map<string, KeptActor>()
  readonly #changed: KeptActor[] = []

  constructor(actors: Iterable<ActorAt> = []) {
    for (const { path, value, step, attempt, ended } of actors) {
      const place = this.#actors.size
      this.#actors.set(path, { path, place, value, step, attempt, ended, isChanged: false })
    }
  }

  get size(): number {
    return this.#actors.size
  }

  all(): readonly ShownActor[] {
    return [...this.#actors.values()]
  }

  /** Gives those that have changed since they were last taken, in the order in which they did. */
  takeChanged(entry: number, into: TakesChanges): void {
    const changed = this.#changed
    if (changed.length === 0) return
    for (const actor of changed) {
      actor.isChanged = false
      into.add(entry, actor)
    }
    changed.length = 0
  }

  made(path: string, value: unknown = 'READY'): void {
    this.#make(path, value)
  }

  /** A block got an event, before it changed anything. */
  received(path: string, event: CompositeEvent): void {
    if (event.type === 'block.settled') {
      return this.reported(`${path}/${event.node}`, event.response.success)
    }
    const actor = this.#actors.get(path)
    if (actor !== undefined) this.#receive(actor, event)
  }

  /** A child has told its parent how its execution ended. */
  reported(path: string, isSuccess: boolean): void {
    const actor = this.#actors.get(path)
    if (actor !== undefined) this.#end(actor, isSuccess)
  }

  /** An event has brought a block to a state. */
  moved(path: string, stands: BlockStands): void {
    const actor = this.#actors.get(path)
    if (actor !== undefined) this.#move(actor, stands)
  }

  /** A block in memory got an event, and stands there now: the first one makes it. */
  live(path: string, event: CompositeEvent, stands: BlockStands): void {
    const actor = this.#actors.get(path) ?? this.#make(path, 'READY')
    this.#receive(actor, event)
    this.#move(actor, stands)
  }

  /** What an entry says of the whole run. */
  took(entry: JournalEntry): void {
    if (entry.k === 'run.finished') this.reported(ROOT_PATH, entry.status === 'done')
  }

  #make(path: string, value: unknown): KeptActor {
    const place = this.#actors.size
    const actor = { path, place, value, step: 0, attempt: 0, ended: null, isChanged: false }
    this.#actors.set(path, actor)
    this.#note(actor)
    return actor
  }

  #receive(actor: KeptActor, event: CompositeEvent): void {
    if (event.type === 'block.execute') {
      actor.step = event.step
      actor.attempt = 1
      this.#note(actor)
    } else if (event.type === 'attempt.settled') this.#end(actor, event.response.success)
  }

  #move(actor: KeptActor, { value, context }: BlockStands): void {
    const { attempt } = context as { readonly attempt: number }
    // What a block has begun with is gone once it is READY again.
    if (actor.value === value && (attempt === 0 || attempt === actor.attempt)) return
    actor.value = value
    if (attempt > 0) actor.attempt = attempt
    this.#note(actor)
  }

  #end(actor: KeptActor, isSuccess: boolean): void {
    const ended = isSuccess ? 'succeeded' : 'failed'
    if (actor.ended === ended) return
    actor.ended = ended
    this.#note(actor)
  }

  #note(actor: KeptActor): void {
    if (actor.isChanged) return
    actor.isChanged = true
    this.#changed.push(actor)
  }
}

/** Takes actors as an entry has left them. */
export interface TakesChanges {
  add(entry: number, actor: ShownActor): void
}

interface KeptActor extends ShownActor {
  value: unknown
  step: number
  attempt: number
  ended: ActorAt['ended']
  isChanged: boolean
}

/** An actor as it is shown. */
export function actorAt({
  path,
  value: state,
  step,
  attempt,
  ended
}: Omit<ShownActor, 'place'>): ActorAt {
  const value = dotted(state)
  return { path, mark: markOf(value), value, step, attempt, ended }
}

function markOf(value: string): BlockMark {
  if (value.startsWith('BUSY')) return 'BUSY'
  return value.startsWith('WAITING') ? 'WAITING' : 'READY'
}

// Values of nested states are those of the table, the same object each time.
const texts = new WeakMap<object, string>()

/** A state value as one text; of several regions the first. */
export function dotted(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return String(value)
  const known = texts.get(value)
  if (known !== undefined) return known
  const [entry] = Object.entries(value)
  const text = entry === undefined ? '' : `${entry[0]}.${dotted(entry[1])}`
  texts.set(value, text)
  return text
}

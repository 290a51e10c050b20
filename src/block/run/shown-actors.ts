import { type CompositeEvent, ROOT_PATH } from '../chart/protocol.js'
import type { JournalEntry } from './entries.js'

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

/**
 * Where the charts of a run stand, as far as it is shown. A fold of its journal and its live actors
 * tell it the same, so both show the same (D6).
 *
 * Owns: each actor that has got something, in the order in which they first did. Does not own: the
 * charts, and what in their contexts is not shown.
 */
export class ShownActors {
  readonly #actors = new Map<string, ShownActor>()
  #changed: ShownActor[] = []

  constructor(actors: Iterable<ActorAt> = []) {
    this.restore(actors)
  }

  get size(): number {
    return this.#actors.size
  }

  get all(): readonly ActorAt[] {
    return [...this.#actors.values()].map(plain)
  }

  /** Those that have changed since they were last taken. */
  get changed(): readonly ActorAt[] {
    return this.#changed.map(plain)
  }

  takeChanged(): readonly ActorAt[] {
    if (this.#changed.length === 0) return []
    const { changed } = this
    for (const actor of this.#changed) actor.isChanged = false
    this.#changed = []
    return changed
  }

  /** Takes over how actors stood. */
  restore(actors: Iterable<ActorAt>): void {
    for (const { path, value, step, attempt, ended } of actors) {
      const actor = { path, value, step, attempt, ended, isChanged: false }
      this.#actors.set(path, actor)
    }
  }

  made(path: string): void {
    const value: unknown = 'READY'
    const actor = { path, value, step: 0, attempt: 0, ended: null, isChanged: false }
    this.#actors.set(path, actor)
    this.#note(actor)
  }

  /** A block got an event, before it changed anything. */
  received(path: string, event: CompositeEvent): void {
    switch (event.type) {
      case 'block.execute': {
        const actor = this.#actors.get(path)
        if (actor === undefined) return
        actor.step = event.step
        actor.attempt = 1
        return this.#note(actor)
      }
      case 'attempt.settled':
        return this.#ended(path, event.response.success)
      case 'block.settled':
        return this.#ended(`${path}/${event.node}`, event.response.success)
    }
  }

  /** An event has brought a block to a state. */
  moved(path: string, { value, context }: { readonly value: unknown; readonly context: unknown }) {
    const actor = this.#actors.get(path)
    if (actor === undefined) return
    const { attempt } = context as { readonly attempt: number }
    actor.value = value
    // What a block has begun with is gone once it is READY again.
    if (attempt > 0) actor.attempt = attempt
    this.#note(actor)
  }

  /** A block got an event, and stands there now: the first one makes it. */
  live(path: string, event: CompositeEvent, state: Parameters<ShownActors['moved']>[1]): void {
    if (!this.#actors.has(path)) this.made(path)
    this.received(path, event)
    this.moved(path, state)
  }

  /** What an entry says of the whole run. */
  took(entry: JournalEntry): void {
    if (entry.k === 'run.finished') this.#ended(ROOT_PATH, entry.status === 'done')
  }

  #ended(path: string, isSuccess: boolean): void {
    const actor = this.#actors.get(path)
    if (actor === undefined) return
    actor.ended = isSuccess ? 'succeeded' : 'failed'
    this.#note(actor)
  }

  #note(actor: ShownActor): void {
    if (actor.isChanged) return
    actor.isChanged = true
    this.#changed.push(actor)
  }
}

/** Changed in place: live runs pay for it at every transition. */
interface ShownActor {
  readonly path: string
  /** As its chart has it, or as text. */
  value: unknown
  step: number
  attempt: number
  ended: ActorAt['ended']
  isChanged: boolean
}

function plain({ path, value: given, step, attempt, ended }: ShownActor): ActorAt {
  const value = dotted(given)
  return { path, mark: markOf(value), value, step, attempt, ended }
}

/** What an actor does, by the state of its chart. */
export function markOf(value: string): BlockMark {
  if (value.startsWith('BUSY')) return 'BUSY'
  return value.startsWith('WAITING') ? 'WAITING' : 'READY'
}

// Values of nested states are those of the table, the same object each time.
const texts = new WeakMap<object, string>()

/** A state value as one text; of several regions the first. */
function dotted(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return String(value)
  const known = texts.get(value)
  if (known !== undefined) return known
  const [entry] = Object.entries(value)
  const text = entry === undefined ? '' : `${entry[0]}.${dotted(entry[1])}`
  texts.set(value, text)
  return text
}

import type { InspectionEvent, Observer } from 'xstate'
import type { Json } from '../../core/index.js'
import type { ActorMessage, InspectionMessage, SnapshotShown } from './message.js'

/** As `inspect` of XState takes it. */
export type Inspector = Observer<InspectionEvent> | ((event: InspectionEvent) => void)

/** What XState hands to observers in the place of an actor, as far as they read it. */
class InspectedActor {
  readonly sessionId: string
  readonly id: string
  readonly logic: { readonly config: Json }
  readonly _parent: InspectedActor | undefined
  snapshot: SnapshotShown

  constructor({ sessionId, name, definition, snapshot }: ActorMessage, parent?: InspectedActor) {
    this.sessionId = sessionId
    this.id = name
    this.logic = { config: JSON.parse(definition) }
    this._parent = parent
    this.snapshot = snapshot
  }

  getSnapshot(): SnapshotShown {
    return this.snapshot
  }

  /** It is shown only: a run takes messages through the runtime. */
  send(): void {}
}

/**
 * Messages as the events that XState's own `inspect` gives, so that any observer of XState takes
 * them unchanged.
 *
 * Owns: what stands for the actors of the runs that have not ended.
 */
export class InspectionEvents {
  readonly #actors = new Map<string, InspectedActor>()

  /** Hands on a message; one of an actor that was never shown is left out. */
  give(message: InspectionMessage, inspector: Inspector): void {
    const event = this.#eventOf(message)
    if (event === undefined) return
    if (typeof inspector === 'function') inspector(event)
    else inspector.next?.(event)
  }

  #eventOf(message: InspectionMessage): InspectionEvent | undefined {
    const { rootId, sessionId } = message
    const actor =
      message.type === '@xstate.actor' ? this.#made(message) : this.#actors.get(sessionId)
    if (actor === undefined) return undefined
    // Observers read sessionId, logic, parent and snapshot of an actor, and nothing else of it.
    const actorRef = actor as unknown as InspectionEvent['actorRef']
    switch (message.type) {
      case '@xstate.actor':
        return { type: message.type, actorRef, rootId }
      case '@xstate.event': {
        const { event, sourceId = '', type } = message
        const source = this.#actors.get(sourceId)
        const sourceRef = source as unknown as InspectionEvent['actorRef'] | undefined
        return { type, event, sourceRef, actorRef, rootId }
      }
      case '@xstate.snapshot': {
        const { event, snapshot, type } = message
        actor.snapshot = snapshot
        if (snapshot.status !== 'active') this.#forget(rootId)
        const shown = snapshot as unknown as ReturnType<typeof actorRef.getSnapshot>
        return { type, event, snapshot: shown, actorRef, rootId }
      }
    }
  }

  #made(message: ActorMessage): InspectedActor {
    const actor = new InspectedActor(message, this.#actors.get(message.parentId ?? ''))
    this.#actors.set(message.sessionId, actor)
    return actor
  }

  /** A run that has ended says nothing any more. */
  #forget(rootId: string): void {
    for (const sessionId of this.#actors.keys()) {
      if (sessionId === rootId || sessionId.startsWith(`${rootId}/`)) this.#actors.delete(sessionId)
    }
  }
}

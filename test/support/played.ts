import { type AnyActor, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import type { PumpCommand } from '../../src/block/chart/protocol.js'
import { connectPump } from '../../src/block/chart/pump-port.js'

type Inspect = NonNullable<Parameters<typeof createActor>[1]>['inspect']

/**
 * A root block with the asks that it and its children make: no pump, no journal. `crash` persists
 * it, forgets it and restores it from JSON.
 */
export class Played {
  readonly #logic: AnyActorLogic
  readonly #input: unknown
  readonly #inspect: Inspect
  #actor: AnyActor
  /** Who asked last at a path. */
  readonly #actors = new Map<string, AnyActorRef>()
  #asks: PumpCommand[] = []
  readonly problems: unknown[] = []

  constructor(logic: AnyActorLogic, input: unknown, inspect?: Inspect) {
    this.#logic = logic
    this.#input = input
    this.#inspect = inspect
    this.#actor = this.#begin(undefined)
  }

  get state() {
    const { value, context } = this.#actor.getSnapshot()
    return { value, context }
  }

  /** Sends an event to the block that asked at a path; gives what was asked for in answer. */
  send(event: { readonly type: string }, path = 'root'): readonly PumpCommand[] {
    const actor = path === 'root' ? this.#actor : (this.#actors.get(path) ?? this.#actor)
    actor.send(event)
    return this.#taken()
  }

  /** Persist, JSON, restore; what it asks for again was asked for before. */
  crash(): readonly PumpCommand[] {
    const text = this.persisted()
    this.#actor.stop()
    this.#actors.clear()
    this.#actor = this.#begin(JSON.parse(text))
    return this.#taken()
  }

  persisted(): string {
    return JSON.stringify(this.#actor.getPersistedSnapshot())
  }

  #taken(): readonly PumpCommand[] {
    const asks = this.#asks
    this.#asks = []
    return asks
  }

  #begin(snapshot: unknown): AnyActor {
    const actor = createActor(this.#logic, {
      id: 'root',
      input: this.#input,
      ...(this.#inspect === undefined ? {} : { inspect: this.#inspect }),
      ...(snapshot === undefined ? {} : { snapshot: snapshot as never })
    })
    actor.subscribe({ error: (error) => this.problems.push(error) })
    connectPump(actor.system, {
      ask: (ask, from) => {
        this.#actors.set(ask.path, from)
        this.#asks.push(ask)
      }
    })
    return actor.start()
  }
}

/** Asks that stay open until something answers them. */
export const openAsks: readonly PumpCommand['kind'][] = [
  'attempt',
  'timer',
  'decision',
  'scope.commit',
  'scope.abort'
]

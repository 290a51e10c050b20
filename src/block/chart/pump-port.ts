import type { AnyActorRef } from 'xstate'
import type { BlockReport, CompositeEvent, PumpCommand } from './protocol.js'

/**
 * The pump as charts see it. `ask` is called inside a transition: it only records. It must not read
 * the actor's snapshot and must not deliver before the current macrostep has ended.
 */
export interface PumpPort {
  ask(ask: PumpCommand, actor: AnyActorRef): void
  reported?(path: string, report: BlockReport): void
  /** A block got an event, and stands there now. */
  moved?(path: string, event: CompositeEvent, state: BlockStands): void
}

/** State value and context of a block. */
export interface BlockStands {
  readonly value: unknown
  readonly context: unknown
}

/** The system of a root actor and all its children. */
export type ActorSystem = AnyActorRef['system']

// Keyed by actor system, so that one compiled chart serves many runs without closures.
// A member of the system and no WeakMap: V8 takes values in an old one for live until its next full
// collection, and a pump leads to all of its run.
const pump = Symbol('pump')

interface Connected {
  [pump]?: PumpPort
}

/** Joins a root actor's system to its pump; call it between `createActor` and `start`. */
export function connectPump(system: ActorSystem & Connected, port: PumpPort): void {
  system[pump] = port
}

/** The pump of an actor system; undefined when none was connected (a drawn or inspected chart). */
export function pumpOf(system: ActorSystem & Connected): PumpPort | undefined {
  return system[pump]
}

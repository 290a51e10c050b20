import type { AnyActorRef } from 'xstate'
import { Attached } from '../../core/index.js'
import type { BlockReport, PumpCommand } from './protocol.js'

/**
 * The pump as charts see it. `ask` is called inside a transition: it only records. It must not read
 * the actor's snapshot and must not deliver before the current macrostep has ended.
 */
export interface PumpPort {
  ask(ask: PumpCommand, actor: AnyActorRef): void
  reported?(path: string, report: BlockReport): void
}

/** The system of a root actor and all its children. */
export type ActorSystem = AnyActorRef['system']

// Keyed by actor system, so that one compiled chart serves many runs without closures.
const pumps = new Attached<ActorSystem, PumpPort>()

/** Joins a root actor's system to its pump; call it between `createActor` and `start`. */
export function connectPump(system: ActorSystem, pump: PumpPort): void {
  pumps.set(system, pump)
}

/** The pump of an actor system; undefined when none was connected (a drawn or inspected chart). */
export function pumpOf(system: ActorSystem): PumpPort | undefined {
  return pumps.get(system)
}

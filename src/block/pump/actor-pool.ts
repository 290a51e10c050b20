import type { AnyActor, AnyActorRef } from 'xstate'
import { limits } from '../../core/index.js'
import type { RootBlock } from '../run/root-block.js'

/**
 * Root actors of runs that ended well, with the children that they have, to be executed again:
 * READY can be re-entered and `block.execute` resets every context, so a run costs no new actors.
 *
 * Owns: idle actors, by compiled definition, which can be thrown away at any time. Does not own: an
 * actor that a run has taken.
 */
export class ActorPool {
  readonly #idle = new WeakMap<RootBlock, AnyActor[]>()

  /** An actor of this definition that is READY and started. */
  take(root: RootBlock): AnyActor | undefined {
    return this.#idle.get(root)?.pop()
  }

  /** Hands in an actor; one that is not READY is not kept. */
  give(root: RootBlock, actor: AnyActor): void {
    if (!isReady(actor)) return
    const idle = this.#idle.get(root)
    if (idle === undefined) this.#idle.set(root, [actor])
    else if (idle.length < limits.ACTORS_IDLE_MAX) idle.push(actor)
  }
}

/**
 * Whether a block and all that it has executed are READY: nothing of the last run is left in them.
 */
function isReady(actor: AnyActorRef): boolean {
  const { status, value, children } = actor.getSnapshot() as BlockSnapshot
  return status === 'active' && value === 'READY' && Object.values(children ?? {}).every(isReady)
}

interface BlockSnapshot {
  readonly status: string
  readonly value?: unknown
  readonly children?: Readonly<Record<string, AnyActorRef>>
}

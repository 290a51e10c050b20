import { type AnyActor, type AnyActorRef, createActor, type Subscription } from 'xstate'
import { ROOT_PATH } from '../../code/index.js'
import { type Json, limits } from '../../core/index.js'
import type { ChartRun } from '../chart/chart-run.js'
import type {
  BlockCommand,
  BlockReport,
  CompositeEvent,
  Delivery,
  PumpCommand
} from '../chart/protocol.js'
import { type BlockStands, connectPump, type PumpPort } from '../chart/pump-port.js'
import type { RunCheckpoint } from '../run/checkpoint.js'
import type { RootBlock } from '../run/root-block.js'
import type { RunMoments, RunObserver, StepPlace } from './observer.js'

/**
 * The live actors of one run, and what their charts have asked for and was not taken yet.
 *
 * Owns: the root actor, and by their paths the blocks that have asked for something. Does not own:
 * what an ask means; that is the pump's.
 */
export class RunActors implements PumpPort {
  readonly #root: RootBlock
  readonly #pool: ActorPool | undefined
  readonly #actor: AnyActor
  readonly #failures: Subscription
  readonly #byPath = new Map<string, AnyActorRef>()
  #asks: PumpCommand[] = []
  readonly #observer: RunObserver | undefined
  readonly #moments: RunMoments | undefined

  constructor(options: {
    readonly root: RootBlock
    readonly host: { readonly actors?: ActorPool; readonly observer?: RunObserver | undefined }
    readonly moments: RunMoments | undefined
    readonly checkpoint: RunCheckpoint | undefined
    readonly fail: (error: unknown) => void
  }) {
    const { root, host, moments, checkpoint, fail } = options
    const { actors: pool, observer } = host
    this.#root = root
    this.#observer = observer
    this.#moments = moments
    this.#pool = pool
    const idle = checkpoint === undefined ? pool?.take(root) : undefined
    this.#actor =
      idle ??
      createActor(root.logic, {
        id: ROOT_PATH,
        input: root.input,
        // XState revives references inside the object it is given, so it gets its own copy.
        ...(checkpoint === undefined
          ? {}
          : { snapshot: structuredClone(checkpoint.snapshot) as never })
      })
    connectPump(this.#actor.system, this)
    this.#failures = this.#actor.subscribe({ error: fail })
  }

  /** Called by charts inside a transition; only records. */
  ask(ask: PumpCommand, actor: AnyActorRef): void {
    this.#byPath.set(ask.path, actor)
    this.#asks.push(ask)
  }

  reported(path: string, report: BlockReport): void {
    this.#observer?.reported(path, report)
    if (report.type === 'block.settled') this.#moments?.reported(path, report.response.success)
  }

  moved(path: string, event: CompositeEvent, state: BlockStands): void {
    this.#moments?.moved(path, event, state)
  }

  /** Composites and plans inside of which the block at a path runs, outermost first. */
  around(path: string): readonly StepPlace[] {
    const found: StepPlace[] = []
    let actor = this.#byPath.get(path)?._parent
    while (actor !== undefined) {
      const { identity, step, options } = (actor.getSnapshot() as { context: ChartRun }).context
      const sideEffects = options.sideEffects ?? identity.sideEffects
      found.push({ path: identity.path, step, block: identity.block, sideEffects })
      actor = actor._parent
    }
    return found.reverse()
  }

  /** Takes an ask of a task, which has no actor. */
  post(ask: PumpCommand): void {
    this.#asks.push(ask)
  }

  get hasAsks(): boolean {
    return this.#asks.length > 0
  }

  /** Gives every ask away, also those to which taking one leads. */
  takeAsks(take: (ask: PumpCommand) => void): void {
    while (this.#asks.length > 0) {
      const asks = this.#asks
      this.#asks = []
      for (const ask of asks) take(ask)
    }
  }

  start(): void {
    this.#actor.start()
  }

  command(command: BlockCommand): void {
    this.#actor.send(command)
  }

  deliver(path: string, event: Delivery): void {
    this.#byPath.get(path)?.send(event)
  }

  /** Text at once: XState hands out its live context. */
  snapshot(): Json {
    return JSON.parse(JSON.stringify(this.#actor.getPersistedSnapshot())) as Json
  }

  /** The run needs its actors no more: nothing is delivered after its root has settled. */
  handIn(): void {
    this.#failures.unsubscribe()
    this.#byPath.clear()
    // The children of a function are those of one run.
    if (this.#root.isFunction !== true) this.#pool?.give(this.#root, this.#actor)
  }
}

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

import { type AnyStateMachine, initialTransition, transition } from 'xstate'
import {
  type Block,
  type BlockContext,
  defineBlock,
  EffectFailure,
  type SideEffectClass
} from '../../code/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { ChartTarget } from './chart-target.js'

/** Events that one run of a machine may take. */
const EVENTS_MAX = 1_000
/** Answers in a row that are no event of the machine. */
const ASKED_MAX = 8

/**
 * A machine of XState as a leaf. Its transitions are XState's own, without an interpreter: what the
 * interpreter would start becomes a call of `ctx`. An invoked actor is an effect by the name of its
 * source, a named action an effect by its name, a delay a sleep, and an event from outside a wait.
 */
export function chartBlock({ machine: given, sideEffects, input }: ChartTarget): Block {
  // The caller's machine, of the same library.
  const machine = given as unknown as AnyStateMachine
  return defineBlock({
    name: blockName(machine.id),
    version: machine.version ?? '1.0.0',
    sideEffects: 'non_idempotent',
    ...(input === undefined ? {} : { input }),
    run: (ctx, payload) => new ChartRun(machine, ctx, sideEffects).run(payload as Json)
  })
}

/** Events of a machine that come from outside: those of its actors and delays do not. */
export function outsideEvents({ events }: ChartTarget['machine']): readonly JsonObject[] {
  return events
    .map(String)
    .filter((type) => !type.startsWith('xstate.') && !type.includes('*'))
    .map((type) => ({ type }))
}

type Snapshot = ReturnType<typeof initialTransition<AnyStateMachine>>[0]

/** As XState gives them: built-in ones have a type of their own each. */
interface ChartAction {
  readonly type: string
  readonly params?: unknown
  readonly exec?: unknown
}

interface ChartEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/**
 * One run of a machine.
 *
 * Owns: what was started and has not been stopped. What was stopped is heard no more.
 */
class ChartRun {
  readonly #machine: AnyStateMachine
  readonly #ctx: BlockContext
  readonly #sideEffects: NonNullable<ChartTarget['sideEffects']>
  readonly #actors = new Map<string, object>()
  readonly #timers = new Map<string, object>()
  readonly #arrived: ChartEvent[] = []
  #wake: () => void = () => undefined
  #broken: { readonly error: unknown } | undefined
  #isAsking = false
  #useless = 0

  constructor(
    machine: AnyStateMachine,
    ctx: BlockContext,
    sideEffects: ChartTarget['sideEffects'] = {}
  ) {
    this.#machine = machine
    this.#ctx = ctx
    this.#sideEffects = sideEffects
  }

  async run(input: Json): Promise<JsonObject> {
    let [snapshot, actions] = initialTransition(this.#machine, input)
    for (let count = 0; count < EVENTS_MAX; count += 1) {
      for (const action of actions as readonly ChartAction[]) await this.#take(action)
      if (snapshot.status === 'done') return left(snapshot)
      if (snapshot.status === 'error') throw snapshot.error
      const event = await this.#next(snapshot)
      ;[snapshot, actions] = transition(this.#machine, snapshot, event)
    }
    return this.#ctx.fail('too_many_events')
  }

  async #take({ type, params, exec }: ChartAction): Promise<void> {
    const given = (params ?? {}) as Readonly<Record<string, unknown>>
    const { id, sendId, delay, event } = given
    switch (type) {
      case 'xstate.spawnChild':
        return this.#invoke(String(id), given)
      case 'xstate.stopChild':
        this.#actors.delete(String(id))
        return
      case 'xstate.cancel':
        this.#timers.delete(String(sendId))
        return
      case 'xstate.raise':
        return this.#delay(String(id), Number(delay ?? 0), event as ChartEvent)
      default:
        if (isAsked(type, exec)) {
          await this.#ctx.effect(type, { request: plain(given), ...this.#classOf(type) })
        }
    }
  }

  #invoke(id: string, { src, input }: Readonly<Record<string, unknown>>): void {
    const effect = typeof src === 'string' ? src : id
    const actor = {}
    this.#actors.set(id, actor)
    const ended = (event: ChartEvent) => {
      if (this.#actors.get(id) !== actor) return
      this.#actors.delete(id)
      this.#arrive({ ...event, actorId: id })
    }
    this.#ctx.effect(effect, { request: plain(input), ...this.#classOf(effect) }).then(
      (output) => ended({ type: `xstate.done.actor.${id}`, output }),
      (error: unknown) => {
        if (!(error instanceof EffectFailure)) return this.#break(error)
        const { reason, details } = error
        ended({ type: `xstate.error.actor.${id}`, error: { reason, details } })
      }
    )
  }

  #delay(id: string, ms: number, event: ChartEvent): void {
    const timer = {}
    this.#timers.set(id, timer)
    this.#ctx.sleep(ms).then(
      () => {
        if (this.#timers.get(id) !== timer) return
        this.#timers.delete(id)
        this.#arrive(event)
      },
      (error: unknown) => this.#break(error)
    )
  }

  async #next(snapshot: Snapshot): Promise<ChartEvent> {
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken.error
      const event = this.#arrived.shift()
      if (event !== undefined) return event
      this.#ask(snapshot)
      // Nothing wakes a machine that has started nothing and takes nothing: it is stuck.
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Asks for an event from outside, where the machine takes one now. */
  #ask(snapshot: Snapshot): void {
    const events = acceptedBy(snapshot)
    if (this.#isAsking || events.length === 0) return
    this.#isAsking = true
    const request = { events, state: plain(snapshot.value) }
    this.#ctx.wait({ reason: 'external', request }).then(
      ({ value }) => {
        this.#isAsking = false
        const type = isJsonObject(value) ? value['type'] : undefined
        const isEvent = typeof type === 'string' && events.includes(type)
        this.#useless = isEvent ? 0 : this.#useless + 1
        if (this.#useless >= ASKED_MAX) return this.#break(new NoEvent())
        if (isEvent) this.#arrive(value as unknown as ChartEvent)
        else this.#wake()
      },
      (error: unknown) => this.#break(error)
    )
  }

  #classOf(effect: string): { readonly sideEffects: SideEffectClass } {
    return { sideEffects: this.#sideEffects[effect] ?? 'non_idempotent' }
  }

  #arrive(event: ChartEvent): void {
    this.#arrived.push(event)
    this.#wake()
  }

  #break(error: unknown): void {
    this.#broken ??= { error }
    this.#wake()
  }
}

class NoEvent extends Error {
  override readonly name = 'NoEvent'
  override readonly message = 'no answer is an event of the machine'
}

function acceptedBy({ _nodes: nodes }: Snapshot): readonly string[] {
  const all = nodes.flatMap(({ ownEvents }) => ownEvents.map(String))
  return [...new Set(all)].filter((type) => !type.startsWith('xstate.') && !type.includes('*'))
}

/** Named actions; XState's own, and functions without a name of their own, ask for nothing. */
function isAsked(type: string, exec: unknown): boolean {
  if (type.startsWith('xstate.') || type === '(anonymous)') return false
  return typeof exec !== 'function' || exec.name !== type
}

function left(snapshot: Snapshot): JsonObject {
  const { output, value, context } = snapshot
  return plain({ output: output ?? null, state: value, context }) as JsonObject
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json
}

function blockName(id: string): string {
  return /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$/.test(id) ? id : 'machine'
}

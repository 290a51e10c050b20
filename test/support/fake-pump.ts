import { type Actor, type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import type { DecisionMadeEvent, PumpCommand } from '../../src/block/chart/protocol.js'
import { connectPump, type PumpPort } from '../../src/block/chart/pump-port.js'
import type { FoldDelivery } from '../../src/block/replay/fold.js'
import type { NodeOptions, Request, Response, SideEffectClass } from '../../src/code/request.js'
import type { Json } from '../../src/core/index.js'

/**
 * How the fake answers: a response, or a wait that is resumed and then settles with the response.
 */
export interface Answer {
  readonly response: Response
  readonly waitsFirst?: boolean
  readonly sent?: boolean
}

export interface FakePumpOptions {
  readonly attempt: (ask: Extract<PumpCommand, { kind: 'attempt' }>) => Answer
  readonly decision?: (
    ask: Extract<PumpCommand, { kind: 'decision' }>
  ) => Omit<DecisionMadeEvent, 'type' | 'at'>
  readonly commit?: (ask: PumpCommand, count: number) => 'commit' | 'conflict' | 'fail'
}

/**
 * A pump without journal and without time of its own: it answers one ask at a time, in order, and
 * remembers asks and deliveries. `crash` persists, forgets everything and restores from JSON.
 */
export class FakePump implements PumpPort {
  readonly asks: PumpCommand[] = []
  readonly deliveries: FoldDelivery[] = []
  /** State of the root after each delivery. */
  readonly states: { readonly value: unknown; readonly context: unknown }[] = []
  readonly #options: FakePumpOptions
  readonly #logic: AnyActorLogic
  readonly #input: unknown
  #open: { ask: PumpCommand; actor: AnyActorRef }[] = []
  #resumed = new Set<string>()
  #commits = 0
  #at = 1_000
  #root: Actor<AnyActorLogic>
  response: Response | undefined
  errors: unknown[] = []
  isRestoring = false

  constructor(
    logic: AnyActorLogic,
    options: FakePumpOptions & { readonly block?: string; readonly sideEffects?: SideEffectClass }
  ) {
    this.#options = options
    this.#logic = logic
    this.#input = {
      path: 'root',
      node: 'root',
      block: options.block ?? 'root',
      sideEffects: options.sideEffects ?? 'none'
    }
    this.#root = this.#create(undefined)
  }

  get root(): Actor<AnyActorLogic> {
    return this.#root
  }

  #create(snapshot: unknown): Actor<AnyActorLogic> {
    const root = createActor(this.#logic, {
      id: 'root',
      input: this.#input,
      ...(snapshot === undefined ? {} : { snapshot: snapshot as never })
    })
    root.subscribe({ error: (error) => this.errors.push(error) })
    connectPump(root.system, this)
    return root.start()
  }

  ask(ask: PumpCommand, actor: AnyActorRef): void {
    if (ask.kind === 'settled') this.response = ask.response
    // A restored block asks again: that is no new ask of the run.
    if (!this.isRestoring) this.asks.push(ask)
    if (ask.kind === 'cancel') this.#open = this.#open.filter((open) => open.ask.path !== ask.path)
    else this.#open.push({ ask, actor })
  }

  deliver(path: string, actor: AnyActorRef, event: FoldDelivery['event']): void {
    this.deliveries.push({ path, event })
    actor.send(event)
    const { value, context } = this.#root.getSnapshot()
    this.states.push({ value, context })
  }

  execute(payload: Json, options: NodeOptions = {}, runId = 'run-1'): void {
    this.response = undefined
    const request = testRequest(payload, runId)
    const event = { type: 'block.execute', request, step: 1, options, at: this.#at } as const
    this.deliver('root', this.#root, event)
  }

  cancel(): void {
    this.deliver('root', this.#root, { type: 'block.cancel', reason: 'test', at: this.#at })
  }

  /** Answers one open ask; false when nothing is open. */
  step(pick = 0): boolean {
    const answerable = this.#open.filter(({ ask }) => isAnswerable(ask))
    const open = answerable[pick % Math.max(1, answerable.length)]
    if (open === undefined) return false
    const { ask, actor } = open
    this.#at += 1
    const close = () => {
      this.#open = this.#open.filter((one) => one !== open)
    }
    switch (ask.kind) {
      case 'attempt': {
        const answer = this.#options.attempt(ask)
        const key = `${ask.path}:${ask.step}:${ask.attempt}`
        if (answer.waitsFirst === true && !this.#resumed.has(key)) {
          const state = leafValue(actor)
          if (state === 'BUSY') {
            const wait = { reason: 'external', request: null, actions: ['resume'] } as const
            this.deliver(ask.path, actor, { type: 'attempt.waiting', wait, at: this.#at })
            return true
          }
          this.#resumed.add(key)
          this.deliver(ask.path, actor, { type: 'attempt.resumed', at: this.#at })
          return true
        }
        close()
        const { response, sent } = answer
        const event = { type: 'attempt.settled', response, at: this.#at } as const
        this.deliver(ask.path, actor, sent === undefined ? event : { ...event, sent })
        return true
      }
      case 'timer':
        close()
        this.#at = Math.max(this.#at, ask.due)
        this.deliver(ask.path, actor, { type: 'timer.fired', at: this.#at })
        return true
      case 'decision': {
        close()
        const decide = this.#options.decision ?? (() => ({ action: 'abort' as const }))
        this.deliver(ask.path, actor, { type: 'decision.made', ...decide(ask), at: this.#at })
        return true
      }
      case 'scope.commit': {
        close()
        this.#commits += 1
        const verdict = this.#options.commit?.(ask, this.#commits) ?? 'commit'
        if (verdict === 'conflict') {
          this.deliver(ask.path, actor, { type: 'scope.conflict', at: this.#at })
        } else {
          const response = verdict === 'commit' ? ask.response : failed('commit_failed')
          this.deliver(ask.path, actor, { type: 'scope.settled', response, at: this.#at })
        }
        return true
      }
      case 'scope.abort':
        close()
        this.deliver(ask.path, actor, {
          type: 'scope.settled',
          response: ask.response,
          sent: false,
          at: this.#at
        })
        return true
      default:
        return false
    }
  }

  /** Answers until nothing is open. */
  drain(options: { readonly crashEvery?: number; readonly pick?: () => number } = {}): void {
    for (let count = 1; ; count += 1) {
      if (options.crashEvery !== undefined && count % options.crashEvery === 0) this.crash()
      if (!this.step(options.pick?.() ?? 0)) return
      if (count > 20_000) throw new Error('the run does not end')
    }
  }

  /** Persists, drops everything and restores from text: only what is in the snapshot survives. */
  crash(): void {
    const text = JSON.stringify(this.#root.getPersistedSnapshot())
    this.#root.stop()
    this.#open = []
    this.isRestoring = true
    this.#root = this.#create(JSON.parse(text))
    this.isRestoring = false
  }
}

function isAnswerable(ask: PumpCommand): boolean {
  return ['attempt', 'timer', 'decision', 'scope.commit', 'scope.abort'].includes(ask.kind)
}

function leafValue(actor: AnyActorRef): unknown {
  return actor.getSnapshot().value
}

export function testRequest(payload: Json, runId = 'run-1'): Request {
  return {
    payload,
    context: { locale: 'en', secret: 'x' },
    metadata: {
      id: `${runId}:root:1`,
      traceId: runId,
      spanId: 'root:1',
      runId,
      blockName: 'root',
      nodeName: 'root',
      attempt: 1,
      sideEffectClass: 'none'
    }
  }
}

export function succeeded(data: Json): Response {
  return { success: true, data, metadata: {} }
}

export function failed(reason: string, errorType = reason): Response {
  return { success: false, data: null, reason, details: {}, errorType, metadata: {} }
}

import {
  type Block,
  defineOwnBlock,
  type NodeOptions,
  type Request,
  type Response,
  reasons,
  sideEffectClasses
} from '../../code/index.js'
import { type Hash, hashJson, type JsonObject, lazySchema, limits } from '../../core/index.js'
import type { BlockIdentity, Sink } from '../chart/chart-run.js'
import { initialLeaf, type LeafSnapshot, type LeafTable, stepLeaf } from '../chart/leaf.js'
import type {
  AttemptCommand,
  CancelEvent,
  Delivery,
  ExecuteEvent,
  LeafEvent,
  PumpCommand
} from '../chart/protocol.js'
import type { CancelAsked, LeftOutside, OutboxEntry, OverlayEnded, Requested } from './entries.js'
import type { CompensableWrite } from './outside.js'

/**
 * Work that an overlay leaves behind it: compensations after a rollback, deferred steps after a
 * commit (C4). Each is a leaf of its own, with the leaf's chart and a path that no node can have.
 */
export interface OverlayTask {
  readonly identity: BlockIdentity
  readonly execute: Omit<ExecuteEvent, 'at'>
  /** Effect key of the write that it undoes; null for a deferred step. */
  readonly undoes: Hash | null
}

// No node's name has it.
const MARK = '~'

/** Whether a path is that of a task: it is outside every overlay, and no chart's. */
export function isOverlayTask(path: string): boolean {
  return path.includes(MARK)
}

/** Whether a path is that of a deferred step that is done now. */
export function isDeferredTask(path: string): boolean {
  return path.endsWith(`${MARK}release`)
}

/** Where what undoes a write stands. */
export function compensationPath({
  path,
  attempt,
  seq
}: Pick<Requested, 'path' | 'attempt' | 'seq'>): string {
  return `${path}${MARK}undo.${attempt}.${seq}`
}

/** What undoes a write. */
export function compensationTask(
  { asked, sealed }: CompensableWrite,
  around: Request
): OverlayTask {
  const { path: at, step, seq, effect, key } = asked
  const { effect: by, request: payload, sideEffects } = sealed.undo
  const path = compensationPath(asked)
  const options: NodeOptions =
    sideEffects === 'non_idempotent' ? { sideEffects } : { sideEffects, recovery: [tryAgain] }
  const input: JsonObject = {
    undoes: { path: at, step, seq, effect, key },
    effect: by,
    request: payload,
    sideEffects
  }
  const request = { ...around, payload: input, context: {} }
  return overlayTask(path, compensationBlock.name, { request, step, options, undoes: key })
}

const tryAgain = {
  kind: 'retry',
  maxAttempts: limits.COMPENSATION_ATTEMPTS_MAX,
  intervalMs: limits.COMPENSATION_RETRY_MS,
  backoff: 'exp'
} as const

/**
 * A deferred step whose composite has committed with this receipt. When it fails for good, a
 * person has to decide.
 */
export function deferredTask(ask: AttemptCommand, parentReceipt: Hash): OverlayTask {
  const { deferred: _, confirm: __, deadline: ___, ...kept } = ask.options
  const { metadata } = ask.request
  const request = { ...ask.request, metadata: { ...metadata, parentReceipt } }
  return overlayTask(`${ask.path}${MARK}release`, ask.block, {
    request,
    step: ask.step,
    options: { ...kept, onError: 'ask', sideEffects: ask.sideEffects },
    undoes: null
  })
}

function overlayTask(
  path: string,
  block: string,
  {
    request,
    step,
    options,
    undoes
  }: Pick<ExecuteEvent, 'request' | 'step' | 'options'> & { readonly undoes: Hash | null }
): OverlayTask {
  const sideEffects = options.sideEffects ?? 'non_idempotent'
  const { metadata } = request
  const own = {
    ...metadata,
    id: `${metadata.runId}:${path}:${step}`,
    spanId: `${path}:${step}`,
    blockName: block,
    attempt: 1,
    sideEffectClass: sideEffects
  }
  return {
    identity: { path, node: path, block, sideEffects },
    execute: { type: 'block.execute', request: { ...request, metadata: own }, step, options },
    undoes
  }
}

function notDone(
  { identity, execute }: OverlayTask,
  reason: string,
  isInDoubt = false
): LeftOutside {
  const { path, block: effect } = identity
  const key = hashJson(execute.request.payload)
  const state = isInDoubt ? 'in_doubt' : 'not_done'
  return { path, step: execute.step, effect, key, state, reason }
}

/** What a commit says of the steps that it sets free. */
export function outboxOf(deferred: readonly AttemptCommand[]): readonly OutboxEntry[] {
  return deferred.map(({ path, step, block, request }) => ({
    path,
    step,
    block,
    payloadHash: hashJson(request.payload)
  }))
}

/**
 * The tasks of one overlay, one after the other. Pure: it steps the leaf's chart and says what it
 * asks for, live and in verification alike.
 *
 * Once the run is cancelled no person is waited for: compensations are tried as often as ever, and
 * one that needs a person ends as `cancelled`; of deferred steps the one under way ends its
 * attempt, and the others are not begun. What is not done for that is named like all that is left.
 */
export class OverlayTasks {
  readonly #table: LeafTable
  readonly #sink: Sink
  readonly #waiting: OverlayTask[]
  #current: OverlayTask | undefined
  #leaf: LeafSnapshot | undefined
  /** The current one may have done something outside. */
  #hasSent = false
  #cancel: CancelAsked | undefined
  /** Why a write was not undone, or null when it was, by its key. */
  readonly #undone = new Map<Hash, string | null>()
  /** Steps that were put off and are not done. */
  readonly notDone: LeftOutside[] = []

  constructor(options: {
    readonly table: LeafTable
    readonly tasks: readonly OverlayTask[]
    readonly at: number
    readonly ask: (ask: PumpCommand) => void
    /** The run is cancelled already. */
    readonly cancel?: CancelAsked | undefined
  }) {
    const { table, tasks, at, ask, cancel } = options
    this.#table = table
    this.#cancel = cancel
    this.#waiting = [...tasks]
    this.#sink = {
      ask,
      report: (report) => {
        if (report.type === 'block.settled') this.#settled(report.response, report.at)
      }
    }
    this.#next(at)
  }

  /** Nothing is left to do. */
  get isOver(): boolean {
    return this.#current === undefined
  }

  /** Whether the task at this path is under way. */
  isAt(path: string): boolean {
    return this.#current?.identity.path === path
  }

  /** Receipt of the composite whose deferred step is under way. */
  get parentReceipt(): Hash | undefined {
    return this.#current?.execute.request.metadata.parentReceipt
  }

  deliver(event: Delivery): void {
    if ('sent' in event) this.#hasSent = event.sent === true
    this.#step(event)
  }

  /** The run is cancelled while they are under way. */
  cancel(entry: CancelAsked): void {
    this.#cancel = entry
    this.#endVainWait(entry.at)
  }

  undone(key: Hash): string | null | undefined {
    return this.#undone.get(key)
  }

  #next(at: number): void {
    let next = this.#waiting.shift()
    while (next?.undoes === null && this.#cancel !== undefined) {
      this.notDone.push(notDone(next, reasons.cancelled))
      next = this.#waiting.shift()
    }
    this.#current = next
    this.#hasSent = false
    if (next === undefined) return
    this.#leaf = initialLeaf(next.identity)
    this.#step({ ...next.execute, at })
  }

  #step(event: LeafEvent): void {
    const before = this.#current
    if (this.#leaf === undefined) return
    const after = stepLeaf(this.#table, this.#leaf, event, this.#sink)
    // Its end has begun the next one.
    if (this.#current !== before) return
    this.#leaf = after
    this.#endVainWait(event.at)
  }

  #endVainWait(at: number): void {
    if (this.#cancel === undefined || !this.#waitsInVain()) return
    this.#step(cancelEvent(this.#cancel, at))
  }

  /** Whether a cancelled run does not wait for what the current one waits for. */
  #waitsInVain(): boolean {
    const { value, context } = this.#leaf ?? {}
    if (this.#current === undefined || typeof value !== 'object') return false
    const reason = context?.wait?.reason
    if (this.#current.undoes !== null) return reason !== 'retry'
    return !(reason === 'poll' && this.#hasSent)
  }

  #settled(response: Response, at: number): void {
    const undoes = this.#current?.undoes ?? null
    const isSkipped = response.metadata['skipped'] === true
    const reason = isSkipped ? 'skipped' : response.success ? null : (response.reason ?? 'failed')
    if (undoes !== null) this.#undone.set(undoes, reason)
    else if (reason !== null && this.#current !== undefined) {
      const isInDoubt = reason === reasons.cancelled && this.#hasSent
      this.notDone.push(notDone(this.#current, reason, isInDoubt))
    }
    this.#next(at)
  }
}

/** The cancel as blocks get it, also later than it was asked for. */
export function cancelEvent({ reason }: CancelAsked, at: number): CancelEvent {
  return { type: 'block.cancel', reason, at }
}

/** Why evidence stands beside the end of an overlay. */
export function endCode({ outcome, response }: Pick<OverlayEnded, 'outcome' | 'response'>): string {
  return outcome === 'released' ? 'deferred_not_done' : (response.reason ?? 'failed')
}

const compensationInput = lazySchema((z) =>
  z.object({
    undoes: z.json(),
    effect: z.string(),
    request: z.json(),
    sideEffects: z.enum(sideEffectClasses)
  })
)

/**
 * The block of every compensation: one effect, with its receipt. Its payload may hold what another
 * block keeps private, so it is private.
 */
export const compensationBlock: Block = defineOwnBlock({
  name: 'tally.compensation',
  version: '1',
  sideEffects: 'non_idempotent',
  private: { input: true, output: true },
  input: compensationInput,
  codeHash: '860a2c4322a92d1c417aeed2ae95949586a91a3d24cccda0cad2e7472af62e87',
  run: (ctx, { effect, request, sideEffects }) => ctx.effect(effect, { request, sideEffects })
})

/** What a deferred step answers in its composite's result. */
export const deferredResult = { deferred: true } as const

/**
 * A block that only checks what it is to do later: it stands for a deferred one until its commit.
 */
export function putOff(block: Block): Block {
  const { kernel: _, ...rest } = block
  return Object.freeze<Block>({
    ...rest,
    parseOutput: (value) => ({ ok: true, value }),
    run: () => deferredResult
  })
}

/** Who runs an attempt: the provider of a fallback, which the kernel chooses itself (C3). */
export function blockOf(
  { block, provider, sideEffects }: Pick<AttemptCommand, 'block' | 'provider' | 'sideEffects'>,
  named: (name: string) => Block | undefined
): Block | undefined {
  if (block === compensationBlock.name) return compensationBlock
  const own = named(block)
  if (own?.classed !== undefined) return own.classed(sideEffects)
  return own?.kernel !== undefined || provider === null ? own : named(provider)
}

import { type Hash, hashJson, type JsonObject, limits } from '../../core/index.js'
import type { BlockIdentity, Sink } from '../chart/execution.js'
import { initialLeaf, type LeafSnapshot, type LeafTable, stepLeaf } from '../chart/leaf-table.js'
import { compensationBlock } from '../errand-blocks.js'
import type {
  Ask,
  AttemptAsk,
  Delivery,
  ExecuteEvent,
  NodeOptions,
  Request,
  Response
} from '../protocol.js'
import type { LeftOutside, OutboxEntry, ScopeEnded } from './entries.js'
import type { Undoable } from './outside.js'

/**
 * Work that an overlay leaves behind it: compensations after a rollback, deferred steps after a
 * commit (C4). Each is a leaf of its own, with the leaf's chart and a path that no node can have.
 */
export interface Errand {
  readonly identity: BlockIdentity
  readonly execute: Omit<ExecuteEvent, 'at'>
  /** Effect key of the write that it undoes; null for a deferred step. */
  readonly undoes: Hash | null
}

// No node's name has it.
const MARK = '~'

/** Whether a path is that of an errand: it is outside every overlay, and no chart's. */
export function isErrand(path: string): boolean {
  return path.includes(MARK)
}

/** Whether a path is that of a deferred step that is done now. */
export function isRelease(path: string): boolean {
  return path.endsWith(`${MARK}release`)
}

/** What undoes a write. */
export function undoErrand({ asked, sealed }: Undoable, around: Request): Errand {
  const { path: at, step, attempt, seq, effect, key } = asked
  const { effect: by, request: payload, sideEffects } = sealed.undo
  const path = `${at}${MARK}undo.${attempt}.${seq}`
  const options: NodeOptions =
    sideEffects === 'non_idempotent' ? { sideEffects } : { sideEffects, recovery: [tryAgain] }
  const input: JsonObject = {
    undoes: { path: at, step, seq, effect, key },
    effect: by,
    request: payload,
    sideEffects
  }
  const request = { ...around, payload: input, context: {} }
  return errand(path, compensationBlock.name, { request, step, options, undoes: key })
}

const tryAgain = {
  kind: 'retry',
  maxAttempts: limits.COMPENSATION_ATTEMPTS_MAX,
  intervalMs: limits.COMPENSATION_RETRY_MS,
  backoff: 'exp'
} as const

/**
 * A deferred step whose composite has committed with this receipt. When it fails for good, somebody
 * has to decide.
 */
export function releaseErrand(ask: AttemptAsk, parentReceipt: Hash): Errand {
  const { deferred: _, confirm: __, deadline: ___, ...kept } = ask.options
  const { metadata } = ask.request
  const request = { ...ask.request, metadata: { ...metadata, parentReceipt } }
  return errand(`${ask.path}${MARK}release`, ask.block, {
    request,
    step: ask.step,
    options: { ...kept, onError: 'ask', sideEffects: ask.sideEffects },
    undoes: null
  })
}

function errand(
  path: string,
  block: string,
  {
    request,
    step,
    options,
    undoes
  }: Pick<ExecuteEvent, 'request' | 'step' | 'options'> & { readonly undoes: Hash | null }
): Errand {
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

function notDone({ identity, execute }: Errand, reason: string): LeftOutside {
  const { path, block: effect } = identity
  const key = hashJson(execute.request.payload)
  return { path, step: execute.step, effect, key, state: 'not_done', reason }
}

/** What a commit says of the steps that it sets free. */
export function outboxOf(deferred: readonly AttemptAsk[]): readonly OutboxEntry[] {
  return deferred.map(({ path, step, block, request }) => ({
    path,
    step,
    block,
    payloadHash: hashJson(request.payload)
  }))
}

/**
 * The errands of one overlay, one after the other. Pure: it steps the leaf's chart and says what it
 * asks for, live and in verification alike.
 */
export class Errands {
  readonly #table: LeafTable
  readonly #sink: Sink
  readonly #waiting: Errand[]
  #current: Errand | undefined
  #leaf: LeafSnapshot | undefined
  /** Why a write was not undone, or null when it was, by its key. */
  readonly #undone = new Map<Hash, string | null>()
  /** Steps that were put off and are not done. */
  readonly notDone: LeftOutside[] = []

  constructor(options: {
    readonly table: LeafTable
    readonly errands: readonly Errand[]
    readonly at: number
    readonly ask: (ask: Ask) => void
  }) {
    const { table, errands, at, ask } = options
    this.#table = table
    this.#waiting = [...errands]
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

  /** Whether the errand at this path is under way. */
  isAt(path: string): boolean {
    return this.#current?.identity.path === path
  }

  /** Receipt of the composite whose deferred step is under way. */
  get parentReceipt(): Hash | undefined {
    return this.#current?.execute.request.metadata.parentReceipt
  }

  deliver(event: Delivery): void {
    this.#step(event)
  }

  undone(key: Hash): string | null | undefined {
    return this.#undone.get(key)
  }

  #next(at: number): void {
    const next = this.#waiting.shift()
    this.#current = next
    if (next === undefined) return
    this.#leaf = initialLeaf(next.identity)
    this.#step({ ...next.execute, at })
  }

  #step(event: Delivery | ExecuteEvent): void {
    const before = this.#current
    if (this.#leaf === undefined) return
    const after = stepLeaf(this.#table, this.#leaf, event, this.#sink)
    // Its end has begun the next one.
    if (this.#current === before) this.#leaf = after
  }

  #settled(response: Response, at: number): void {
    const undoes = this.#current?.undoes ?? null
    const isSkipped = response.metadata['skipped'] === true
    const reason = isSkipped ? 'skipped' : response.success ? null : (response.reason ?? 'failed')
    if (undoes !== null) this.#undone.set(undoes, reason)
    else if (reason !== null && this.#current !== undefined) {
      this.notDone.push(notDone(this.#current, reason))
    }
    this.#next(at)
  }
}

/** Why evidence stands beside the end of an overlay. */
export function endCode({ outcome, response }: Pick<ScopeEnded, 'outcome' | 'response'>): string {
  return outcome === 'released' ? 'deferred_not_done' : (response.reason ?? 'failed')
}

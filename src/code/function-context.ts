import {
  canonicalizeLedgerValue,
  type Duration,
  type Json,
  type JsonObject,
  limits,
  nextTurn,
  type RunId,
  withoutUndefined
} from '../core/index.js'
import type { QueueTerms } from '../queue/index.js'
import type { Block, BodyPort } from './block.js'
import { callerLine } from './caller-line.js'
import { CHILD_EFFECT } from './calls.js'
import { BlockFailure, type EffectCall, type WaitAnswer, type WaitOptions } from './context.js'
import { publishBy, setTagsBy } from './exchange.js'
import type { FunctionCall, StepCall } from './function-call.js'
import { failureResponse, outcomeOf } from './outcome.js'
import { failedResponse, type PlanTurn, type Response, ROOT_PATH, reasons } from './request.js'
import {
  type FunctionStepOptions,
  nodeOptionsOf,
  queueOf,
  referenceOf,
  type StepOptions,
  spanOf
} from './step-options.js'
import type { StepScope, WorkflowContext } from './workflow-context.js'

/** A step of a workflow function has failed, after its recovery. */
export class StepFailure extends BlockFailure {
  override readonly name: string = 'StepFailure'
  readonly step: string
  /** What became of the step. */
  readonly response: Response

  constructor(step: string, response: Response) {
    super(response.reason ?? 'failed', { step, ...response.details })
    this.step = step
    this.response = response
  }
}

/** Whose code it is, and what it may call. */
export interface FunctionTerms {
  readonly name: string
  readonly version: string
  /** A block that it may call, by `name@version`, with what holds for it in the run. */
  readonly block: (reference: string) => Block | undefined
}

type Work = Block | ((input: never, call: EffectCall) => unknown)

/** A step that was asked for and whose call is made in the next microtask. */
interface AskedStep {
  readonly call: StepCall
  readonly made: Made
  turn: PlanTurn | undefined
  isLoose: boolean
  isMade: boolean
  readonly resolve: (response: Response) => void
  readonly reject: (error: unknown) => void
}

const stepName = /^[A-Za-z][\w-]{0,63}$/

/**
 * What the code of a workflow function is given (B12).
 *
 * Owns: the steps that were asked for and not called yet. Does not own: calls and their answers.
 *
 * - D3: a step is called one microtask after it was asked for, so that `all` can say which place in
 *   the order it has.
 */
export class FunctionContext implements WorkflowContext {
  readonly #port: BodyPort
  readonly #terms: FunctionTerms
  readonly #steps: StepMaker

  constructor(port: BodyPort, terms: FunctionTerms) {
    this.#port = port
    this.#terms = terms
    this.#steps = new StepMaker(port, terms, undefined)
    Object.freeze(this)
  }

  get runId(): RunId {
    return this.#port.context.runId
  }

  get context(): JsonObject {
    return this.#port.context.context
  }

  get signal(): WorkflowContext['signal'] {
    return this.#port.context.signal
  }

  get trace() {
    return this.#port.context.trace
  }

  step = (name: string, work: Work, input?: unknown, options?: StepOptions): Promise<never> =>
    this.#steps.step(name, work, input, options)

  all: StepScope['all'] = (steps) => this.#steps.all(steps)

  race: WorkflowContext['race'] = (steps) => {
    this.#steps.loosen(steps)
    return Promise.race(steps) as ReturnType<WorkflowContext['race']> as never
  }

  sleep = async (duration: Duration): Promise<void> => {
    await this.#port.context.sleep(spanOf('sleep', duration))
  }

  sleepUntil = async (time: Date | string | number): Promise<void> => {
    const due = typeof time === 'string' ? Date.parse(time) : Number(time)
    if (!Number.isFinite(due)) throw new BlockFailure('invalid_options', { option: 'sleepUntil' })
    await this.#port.context.sleep(Math.max(0, Math.ceil(due) - this.now()))
  }

  wait = (options: WaitOptions): Promise<WaitAnswer> => this.#port.context.wait(options)

  atomic = async <Output>(
    given: string | ((scope: StepScope) => Promise<Output>),
    other?: (scope: StepScope) => Promise<Output>
  ): Promise<Output> => {
    const [name, run] = typeof given === 'string' ? [given, other] : ['atomic', given]
    if (run === undefined) throw new BlockFailure('invalid_options', { option: 'atomic' })
    checkName(name)
    for (;;) {
      const response = await this.#atomicOnce(name, run)
      if (response.success) return response.data as Output
      if (response.reason !== reasons.scopeConflict) throw new StepFailure(name, response)
    }
  }

  /** One run of an atomic part, to its commit or rollback. */
  async #atomicOnce(name: string, run: (scope: StepScope) => Promise<unknown>): Promise<Response> {
    let scope = 0
    const line = lineOf(this.#port)
    const over = childCall(this.#port, { kind: 'scope', name }, { line }, (seq) => {
      scope = seq
    })
    over.catch(() => undefined)
    const steps = new StepMaker(this.#port, this.#terms, scope)
    const response = await scopeResponse(steps, run)
    // Its answer is that of the atomic part: it has none of its own.
    const ended: FunctionCall = { kind: 'return', scope, response }
    void childCall(this.#port, ended, { line, isLoose: () => true })
    return over
  }

  child = async (
    { name, version }: { readonly name: string; readonly version: string },
    input: unknown,
    { id }: { readonly id: string }
  ): Promise<never> => {
    const given = { id, workflow: `${name}@${version}`, input: withoutUndefined(input ?? null) }
    const ended = await this.#port.context.effect<Json>(CHILD_EFFECT, {
      request: given as unknown as Json,
      sideEffects: 'idempotent'
    })
    // The provider is this library's own.
    const response = ended as unknown as Response
    if (!response.success) throw new StepFailure(name, response)
    return response.data as never
  }

  publish = (key: string, value: unknown): Promise<void> =>
    publishBy((...asked) => this.#port.call<Json>(...asked), key, value)

  setTags = (tags: readonly string[]): Promise<void> =>
    setTagsBy((...asked) => this.#port.call<Json>(...asked), tags)

  now = (): number => this.#port.now()

  random = (): number => this.#port.context.random()

  uuid = (): string => this.#port.context.uuid()

  log = (message: string, data?: Json): void => this.#port.context.log(message, data)

  fail = (reason: string, details?: Json): never => this.#port.context.fail(reason, details)
}

/** Makes the steps of a function, or of an atomic part of it. */
class StepMaker {
  readonly #port: BodyPort
  readonly #terms: FunctionTerms
  readonly #scope: number | undefined
  readonly #byPromise = new WeakMap<object, AskedStep>()
  #asked: AskedStep[] = []
  #groups = 0
  #count = 0
  #open = 0

  constructor(port: BodyPort, terms: FunctionTerms, scope: number | undefined) {
    this.#port = port
    this.#terms = terms
    this.#scope = scope
  }

  /** How many have not ended. */
  get open(): number {
    return this.#open
  }

  step(
    name: string,
    work: Work,
    input: unknown,
    options: FunctionStepOptions = {}
  ): Promise<never> {
    const line = lineOf(this.#port)
    let asked: AskedStep | undefined
    const promise = new Promise<Response>((resolve, reject) => {
      const call = this.#callOf(name, work, input, options)
      const perform = typeof work === 'function' ? performing(work) : undefined
      const made = { perform, line, queue: queueOf(options) }
      asked = { call, made, turn: undefined, isLoose: false, isMade: false, resolve, reject }
    }).then((response) => {
      if (!response.success) throw new StepFailure(name, response)
      return response.data as never
    })
    // Code that waits for it gets its failure; one that no longer does must not end the process.
    promise.catch(() => undefined)
    if (asked !== undefined) this.#ask(asked, promise)
    return promise
  }

  #ask(asked: AskedStep, promise: Promise<unknown>): void {
    this.#byPromise.set(promise, asked)
    this.#open += 1
    this.#count += 1
    if (this.#scope !== undefined) asked.turn = this.#turn(0, this.#count)
    if (this.#asked.length === 0) void Promise.resolve().then(() => this.#make())
    this.#asked.push(asked)
  }

  #callOf(name: string, work: Work, input: unknown, options: FunctionStepOptions): StepCall {
    checkName(name)
    const block = typeof work === 'function' ? undefined : this.#known(work)
    const { sideEffects = 'non_idempotent', context } = options
    const own = { name: `${this.#terms.name}.${name}`, version: this.#terms.version }
    const found = nodeOptionsOf(options, block ?? own)
    const text = canonicalizeLedgerValue(withoutUndefined(input ?? null))
    return {
      kind: 'step',
      name,
      block: referenceOf(block ?? own),
      sideEffects: block?.sideEffects ?? sideEffects,
      input: JSON.parse(text) as Json,
      ...(context === undefined ? {} : { context: [...context] }),
      ...(found === undefined ? {} : { options: found }),
      ...(this.#scope === undefined ? {} : { scope: this.#scope })
    }
  }

  #known(block: Block): Block {
    const reference = referenceOf(block)
    const known = this.#terms.block(reference)
    if (known !== undefined) return known
    throw new BlockFailure('block_not_declared', { block: reference })
  }

  /** Makes the calls of all steps that were asked for since. */
  #make(): void {
    for (const asked of this.#asked.splice(0)) {
      asked.isMade = true
      const { call, turn, made } = asked
      const turned =
        turn === undefined ? call : { ...call, options: { ...call.options, turns: [turn] } }
      const isLoose = () => asked.isLoose
      try {
        if (this.#open > limits.WORKFLOW_STEPS_OPEN_MAX) {
          throw new BlockFailure('too_many_steps', { open: this.#open })
        }
        childCall(this.#port, turned, { ...made, isLoose })
          .finally(() => {
            this.#open -= 1
          })
          .then(asked.resolve, asked.reject)
      } catch (error) {
        this.#open -= 1
        asked.reject(error)
      }
    }
  }

  all: StepScope['all'] = async (steps) => {
    this.#groups += 1
    const group = this.#groups
    for (const [place, step] of steps.entries()) {
      const asked = this.#askedOf(step)
      if (asked === undefined || asked.isMade || asked.turn !== undefined) continue
      asked.turn = this.#turn(group, place)
    }
    const ends = await Promise.allSettled(steps)
    return ends.map((end) => {
      if (end.status === 'fulfilled') return end.value
      throw end.reason
    }) as never
  }

  /** The code may end without having waited for these. */
  loosen(steps: readonly unknown[]): void {
    for (const step of steps) {
      const asked = this.#askedOf(step)
      if (asked !== undefined) asked.isLoose = true
    }
  }

  #askedOf(step: unknown): AskedStep | undefined {
    return typeof step === 'object' && step !== null ? this.#byPromise.get(step) : undefined
  }

  #turn(group: number, place: number): PlanTurn {
    const plan =
      this.#scope === undefined ? `${ROOT_PATH}:${group}` : `${ROOT_PATH}:s${this.#scope}`
    return { plan, place }
  }
}

interface Made {
  readonly line: string | undefined
  readonly perform?: ((call: EffectCall) => unknown) | undefined
  readonly queue?: QueueTerms | undefined
  readonly isLoose?: () => boolean
}

/** Makes a call for a child; `numbered` is told its number. */
function childCall(
  port: BodyPort,
  call: FunctionCall,
  { line, perform, queue, isLoose = () => false }: Made,
  numbered: (seq: number) => void = () => undefined
): Promise<Response> {
  // Plain JSON; its type only lacks the index signature.
  return port.call<Response>(call.kind, call as unknown as Json, (made) => {
    numbered(made.seq)
    return { kind: 'child', call, perform, queue, line, isLoose, ...made }
  })
}

function lineOf({ marksLines }: BodyPort): string | undefined {
  return marksLines ? callerLine() : undefined
}

function performing(work: (input: never, call: EffectCall) => unknown) {
  return async (call: EffectCall): Promise<unknown> => {
    // Not in the turn of the code, in which it might ask for steps as the code does.
    await nextTurn()
    return withoutUndefined(await work(call.request as never, call))
  }
}

function checkName(name: string): void {
  if (typeof name === 'string' && stepName.test(name)) return
  throw new BlockFailure('invalid_step_name', { name })
}

/** What the code of an atomic part has come to. */
async function scopeResponse(
  steps: StepMaker,
  run: (scope: StepScope) => Promise<unknown>
): Promise<Response> {
  const scope: StepScope = Object.freeze({
    step: (name: string, work: Work, input?: unknown, options?: StepOptions) =>
      steps.step(name, work, input, options),
    all: steps.all
  })
  try {
    const value = await run(scope)
    if (steps.open > 0) return failedResponse('effect_not_awaited')
    const text = canonicalizeLedgerValue(withoutUndefined(value ?? null))
    return { success: true, data: JSON.parse(text) as Json, metadata: {} }
  } catch (error) {
    const outcome = outcomeOf(error)
    return outcome.ok ? failedResponse('failed') : failureResponse(outcome)
  }
}

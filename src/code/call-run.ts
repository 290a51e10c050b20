import {
  bytesOver,
  canonicalizeLedgerValue,
  type Json,
  limits,
  nextTurn,
  plainDetails,
  Xorshift128
} from '../core/index.js'
import type {
  AskedFirst,
  Attribution,
  Block,
  BlockCode,
  BodyPort,
  IntentEffect,
  IntentPort
} from './block.js'
import type { CallRunInput, CallRunPort } from './call-run-input.js'
import {
  builtInEffects,
  type Call,
  effectCall,
  mustBeAwaited,
  requestTextHash,
  reservedEffects
} from './calls.js'
import {
  type AskedEffect,
  checkApproved,
  deniedEffect,
  effectConfirmation,
  waitCall
} from './confirming.js'
import {
  type BlockContext,
  BlockFailure,
  type EffectOptions,
  type WaitAnswer,
  type WaitOptions
} from './context.js'
import { exchangeBy } from './exchange.js'
import { GivenTurn } from './given-turn.js'
import { CallRunIntentPort } from './intent-port.js'
import { LazyMembers } from './lazy-signal.js'
import {
  effectFailure,
  failure,
  isThenable,
  ledgerTextBy,
  type Outcome,
  outcomeOf,
  refusal,
  resultOutcome
} from './outcome.js'
import { exceeds } from './request.js'
import { blockState } from './state-view.js'
import { insideBlock, outsideBlock, type WatchedCode } from './tripwire.js'

const noCalls: ReadonlyMap<number, never> = new Map<number, never>()
const noneUsed: ReadonlySet<string> = new Set<string>()

/**
 * One execution of a block's code, from its first line to its result.
 *
 * Owns: the calls the code has made and not been answered. Does not own: the recorded results, the
 * journal, or any decision; it reports calls and the outcome to its port and waits to be answered
 * (D1).
 */
export class CallRun {
  // Made when needed: most code makes no call and uses no capability.
  #outstanding: Map<number, Call> | undefined
  #used: Set<string> | undefined
  readonly #input: CallRunInput
  readonly #port: CallRunPort
  readonly #watched: WatchedCode = { violation: undefined }
  /** Whose schemas and class hold: the leaf's, or those of a block that acts for it. */
  #acting: BlockCode
  #attribution: Attribution | undefined
  #elsewhere = 0
  #returns: (() => void)[] = []
  #random: Xorshift128 | undefined
  calls = 0 // made so far: they are numbered from 1
  #isOver = false
  #answeredAt: number | undefined
  /** Of the code of a workflow function. */
  readonly #turn: GivenTurn | undefined

  constructor(input: CallRunInput, port: CallRunPort) {
    this.#input = input
    this.#port = port
    this.#acting = input.block
    this.#turn = input.block.body === undefined ? undefined : new GivenTurn()
  }

  /** Calls that were not answered yet, by their number. */
  get outstanding(): ReadonlyMap<number, Call> {
    return this.#outstanding ?? noCalls
  }

  /** Capabilities that the code has used. */
  get used(): ReadonlySet<string> {
    return this.#used ?? noneUsed
  }

  /** What the receipt says of an attempt of the kernel. */
  get attribution(): Attribution | undefined {
    return this.#attribution
  }

  /** Whether the code waits for work that is no call. */
  get isElsewhere(): boolean {
    return this.#elsewhere > 0 && !this.#isOver
  }

  /** Resolves when the code waits for nothing but calls, or has ended. */
  async settledElsewhere(): Promise<void> {
    while (this.isElsewhere) {
      await new Promise<void>((resolve) => this.#returns.push(resolve))
      await nextTurn()
    }
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Runs the code; the outcome arrives at the port, at once when the code is synchronous. */
  start(): void {
    const { block, payload } = this.#input
    try {
      const parsed = block.parseInput(payload)
      if (!parsed.ok) {
        this.#settle(refusal('invalid_input', 'InvalidInput', parsed))
        return
      }
      this.#turn?.give()
      const returned = insideBlock(this.#watched, () => this.#run(block, parsed.value))
      if (isThenable(returned)) {
        returned.then(
          (value: unknown) => this.#settle(this.#outcome(value)),
          (error: unknown) => this.#settle(outcomeOf(error))
        )
      } else this.#settle(this.#outcome(returned))
    } catch (error) {
      this.#settle(outcomeOf(error))
    }
  }

  #run(block: Block, value: unknown): unknown {
    const { kernel, body } = block
    if (kernel !== undefined) return kernel.run(this.#intentPort(), value as Json)
    if (body !== undefined) return body.run(this.#bodyPort(), value)
    return block.run(this.#context(), value)
  }

  #bodyPort(): BodyPort {
    return {
      context: this.#context(),
      now: () => this.#answeredAt ?? this.#input.at,
      call: (effect, request, build) => this.#call(effect, request, build),
      marksLines: this.#port.marksLines === true
    }
  }

  #intentPort(): IntentPort {
    return new CallRunIntentPort(this.#input, {
      attribute: (attribution) => {
        this.#attribution = attribution
      },
      use: (capability) => this.#use(capability),
      effect: (effect) => this.#intentEffect(effect),
      context: () => this.#context(),
      confirm: (asked) => this.#confirm(asked),
      obligedFirst: (name, request) => this.#askedFirst({ name, request }, async () => undefined),
      elsewhere: (work) => this.#goElsewhere(work),
      again: () => this.#leave(() => this.#port.again()),
      halt: (cause) => this.#leave(() => this.#port.halted(cause)),
      act: (target, payload) => this.#act(target, payload)
    })
  }

  /** The code waits for ever: this execution of it is given up. */
  #leave(tell: () => void): Promise<never> {
    outsideBlock(tell)
    return new Promise<never>(() => undefined)
  }

  /** A block does the work of the leaf, with what it may do itself. */
  #act(target: BlockCode, payload: Json): unknown {
    const { block } = this.#input
    if (exceeds(target.sideEffects, block.sideEffects)) {
      throw new BlockFailure('side_effect_not_declared', { declared: block.sideEffects })
    }
    const parsed = target.parseInput(payload)
    if (!parsed.ok) throw new BlockFailure('invalid_input', { problem: parsed.problem })
    this.#acting = target
    return target.run(this.#context(), parsed.value)
  }

  #goElsewhere<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#elsewhere += 1
    return outsideBlock(work).finally(() => {
      this.#elsewhere -= 1
      this.#turn?.give()
      for (const resolve of this.#returns.splice(0)) resolve()
      this.#port.returned()
    })
  }

  /** Lets go of the code: whatever it still does is not heard. */
  abandon(): void {
    this.#isOver = true
    this.#outstanding?.clear()
  }

  #settle(outcome: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    const forgotten = this.#forgotten()
    this.#outstanding?.clear()
    const { violation } = this.#watched
    if (violation !== undefined) return this.#port.settled(outcomeOf(violation))
    // A result that does not depend on a call it made would not be the same with another timing.
    this.#port.settled(
      outcome.ok && forgotten !== undefined
        ? failure('effect_not_awaited', 'EffectNotAwaited', { effect: forgotten.effect })
        : outcome
    )
  }

  /** A call that the code has not waited for. */
  #forgotten(): Call | undefined {
    const isFunction = this.#input.block.body !== undefined
    return [...this.outstanding.values()].find((call) => mustBeAwaited(call, isFunction))
  }

  #outcome(value: unknown): Outcome {
    return resultOutcome(value, this.#acting, this.#attribution)
  }

  #context(): BlockContext {
    const input = this.#input
    const { runId, unitId, path, attempt, at } = input
    const context: Omit<BlockContext, 'abortSignal' | 'context' | 'trace'> = {
      runId,
      unitId,
      path,
      attempt,
      state: blockState(this.#input.view, (prefix) => this.#list(prefix)),
      now: () => at,
      random: () => this.#chance().random(),
      uuid: () => this.#chance().uuid(),
      effect: (name, options) => this.#effect(name, options),
      sleep: (ms) => this.#sleep(ms),
      wait: (options) => this.#wait(options),
      ...exchangeBy((effect, asked, build) => this.#call(effect, asked, build)),
      log: (message, data) => outsideBlock(() => this.#port.log(message, () => plainDetails(data))),
      fail: (reason, details) => {
        throw new BlockFailure(reason, details ?? null)
      }
    }
    return Object.freeze(Object.assign(new LazyMembers(input), context))
  }

  #use(capability: string): void {
    this.#used ??= new Set()
    this.#used.add(capability)
  }

  #chance(): Xorshift128 {
    this.#random ??= new Xorshift128(this.#input.lazy.seed.value)
    return this.#random
  }

  #list(prefix: string): Promise<readonly string[]> {
    return this.#call(builtInEffects.list, prefix, (call) => ({ kind: 'list', prefix, ...call }))
  }

  #effect<Result extends Json>(
    name: string,
    options: EffectOptions<Result> | NonNullable<EffectOptions<Result>['perform']>
  ): Promise<Result> {
    const {
      request,
      sideEffects,
      durable = false,
      confirmed = false,
      perform,
      locate
    } = typeof options === 'function' ? { perform: options } : options
    if (reservedEffects.has(name)) throw new BlockFailure('effect_name_reserved', { effect: name })
    const block = this.#acting
    const effectClass = sideEffects ?? block.sideEffects
    if (exceeds(effectClass, block.sideEffects)) {
      throw new BlockFailure('side_effect_not_declared', {
        effect: name,
        declared: block.sideEffects
      })
    }
    if (block.capabilities.length > 0) {
      if (!block.capabilities.includes(name)) {
        throw new BlockFailure('capability_not_declared', { effect: name })
      }
      this.#use(name)
    }
    const build = effectCall({ sideEffects: effectClass, durable, perform, locate })
    return this.#askedFirst({ name, request: request ?? null, confirmed }, (asked) =>
      this.#call<Result>(name, asked, build)
    )
  }

  #intentEffect({ name, request, sideEffects, perform, locate }: IntentEffect): Promise<Json> {
    const declared = this.#input.block.sideEffects
    if (exceeds(sideEffects, declared)) {
      throw new BlockFailure('side_effect_not_declared', { effect: name, declared })
    }
    const build = effectCall({ sideEffects, durable: false, perform, locate })
    return this.#askedFirst({ name, request }, (asked) => this.#call<Json>(name, asked, build))
  }

  /** Asks for an effect; where that is an obligation, once a person has approved it (K14). */
  #askedFirst<Result>(
    effect: AskedEffect,
    ask: (request: Json) => Promise<Result>
  ): Promise<Result> {
    const { block } = this.#input
    const { name, request } = effect
    const confirm = effectConfirmation(block, effect)
    if (confirm === undefined) return ask(request)
    // The same text is approved and asked for, whatever the code does to its object meanwhile.
    const payload = JSON.parse(canonicalizeLedgerValue(request)) as Json
    const by = this.#attribution?.provider.id ?? block.name
    const { message = null, approvers } = confirm
    const asked = { message, block: by, effect: name, payload, approvers }
    return this.#confirm(asked).then(() => ask(payload), deniedEffect)
  }

  async #confirm({ timeoutMs, approvers, ...asked }: AskedFirst): Promise<void> {
    const reason = 'confirmation'
    const build = waitCall({ reason, timeoutMs, approvers })
    checkApproved(await this.#call<WaitAnswer>(builtInEffects.wait, { reason, ...asked }, build))
  }

  #wait({ reason, request = null, ...terms }: WaitOptions): Promise<WaitAnswer> {
    const build = waitCall({ reason, ...terms })
    return this.#call<WaitAnswer>(builtInEffects.wait, { reason, request }, build)
  }

  #sleep(ms: number): Promise<void> {
    const build = (call: Omit<Call, 'kind'>): Call => ({ kind: 'sleep', ms, ...call })
    // Code without types may give anything, and a zero may have a sign.
    const isFixed = typeof ms === 'number' && ms > 0
    return this.#call<null>(builtInEffects.sleep, { ms }, build, isFixed).then(() => undefined)
  }

  /** Hands in a call. `isFixed`: its request is as its text says, and code cannot change it. */
  #call<Result>(
    effect: string,
    request: Json,
    build: (call: Omit<Call, 'kind'>) => Call,
    isFixed = false
  ): Promise<Result> {
    this.#turn?.check(effect)
    this.calls += 1
    const seq = this.calls
    if (seq > limits.ATTEMPT_EFFECTS_MAX) throw new BlockFailure('too_many_effects', { seq })
    const text = ledgerTextBy(this.#acting, request)
    const bytes = bytesOver(text, limits.VALUE_BYTES_MAX)
    if (bytes !== undefined) throw new BlockFailure('request_too_large', { effect, bytes })
    // A copy keeps later changes by the code out of what was hashed.
    const copy = isFixed ? request : (JSON.parse(text) as Json)
    return new Promise<Result>((resolve, reject) => {
      const call = build({
        seq,
        effect,
        request: copy,
        requestHash: requestTextHash(effect, text),
        answer: (ok, body, at) => {
          this.#outstanding?.delete(seq)
          this.#answeredAt = at ?? this.#answeredAt
          this.#turn?.give()
          if (ok) resolve(body as Result)
          else reject(effectFailure(body))
        }
      })
      // Code that has been let go of waits for ever.
      if (this.#isOver) return
      this.#outstanding ??= new Map()
      this.#outstanding.set(seq, call)
      outsideBlock(() => this.#port.called(call))
    })
  }
}

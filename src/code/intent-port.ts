import type { Json, TallyError } from '../core/index.js'
import type { AskedFirst, Attribution, BlockCode, IntentEffect, IntentPort } from './block.js'
import type { CallRunInput } from './call-run-input.js'
import { type BlockContext, BlockFailure, type WaitAnswer, type WaitOptions } from './context.js'

/** What the execution does for code of the kernel. */
interface IntentHands {
  attribute(attribution: Attribution): void
  use(capability: string): void
  effect(effect: IntentEffect): Promise<Json>
  context(): BlockContext
  confirm(asked: AskedFirst): Promise<void>
  obligedFirst(capability: string, request: Json): Promise<void>
  elsewhere<Result>(work: () => Promise<Result>): Promise<Result>
  again(): Promise<never>
  halt(cause: TallyError): Promise<never>
  act(block: BlockCode, payload: Json): unknown
}

const none: IntentPort['obligations'] = {}

/**
 * The port of one execution of the kernel. Its members are no private ones: a port that is listened
 * to is an object made from this one, and an object with functions of its own costs more.
 */
export class CallRunIntentPort implements IntentPort {
  private readonly given: CallRunInput
  private readonly hands: IntentHands

  constructor(given: CallRunInput, hands: IntentHands) {
    this.given = given
    this.hands = hands
  }

  get runId(): IntentPort['runId'] {
    return this.given.runId
  }

  get unitId(): IntentPort['unitId'] {
    return this.given.unitId
  }

  get attempt(): IntentPort['attempt'] {
    return this.given.attempt
  }

  get obligations(): IntentPort['obligations'] {
    return this.given.block.obligations?.run ?? none
  }

  get at(): IntentPort['at'] {
    return this.given.at
  }

  get seed(): IntentPort['seed'] {
    return this.given.lazy.seed.value
  }

  get principal(): IntentPort['principal'] {
    return this.given.kernel?.principal ?? null
  }

  get inputText(): IntentPort['inputText'] {
    return this.given.kernel?.inputText ?? ''
  }

  get provider(): IntentPort['provider'] {
    return this.given.kernel?.provider ?? null
  }

  get recorded(): IntentPort['recorded'] {
    return this.given.kernel?.recorded
  }

  get recordedFailure(): IntentPort['recordedFailure'] {
    return this.given.kernel?.recordedFailure
  }

  get signal(): IntentPort['signal'] {
    return this.given.lazy.signal
  }

  read(key: string): string | undefined {
    return this.given.view.read(key)
  }

  write(key: string, value: Json | undefined): void {
    this.given.view.write(key, value)
  }

  list(prefix: string): Promise<readonly string[]> {
    return this.hands.context().state.list(prefix)
  }

  current(key: string): string | undefined {
    return this.given.kernel?.current(key)
  }

  attribute(attribution: Attribution): void {
    this.hands.attribute(attribution)
  }

  use(capability: string): void {
    this.hands.use(capability)
  }

  effect(effect: IntentEffect): Promise<Json> {
    return this.hands.effect(effect)
  }

  wait(options: WaitOptions): Promise<WaitAnswer> {
    return this.hands.context().wait(options)
  }

  confirm(asked: AskedFirst): Promise<void> {
    return this.hands.confirm(asked)
  }

  obligedFirst(capability: string, request: Json): Promise<void> {
    return this.hands.obligedFirst(capability, request)
  }

  fail(reason: string, details?: Json): never {
    throw new BlockFailure(reason, details ?? null)
  }

  elsewhere<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.hands.elsewhere(work)
  }

  again(): Promise<never> {
    return this.hands.again()
  }

  halt(cause: TallyError): Promise<never> {
    return this.hands.halt(cause)
  }

  act(block: BlockCode, payload: Json): unknown {
    return this.hands.act(block, payload)
  }
}

import type { Provider } from '../block/index.js'
import { type EffectCall, EffectFailure, type Located } from '../code/index.js'
import { copyJson, type Json } from '../core/index.js'

/** What becomes of a request: see {@link FakeService.troubles}. */
export type FakeServiceTrouble = 'request_lost' | 'request_late' | 'answer_lost'

/** An effect that a fake service answers, and how. */
export interface FakeServiceOptions {
  /** The effect that it answers. */
  readonly name: string
  /**
   * Answers a request; `count` requests were done before. Throws `EffectFailure` to refuse. A list
   * is a tape: its first answer is for the first request; without one left, it refuses. Default:
   * `{}`.
   */
  readonly answer?: readonly Json[] | ((request: Json, count: number) => Json)
  /** A key that comes again is answered as before, and nothing is done. Default true. */
  readonly honoursKeys?: boolean
}

/** A request that the service has done. */
export interface FakeServiceDeed {
  readonly key: string
  readonly request: Json
  readonly answer: Json
}

/**
 * A service outside, in memory, behind the effects of one name: it outlives the processes that use
 * it, and loses requests and answers where it is told to. A documented fake: its providers pass
 * `providerConformance`.
 *
 * @example
 * const bank = new FakeService({ name: 'bank.transfer', answer: [{ reference: 'T-1' }] })
 * const tally = await createRuntime({ ..., providers: [bank.provider()] })
 */
export class FakeService {
  /** What was done, in order. */
  readonly deeds: FakeServiceDeed[] = []
  /** Becomes of the requests that come next, one for each. */
  readonly troubles: FakeServiceTrouble[] = []
  readonly #options: FakeServiceOptions
  #late: EffectCall[] = []

  constructor(options: FakeServiceOptions) {
    this.#options = options
  }

  /** A provider as one process has it: it keeps nothing itself. */
  provider(): Provider {
    const { name } = this.#options
    return {
      name,
      perform: (call) => this.#perform(call),
      locate: (call) => this.#locate(call)
    }
  }

  /** Lets the requests arrive that are late. */
  arrive(): void {
    for (const call of this.#late.splice(0)) this.#do(call)
  }

  async #perform(call: EffectCall): Promise<Json> {
    if (call.signal.aborted) throw new EffectFailure('not_sent', { definite: true })
    const trouble = this.troubles.shift()
    if (trouble === 'request_late') this.#late.push(call)
    if (trouble === 'request_late' || trouble === 'request_lost') {
      throw new EffectFailure('connection_lost')
    }
    const answer = this.#do(call)
    if (trouble === 'answer_lost') throw new EffectFailure('connection_lost')
    return copyJson(answer)
  }

  #locate({ key }: EffectCall): Located<Json> {
    const deed = this.deeds.find((one) => one.key === key)
    if (deed !== undefined) return { found: true, result: copyJson(deed.answer) }
    return { found: false, definite: !this.#late.some((one) => one.key === key) }
  }

  #do({ key, request }: EffectCall): Json {
    const { honoursKeys = true } = this.#options
    const before = honoursKeys ? this.deeds.find((one) => one.key === key) : undefined
    if (before !== undefined) return before.answer
    const answer = this.#answer(request)
    this.deeds.push({ key, request: copyJson(request), answer })
    return answer
  }

  #answer(request: Json): Json {
    const { answer = () => ({}) } = this.#options
    const count = this.deeds.length
    if (typeof answer === 'function') return answer(request, count)
    const next = answer[count]
    if (next !== undefined) return next
    throw new EffectFailure('tape_ended', { definite: true, details: { count } })
  }
}

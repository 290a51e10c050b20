import type { ActorPath, Hash, Json, RunId, UnitId } from '../../core/index.js'
import type { AttemptCommand, Request } from '../chart/protocol.js'
import type { Block } from '../code/block.js'
import type { CallRunInput, IntentInput } from '../code/call-run-input.js'
import type { StateView } from '../run/state-view.js'
import { putOff } from '../task-blocks.js'

/** An attempt, as its code needs it. */
interface AttemptOfCode extends Pick<CallRunInput, 'unitId' | 'at' | 'block' | 'view'> {
  readonly ask: AttemptCommand
  readonly seed: { readonly value: Hash }
  readonly signal: AbortSignal
}

/**
 * What an attempt gives to one execution of its code. Signal and seed are made when the code asks
 * for them: most code never does, and inside an atomic composite no receipt names the seed.
 */
export class AttemptInput implements CallRunInput {
  readonly runId: RunId
  readonly unitId: UnitId
  readonly path: ActorPath
  readonly attempt: number
  readonly at: number
  readonly block: Block
  readonly payload: Json
  readonly view: StateView
  declare readonly kernel?: IntentInput
  readonly #of: Pick<AttemptOfCode, 'ask' | 'seed' | 'signal'>

  constructor(
    attempt: AttemptOfCode,
    { runId, payload, kernel }: Pick<CallRunInput, 'runId' | 'payload' | 'kernel'>
  ) {
    const { ask, block } = attempt
    this.runId = runId
    this.unitId = attempt.unitId
    this.path = ask.path as ActorPath
    this.attempt = ask.attempt
    this.at = attempt.at
    this.block = ask.options.deferred === true ? putOff(block) : block
    this.payload = payload
    this.view = attempt.view
    if (kernel !== undefined) this.kernel = kernel
    this.#of = attempt
  }

  get request(): Request {
    return this.#of.ask.request
  }

  get seed(): Hash {
    return this.#of.seed.value
  }

  get signal(): AbortSignal {
    return this.#of.signal
  }
}

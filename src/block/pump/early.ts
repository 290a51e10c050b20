import type { ActorPath, Hash, Json, RunId, UnitId } from '../../core/index.js'
import type { Request } from '../chart/protocol.js'
import type { Block } from '../code/block.js'
import { CallRun } from '../code/call-run.js'
import type { CallRunInput, CallRunPort, IntentInput } from '../code/call-run-input.js'
import type { SignalSource } from '../code/lazy-signal.js'
import type { Call } from '../run/calls.js'
import type { Outcome } from '../run/outcome.js'
import type { StateView } from '../run/state-view.js'

/**
 * The first execution of a single-step run, begun before its run has a pump: code that ends at once
 * needs none, and any other continues in the pump as if it had begun there.
 *
 * Owns: what the code has said until a pump hears it. Does not own: what becomes of it.
 */
export class EarlyCallRun implements CallRunInput, CallRunPort {
  readonly runId: RunId
  readonly unitId: UnitId
  readonly path: ActorPath
  readonly attempt = 1
  readonly at: number
  readonly seed: Hash
  readonly block: Block
  readonly payload: Json
  readonly view: StateView
  readonly kernel: IntentInput
  readonly makeRequest: () => Request
  readonly execution: CallRun
  #outcome: Outcome | undefined
  #said: ((port: CallRunPort) => void)[] | undefined
  #port: CallRunPort | undefined
  #aborts: AbortController | undefined
  #signals: SignalSource | undefined

  constructor(
    input: Pick<
      EarlyCallRun,
      | 'runId'
      | 'unitId'
      | 'path'
      | 'at'
      | 'seed'
      | 'block'
      | 'payload'
      | 'view'
      | 'kernel'
      | 'makeRequest'
    >
  ) {
    this.runId = input.runId
    this.unitId = input.unitId
    this.path = input.path
    this.at = input.at
    this.seed = input.seed
    this.block = input.block
    this.payload = input.payload
    this.view = input.view
    this.kernel = input.kernel
    this.makeRequest = input.makeRequest
    this.execution = new CallRun(this, this)
  }

  /** Most code never asks for it, and its ids are hashes. */
  get request(): Request {
    return this.makeRequest()
  }

  get signal(): AbortSignal {
    if (this.#signals !== undefined) return this.#signals.signal
    this.#aborts ??= new AbortController()
    return this.#aborts.signal
  }

  /** What made the signal, if the code has asked for it. */
  get aborts(): AbortController | undefined {
    return this.#aborts
  }

  /** How the code ended, if it did so at once. */
  get outcome(): Outcome | undefined {
    return this.#outcome
  }

  /** Whether the code has said anything but how it ended. */
  get isSilent(): boolean {
    return this.#said === undefined
  }

  /** Whether an attempt has taken it over. */
  get isHandedOver(): boolean {
    return this.#port !== undefined
  }

  /** Tells a pump's attempt all that was said, and from now on whatever is. */
  handOver(port: CallRunPort, signals: SignalSource): void {
    this.#port = port
    this.#signals = signals
    for (const tell of this.#said ?? []) tell(port)
    this.#said = undefined
    if (this.#outcome !== undefined) port.settled(this.#outcome)
  }

  called(call: Call): void {
    this.#say((port) => port.called(call))
  }

  log(message: string, data: Json): void {
    this.#say((port) => port.log(message, data))
  }

  returned(): void {
    this.#say((port) => port.returned())
  }

  again(): void {
    this.#say((port) => port.again())
  }

  settled(outcome: Outcome): void {
    if (this.#port === undefined) this.#outcome = outcome
    else this.#port.settled(outcome)
  }

  #say(tell: (port: CallRunPort) => void): void {
    if (this.#port !== undefined) return tell(this.#port)
    this.#said ??= []
    this.#said.push(tell)
  }
}

import { signalNamed } from '../../code/index.js'
import { microtasksDone } from '../../core/index.js'
import type { RunFact } from '../run/decide.js'
import type { WaitBegun } from '../run/entries.js'
import {
  hashOfSignal,
  type SentSignal,
  type SignalOutcome,
  waitsForSignals
} from '../run/signals.js'
import type { MessageOutcome, WaitMessage } from '../run/waits.js'
import type { Leaves } from './leaves.js'
import type { OpenCalls } from './open-calls.js'
import type { PumpParts } from './parts.js'

/**
 * What people and programs outside send to one run: answers to its waits, and signals.
 *
 * Owns: nothing. Does not own: what is decided about them, or the waits and signals, which are the
 * run's state.
 *
 * - D2: the sender hears of nothing that is not durable.
 * - B3: a signal is given to the first call that asks for its name, in the order of both.
 */
export class Mail {
  readonly #parts: PumpParts & { readonly leaves: Leaves }
  readonly #calls: OpenCalls
  readonly #act: (fact: RunFact) => Promise<void>

  constructor(
    parts: PumpParts & { readonly leaves: Leaves },
    calls: OpenCalls,
    act: (fact: RunFact) => Promise<void>
  ) {
    this.#parts = parts
    this.#calls = calls
    this.#act = act
  }

  /** What a message would come to now. */
  async question(message: WaitMessage): Promise<MessageOutcome> {
    return this.#refusal(message) ?? { accepted: true }
  }

  /** Why a message is not taken, once it is durable what has happened to its wait (D2). */
  #refusal(message: WaitMessage): Promise<MessageOutcome> | undefined {
    const { state, writer } = this.#parts
    const { waits, attempts } = state
    const wait = waits.get(message.token)
    // Code that another state has led past its wait needs no answer any more.
    const isPast = wait !== undefined && attempts.get(wait.path)?.isPast(wait) === true
    const refusal = waits.refusal(message) ?? (isPast ? unknownToken : undefined)
    return refusal && writer.durable().then(() => refusal)
  }

  async message(message: WaitMessage): Promise<MessageOutcome> {
    const { state, writer, leaves } = this.#parts
    const { token, action } = message
    const wait = state.waits.get(token)
    const refusal = this.#refusal(message)
    if (refusal !== undefined || wait === undefined) return refusal ?? unknownToken
    const attempt = state.attempts.get(wait.path)
    const { path } = wait
    const problem = leaves.refusal(wait, message)
    if (problem !== undefined) {
      const data = { token, problem }
      writer.emit({ type: 'log', runId: state.runId, at: state.at, path, message: rejected, data })
      await writer.durable()
      return { accepted: false, reason: 'answer_refused', problem }
    }
    await this.#act({ kind: 'message', message })
    const isRetried = wait.reason === 'decision' && action === 'retry'
    const call = isRetried ? attempt?.effectAt(wait.seq) : undefined
    if (attempt !== undefined && call !== undefined) this.#calls.send(attempt, call, true)
    const isPartial = wait.approvers !== undefined && state.waits.get(token) === wait
    if (!isPartial) this.#answered(wait, action)
    await writer.durable()
    return isPartial ? { accepted: true, isPartial } : { accepted: true }
  }

  /** Takes a signal, unless it was sent before or cannot be taken. */
  async signal(signal: SentSignal): Promise<SignalOutcome> {
    const { writer } = this.#parts
    const outcome = this.#judged(signal)
    if (outcome.accepted && outcome.repeated !== true) await this.#act({ kind: 'signal', signal })
    await writer.durable()
    return outcome
  }

  #judged(signal: SentSignal): SignalOutcome {
    const { signals } = this.#parts.state
    const known = signals.known(signal.id)
    if (known !== undefined) {
      return known === hashOfSignal(signal)
        ? { accepted: true, repeated: true }
        : { accepted: false, reason: 'signal_id_reused' }
    }
    const problem = this.#problem(signal)
    if (problem !== undefined) return { accepted: false, reason: 'signal_refused', problem }
    return signals.refusal(signal.value) ?? { accepted: true }
  }

  /** Why the call that would be given this signal does not take it; undefined: none asks. */
  #problem({ name, value }: SentSignal): string | undefined {
    const { waits } = this.#parts.state
    const asking = waitsForSignals(waits).find(
      (wait) => signalNamed(wait.request) === name && this.#isReady(wait)
    )
    return asking && this.#callOf(asking)?.refuses(value)
  }

  /** Gives one wait the signal that it is for; undefined: there is none. */
  deliver(): Promise<void> | undefined {
    if (this.#parts.inbox.isStopping || this.#delivery() === undefined) return undefined
    return this.#give()
  }

  /** What code does by itself comes before what it is given (D3). */
  async #give(): Promise<void> {
    await microtasksDone()
    const found = this.#delivery()
    if (found === undefined) return
    const { wait, given } = found
    await this.#act({ kind: 'delivery', wait, given })
    this.#answered(wait, 'signal')
  }

  #delivery() {
    const { signals, waits } = this.#parts.state
    return signals.delivery(waits, (wait) => this.#isReady(wait))
  }

  #isReady(wait: WaitBegun): boolean {
    return this.#parts.state.attemptAt(wait)?.awaits(wait) === true
  }

  #callOf(wait: WaitBegun) {
    return this.#parts.state.attemptAt(wait)?.signalAt(wait.seq)
  }

  #answered({ path, token }: WaitBegun, action: string): void {
    const { state, writer } = this.#parts
    writer.emit({ type: 'answered', runId: state.runId, at: state.at, path, token, action })
  }
}

/** As AIS names it. */
const rejected = 'patch_rejected'
const unknownToken: MessageOutcome = { accepted: false, reason: 'unknown_token' }

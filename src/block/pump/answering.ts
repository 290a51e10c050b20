import { nextTurn } from '../../core/index.js'
import { decide, type Given } from '../run/decide.js'
import type { RunFact } from '../run/facts.js'
import type { MessageOutcome, WaitMessage } from '../run/waits.js'
import type { Attempt } from './attempt.js'
import type { Commits, CommitsPort } from './commits.js'
import type { PumpEvent } from './facts.js'
import type { PumpHost } from './host.js'
import { told } from './inbox.js'
import type { JournalWriter } from './journal-writer.js'

/**
 * Takes the facts that are not the end of an attempt's code: records what they come to, and lets
 * code that was answered run.
 */
export class Answering {
  readonly #pump: CommitsPort
  readonly #commits: Commits
  readonly #given: Given

  constructor(pump: CommitsPort, commits: Commits) {
    this.#pump = pump
    this.#commits = commits
    this.#given = givenOf(pump.writer, pump.host)
  }

  async answer(fact: Exclude<PumpEvent, { readonly kind: 'outcome' }>): Promise<void> {
    switch (fact.kind) {
      case 'stale': {
        const { attempt, reruns } = fact
        const isSame = this.#pump.state.attempts.get(attempt.ask.path) === attempt
        if (isSame && attempt.reruns === reruns) await this.#commits.runAgain(attempt)
        return
      }
      case 'cancel':
        return told(fact, async () => {
          await this.#act(fact)
          await this.#pump.writer.durable()
          return true
        })
      case 'message':
        return told(fact, () => this.#message(fact.message))
      case 'due': {
        const wait = this.#pump.state.waits.get(fact.token)
        const attempt = wait && this.#pump.state.attempts.get(wait.path)
        // Code that has ended does not wait any more, though its end has not had its turn.
        return wait?.seq !== null && attempt?.hasEnded === true ? undefined : this.#act(fact)
      }
      default:
        return this.#act(fact)
    }
  }

  /** Records the entries of a fact; code that is given a result runs before anything else does. */
  async #act(fact: RunFact): Promise<void> {
    for (const draft of decide(this.#pump.state, fact, this.#given)) {
      this.#pump.record(draft)
      const attempt = draft.k === 'sealed' ? this.#pump.state.attemptAt(draft) : undefined
      if (attempt !== undefined) await this.#quiet(attempt)
    }
  }

  /** Lets code that was just answered run, when another answer could otherwise overtake it (D3). */
  async #quiet(attempt: Attempt): Promise<void> {
    if (!attempt.isStarted) await this.#pump.leaves.start(attempt)
    if (attempt.isReplaying) await this.#pump.leaves.replay(attempt)
    else if (attempt.outstandingCount() > 0) await nextTurn()
  }

  async #message(message: WaitMessage): Promise<MessageOutcome> {
    const { state, writer } = this.#pump
    const { token, action } = message
    const refusal = state.waits.refusal(message)
    const wait = state.waits.get(token)
    const attempt = wait && state.attempts.get(wait.path)
    // Code that another state has led past its wait needs no answer any more.
    if (refusal !== undefined || wait === undefined || attempt?.isPast(wait) === true) {
      // A refusal tells too that something has happened to the wait (D2).
      await writer.durable()
      return refusal ?? { accepted: false, reason: 'unknown_token' }
    }
    await this.#act({ kind: 'message', message })
    const isRetried = wait.reason === 'decision' && action === 'retry'
    const call = isRetried ? attempt?.effectAt(wait.seq) : undefined
    if (attempt !== undefined && call !== undefined)
      this.#pump.leaves.calling.send(attempt, call, true)
    const { path } = wait
    this.#pump.emit({ type: 'answered', runId: state.runId, at: state.at, path, token, action })
    await writer.durable()
    return { accepted: true }
  }
}

function givenOf(writer: JournalWriter, host: PumpHost): Given {
  const { journal } = host
  return {
    get at() {
      return writer.now()
    },
    seal: (unitId, seq, bodyText) => journal.seal(unitId, seq, bodyText),
    compensation: (effect) => host.provider(effect)?.compensate
  }
}

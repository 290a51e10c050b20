import type { MessageOutcome, OpenWait, RunPump, RunStarted, WaitMessage } from '../block/index.js'
import { canonicalizeLedgerValue, type Json, limits, type RunId } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { copyOf } from './messages.js'
import { waitsOf } from './standing.js'

export interface MailOptions {
  readonly ledger: Ledger
  /** The run's pump, taken up if it is parked; undefined once it has ended. */
  pumpOf(runId: RunId): Promise<RunPump | undefined>
  /** Resolves when a run that is moving has left memory. */
  over(runId: RunId): Promise<void>
  /** What a message can end now. */
  waits(runId: RunId): readonly OpenWait[]
  /** Runs in memory. */
  liveRuns(): Iterable<RunId>
}

/**
 * Decides, before it is delivered, about an approval of a wait for permission: true lets the run go
 * on, false refuses, undefined leaves it to the run.
 */
export type ApprovePermission = (wait: OpenWait, by: Json) => Promise<boolean | undefined>

/**
 * Messages to runs wherever they are: live, parked, or moving between the two.
 *
 * Owns: nothing. An approval of a wait for permission grants what it asks first (K5): a grant is
 * state, and no answer stands in for one.
 */
export class Mail {
  readonly #options: MailOptions
  #approve: ApprovePermission = async () => undefined

  constructor(options: MailOptions) {
    this.#options = options
  }

  /** Sets who decides about permissions; once, when the runtime is wired. */
  onPermission(approve: ApprovePermission): void {
    this.#approve = approve
  }

  /** Gives a message of a person to a run. */
  async message(runId: RunId, given: WaitMessage): Promise<MessageOutcome> {
    const message = copyOf(given)
    if (await this.#overreaches(runId, message))
      return { accepted: false, reason: 'action_not_allowed' }
    const wait = this.#permissionAsked(runId, message)
    const approved = wait === undefined ? undefined : await this.#approve(wait, message.by)
    if (approved === undefined) return this.deliver(runId, message)
    return approved ? { accepted: true } : { accepted: false, reason: 'action_not_allowed' }
  }

  /** Gives a message to a run; one that parks meanwhile is followed. */
  async deliver(runId: RunId, message: WaitMessage): Promise<MessageOutcome> {
    for (let follow = 0; follow < limits.MESSAGE_FOLLOWS_MAX; follow += 1) {
      const pump = await this.#options.pumpOf(runId)
      if (pump === undefined) return { accepted: false, reason: 'unknown_token' }
      const outcome = await pump.inbox.message(message)
      if (outcome.accepted || outcome.reason !== 'run_moved') return outcome
      await this.#options.over(runId)
    }
    return { accepted: false, reason: 'run_moved' }
  }

  async cancel(runId: RunId, reason: string, by: Json): Promise<void> {
    canonicalizeLedgerValue([reason, by])
    for (let follow = 0; follow < limits.MESSAGE_FOLLOWS_MAX; follow += 1) {
      const pump = await this.#options.pumpOf(runId)
      if (pump === undefined || (await pump.inbox.cancel(reason, by))) return
      await this.#options.over(runId)
    }
  }

  /** Everything that waits for a reason, in memory or parked. */
  async *waitsFor(
    reason: string
  ): AsyncGenerator<{ readonly runId: RunId; readonly wait: OpenWait }> {
    const live = new Set(this.#options.liveRuns())
    for (const runId of live) {
      for (const wait of this.#options.waits(runId)) {
        if (wait.reason === reason) yield { runId, wait }
      }
    }
    for await (const record of this.#options.ledger.runs()) {
      if (live.has(record.runId)) continue
      for (const wait of waitsOf(record)) {
        if (wait.reason === reason) yield { runId: record.runId, wait }
      }
    }
  }

  /** A patch of a workflow's node changes what it was given, never what it does (W3). */
  async #overreaches(runId: RunId, message: WaitMessage): Promise<boolean> {
    const { token, action, value = null } = message
    if (action !== 'patch') return false
    const { overreaches } = await import('../workflow/index.js')
    const wait = this.#options.waits(runId).find((one) => one.token === token)
    const started = this.#options.ledger.run(runId)?.started as unknown as RunStarted | undefined
    return wait !== undefined && overreaches(wait, value, started?.definition ?? null)
  }

  #permissionAsked(runId: RunId, { token, digest, action }: WaitMessage): OpenWait | undefined {
    if (action !== 'approve') return undefined
    const wait = this.#options.waits(runId).find((one) => one.token === token)
    const isFit = wait?.digest === digest && wait.actions.includes(action)
    return isFit && wait.reason === 'permission' ? wait : undefined
  }
}

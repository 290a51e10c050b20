import type {
  MessageOutcome,
  OpenWait,
  RunPump,
  RunStarted,
  WaitMessage
} from '../../block/index.js'
import { canonicalizeLedgerValue, type Json, limits, type RunId } from '../../core/index.js'
import { approvalRefusal, type KeySignature } from '../../identity/index.js'
import type { RunDocuments } from '../../workflow/index.js'
import { asksForValues, earlierMessages } from './earlier-answers.js'
import { waitsOf } from './ended.js'
import {
  type Command,
  checkBytes,
  commandIn,
  copyOf,
  isSameCommand,
  namedCommand
} from './messages.js'
import type { RunDriver } from './run-driver.js'
import type { EarlierWaits, RunEntry } from './run-entry.js'
import type { RunStore } from './run-store.js'

/**
 * Decides, before it is delivered, about an approval of a wait for permission: true lets the run
 * continue, false refuses, undefined leaves it to the run.
 */
export type ApprovePermission = (wait: OpenWait, by: Json) => Promise<boolean | undefined>

type Refusal = (MessageOutcome & { readonly accepted: false })['reason']

/**
 * Messages to runs wherever they are: live, parked, or moving between the two.
 *
 * Owns: which commands with ids are under way. Does not own: which were given before, which is in
 * the journals.
 *
 * - K5 An approval of a wait for permission grants what it asks first: a grant is state, and no
 *   answer stands in for one.
 * - W3 What one node of a workflow is given of an input, every node gets that waits for it, or asks
 *   for it later.
 * - W10 A command with an id is done once in its run; given again it has the same outcome.
 */
export class RunMessages {
  readonly #driver: RunDriver
  readonly #store: RunStore
  readonly #underWay = new Map<string, Promise<unknown>>()
  /** Signed approvals of waits for permission whose grants are under way, by token. */
  readonly #signed = new Map<string, KeySignature>()
  #approve: ApprovePermission = async () => undefined

  constructor(driver: RunDriver) {
    this.#driver = driver
    this.#store = driver.store
    this.#store.whenWaiting((entry, wait) => this.#opened(entry, wait))
  }

  /** Sets who decides about permissions; once, when the runtime is wired. */
  onPermission(approve: ApprovePermission): void {
    this.#approve = approve
  }

  /** Gives a message of a person to a run. */
  async message(runId: RunId, given: Command): Promise<MessageOutcome> {
    const { commandId, ...message } = copyOf(given)
    this.#store.parts.host.telemetry?.answering(message.token)
    if (commandId === undefined) return this.#judge(runId, message, message.by)
    const name = JSON.stringify([runId, commandId])
    while (this.#underWay.has(name)) await this.#underWay.get(name)
    const judged = this.#once(runId, message, commandId)
    this.#underWay.set(
      name,
      judged.catch(() => undefined)
    )
    return judged.finally(() => this.#underWay.delete(name))
  }

  /** Does what this command has not done before. */
  async #once(runId: RunId, message: WaitMessage, commandId: string): Promise<MessageOutcome> {
    for await (const { value } of this.#store.parts.ledger.journal(runId)) {
      const earlier = commandIn(value)
      if (earlier?.commandId !== commandId) continue
      if (isSameCommand(earlier, message)) return { accepted: true, repeated: true }
      return { accepted: false, reason: 'command_id_reused' }
    }
    return this.#judge(runId, message, namedCommand(message.by, commandId))
  }

  /** `by` is what the journal keeps: the principal, and the command's id. */
  async #judge(runId: RunId, message: WaitMessage, by: Json): Promise<MessageOutcome> {
    const wait = this.#permissionAsked(runId, message)
    const reason =
      wait && (approvalRefusal(wait, [], message) ?? (await this.#over(runId, message)))
    if (reason !== undefined) return { accepted: false, reason }
    const approved = wait === undefined ? undefined : await this.#granted(wait, message)
    if (approved === undefined) return this.deliver(runId, { ...message, by })
    return approved ? { accepted: true } : { accepted: false, reason: 'action_not_allowed' }
  }

  /** Why a wait for permission cannot be granted any more: its time is over (B3). */
  async #over(runId: RunId, message: WaitMessage): Promise<Refusal | undefined> {
    const { ledger, host } = this.#store.parts
    const last = ledger.run(runId)?.last as { readonly due?: number | null } | undefined
    const due = this.#store.get(runId)?.live?.pump?.state.nextDue() ?? last?.due ?? null
    if (due === null || due > host.clock.now()) return undefined
    const outcome = await this.#followed(runId, ({ inbox }) => inbox.question(message))
    return outcome.accepted ? undefined : outcome.reason
  }

  /** The wait ends by the grant that it asks for, and keeps the signature of its approval. */
  async #granted(wait: OpenWait, { by, approval }: WaitMessage): Promise<boolean | undefined> {
    if (approval !== undefined) this.#signed.set(wait.token, approval)
    try {
      return await this.#approve(wait, by)
    } finally {
      this.#signed.delete(wait.token)
    }
  }

  /** Gives a message to a run; one that parks meanwhile is followed. */
  async deliver(runId: RunId, given: WaitMessage): Promise<MessageOutcome> {
    const approval = given.approval ?? this.#signed.get(given.token)
    const message = approval === undefined ? given : { ...given, approval }
    // A run that is resumed does not know its waits at once.
    const shares = await this.#sharesOf(runId, message)
    return this.#followed(runId, ({ inbox }) => inbox.message(message, shares))
  }

  /** Asks the pump of a run; one that has ended knows no token. */
  #followed(
    runId: RunId,
    ask: (pump: RunPump) => Promise<MessageOutcome>
  ): Promise<MessageOutcome> {
    const ended = async (): Promise<MessageOutcome> => ({
      accepted: false,
      reason: 'unknown_token'
    })
    return this.#driver.followed(runId, { ask, ended })
  }

  async cancel(runId: RunId, reason: string, by: Json): Promise<void> {
    checkBytes('The reason of a cancellation in bytes', canonicalizeLedgerValue([reason, by]))
    for (let follow = 0; follow < limits.MESSAGE_FOLLOWS_MAX; follow += 1) {
      const pump = await this.#driver.pumpOf(runId)
      if (pump === undefined || (await pump.inbox.cancel(reason, by))) return
      await this.#store.get(runId)?.live?.over
    }
  }

  /** Everything that waits for a reason, in memory or parked. */
  async *waitsFor(
    reason: string
  ): AsyncGenerator<{ readonly runId: RunId; readonly wait: OpenWait }> {
    const { ledger, quarantine } = this.#store.parts
    const live = new Set<RunId>()
    for (const entry of this.#store.entries()) if (entry.live !== undefined) live.add(entry.runId)
    for (const runId of live) {
      if (quarantine.holds(runId)) continue
      for (const wait of this.#store.waits(runId)) {
        if (wait.reason === reason) yield { runId, wait }
      }
    }
    for (const record of ledger.openRuns()) {
      if (live.has(record.runId) || quarantine.holds(record.runId)) continue
      for (const wait of waitsOf(record)) {
        if (wait.reason === reason) yield { runId: record.runId, wait }
      }
    }
  }

  #documentsOf(runId: RunId): RunDocuments {
    const { ledger, registry } = this.#store.parts
    const started = ledger.run(runId)?.started as unknown as RunStarted | undefined
    // Definitions are plain JSON by construction.
    const used = (name: string) => (registry.composite(name) ?? null) as unknown as Json
    return { definition: started?.definition ?? null, used }
  }

  /** The same answer to every other wait of the run that asks for the same inputs. */
  async #sharesOf(runId: RunId, message: WaitMessage): Promise<readonly WaitMessage[]> {
    const { token, digest, action, by, value = null } = message
    if (action !== 'resume') return []
    const waits = this.#store.waits(runId)
    const answered = waits.find((one) => one.token === token && one.digest === digest)
    if (answered === undefined || waits.length < 2 || !asksForValues(answered)) return []
    const { sharedAnswer } = await import('../../workflow/index.js')
    const documents = this.#documentsOf(runId)
    return waits.flatMap((wait) => {
      if (wait === answered || !wait.actions.includes(action)) return []
      // What was signed holds for one wait.
      if (wait.approvers !== undefined || answered.approvers !== undefined) return []
      const share = sharedAnswer(answered, value, wait, documents)
      if (share === undefined) return []
      return [{ token: wait.token, digest: wait.digest, action, by, value: share }]
    })
  }

  #permissionAsked(runId: RunId, { token, digest, action }: WaitMessage): OpenWait | undefined {
    if (action !== 'approve') return undefined
    const wait = this.#store.waits(runId).find((one) => one.token === token)
    const isFit = wait !== undefined && wait.digest === digest && wait.actions.includes(action)
    // What approvers have signed is an answer to the code that asks, and grants nothing.
    const isGrant = wait?.reason === 'permission' && wait.approvers === undefined
    return isFit && isGrant ? wait : undefined
  }

  /**
   * A wait of a run in memory has opened, or was found open when the run was resumed. What its
   * workflow was given before it asked is looked for. A run is not called parked before that.
   */
  #opened(entry: RunEntry, wait: OpenWait): void {
    if (!asksForValues(wait)) return
    entry.earlier ??= { waits: [], looking: Promise.resolve(), underWay: 0 }
    const { earlier } = entry
    earlier.waits.push(wait)
    if (earlier.waits.length > 1) return
    earlier.looking = earlier.looking.then(() => this.#look(entry, earlier))
  }

  async #look(entry: RunEntry, earlier: EarlierWaits): Promise<void> {
    const { runId } = entry
    const { ledger } = this.#store.parts
    try {
      await this.#store.durable(runId)
      const waits = earlier.waits.splice(0)
      const documents = this.#documentsOf(runId)
      for (const message of await earlierMessages(ledger, runId, waits, documents)) {
        void this.#deliverEarlier(runId, earlier, message)
      }
    } catch (error) {
      earlier.waits.length = 0
      this.#failed(runId, error)
    }
  }

  /** A person may have answered meanwhile: then it is refused, and changes nothing. */
  async #deliverEarlier(runId: RunId, earlier: EarlierWaits, message: WaitMessage): Promise<void> {
    earlier.underWay += 1
    try {
      await this.deliver(runId, message)
    } catch (error) {
      this.#failed(runId, error)
    } finally {
      earlier.underWay -= 1
    }
  }

  /** A run could not be given what it has to get. */
  #failed(runId: RunId, error: unknown): void {
    const entry = this.#store.get(runId)
    if (entry !== undefined) this.#store.settle(entry, { error })
  }
}

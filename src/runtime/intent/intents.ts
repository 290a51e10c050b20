import type { OpenWait, Position } from '../../block/index.js'
import { type GrantedCode, isOwner, LEDGER_READ, missing, stateOf } from '../../capability/index.js'
import {
  type ErrorCode,
  type Hash,
  isJsonObject,
  isTallyError,
  type Json,
  type JsonObject,
  type Random,
  type RunId,
  shownText,
  systemRandom
} from '../../core/index.js'
import {
  doneReply,
  type ErrorReply,
  type Intent,
  type IntentReply,
  isSystemIntent,
  parseIntent,
  type SystemIntent
} from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { Packages } from '../code/packages.js'
import type { Registry } from '../code/registry.js'
import type { AskedIntent } from '../gate/asked-intent.js'
import { readsAll } from '../gate/reading-rights.js'
import { openForMany } from '../gate/refusal.js'
import type { RunResult } from '../run/handle.js'
import { ownerNamed } from '../run/messages.js'
import type { RunEntry } from '../run/run-entry.js'
import type { StartTerms, TraceOption } from '../run/run-terms.js'
import type { Runs } from '../run/runs.js'
import { writtenInTurns } from '../run/written-inputs.js'

/** An intent as a caller gives it. */
export interface IntentRequest {
  /** Names it: the same id with the same intent is the same work (L6). Default: a random one. */
  readonly id?: string
  /** Dotted name of what is to be done. */
  readonly action: string
  readonly payload?: JsonObject
  /** The words from which it was made; kept in the receipt. */
  readonly raw?: string
  /** Package id or name of a trusted block that is to do it. Default: routing (K4). */
  readonly provider?: string
  /** What the block that does it finds in `ctx.context`. Default: `{}`. */
  readonly context?: JsonObject
  /** Trace of the caller: a W3C `traceparent`, or its ids. */
  readonly trace?: TraceOption
  /**
   * Whose data it is about, as of a start: what it keeps is under the key of the subject, which
   * {@link Runtime.erase} destroys. Not with intents of the system.
   */
  readonly subject?: string
}

export interface IntentsParts {
  readonly ledger: Ledger
  readonly registry: Registry
  readonly runs: Runs
  readonly packages: Packages
  readonly random: Random
  /** `replay`: nothing new is taken (K10). */
  readonly mode: 'normal' | 'replay'
  /** The location is opened for many identities. */
  readonly isShared: boolean
  /** Reads anew which runs are quarantined. */
  quarantined(): Promise<void>
  /** Reads anew what begins by time. */
  scheduled(): Promise<void>
  /** Notes what is installed in the integrity lock (K10). */
  keepLock(): Promise<void>
  /** Answers a system intent that only reads (K2); undefined when it is none of those. */
  read(action: SystemIntent, payload: JsonObject): Promise<Json> | undefined
  /** Does `system.export`, in every mode: the ledger is only read. */
  exports(asked: { readonly id: RunId; readonly payload: JsonObject }): Promise<IntentReply>
  /** Does `system.import`, in safe mode too. */
  imports(asked: { readonly id: RunId; readonly payload: JsonObject }): Promise<IntentReply>
  /** Does a system intent that is more than a change of state; undefined for all others. */
  act(asked: AskedIntent): Promise<IntentReply> | undefined
}

interface IntentTerms extends Omit<StartTerms, 'inputs' | 'written'> {
  readonly writing: 'at once' | 'in turns'
}

/**
 * Single-step runs: each is a run of one leaf, which leaves one receipt (K1, L6).
 *
 * Owns: nothing. What waits for a grant is found in the ledger when a grant comes.
 *
 * - K13 The principal is the caller's entry point's, never the payload's.
 */
export class Intents {
  readonly #parts: IntentsParts

  constructor(parts: IntentsParts) {
    this.#parts = parts
  }

  /**
   * Does an intent, or tells what it waits for. One that nothing else can change is written in
   * turns of the event loop where it is large.
   */
  async submit(
    request: IntentRequest,
    principal: Json,
    writing: 'at once' | 'in turns' = 'at once'
  ): Promise<IntentReply> {
    const { random } = this.#parts
    const { id, context, trace, subject, ...rest } = request
    const runId = (id ?? random.uuid()) as RunId
    const parsed = parseIntent(rest as JsonObject)
    if (!parsed.ok) return refused(runId, 'invalid_intent', { problem: parsed.problem })
    const { intent } = parsed
    if (subject !== undefined && isSystemIntent(intent.action)) {
      const problem = 'an intent of the system has no subject: what it changes is in the state'
      return refused(runId, 'invalid_intent', { problem })
    }
    const isOwners = isOwner(principal)
    if (intent.action === 'system.recover' && !isOwners) {
      return refused(runId, 'not_permitted', { problem: 'only the owner ends safe mode' })
    }
    if (intent.action === 'system.recover' && this.#parts.isShared) {
      return openForMany(runId, intent.action)
    }
    if (intent.action === 'system.export' && isOwners) {
      return this.#parts.exports({ id: runId, payload: intent.payload })
    }
    if (intent.action === 'system.import' && isOwners && this.#parts.mode === 'normal') {
      return this.#parts.imports({ id: runId, payload: intent.payload })
    }
    if (ownReading.has(intent.action) && !readsAll(this.#parts.ledger, principal)) {
      const problem = 'it shows what others may do and have run'
      return refused(runId, 'not_permitted', { problem, capability: LEDGER_READ })
    }
    const reading = this.#reading(intent.action, intent.payload)
    if (reading !== undefined) {
      const result = await reading
      return doneReply({ id: runId, dappId: 'kernel', receipt: null, result })
    }
    const closed = this.#refusal(runId)
    if (closed !== undefined) return closed
    const undeclared = this.#undeclared(runId, intent)
    if (undeclared !== undefined) return undeclared
    // Chance that a test gives may draw an id that is there.
    const isNew = id === undefined && random === systemRandom
    const terms = { principal, context, trace, subject, isNew, writing }
    if (!isSystemIntent(intent.action)) return this.#do(runId, intent, terms)
    const go = (payload: JsonObject) => this.#do(runId, { ...intent, payload }, terms)
    const acted = this.#parts.act({ id: runId, intent, principal, go })
    return acted ?? go(intent.payload)
  }

  async #do(
    runId: RunId,
    intent: Intent,
    { writing, ...given }: IntentTerms
  ): Promise<IntentReply> {
    const { runs, registry } = this.#parts
    const inputs = { ...intent } as unknown as Json
    const written = writing === 'in turns' ? await writtenInTurns(inputs) : undefined
    const prepared = registry.documents.intentRoot(intent.action)
    const entry = runs.beginSingleStep(runId, prepared, { inputs, written, ...given })
    // As a rule it ends while it begins, and no wait has to be watched for.
    if (!entry.hasEnded) await entry.begun.catch(() => undefined)
    let reply: IntentReply
    try {
      reply = entry.hasEnded
        ? replyOf(runId, intent.action, await entry.result)
        : await this.#reply(runId, entry, intent.action)
    } catch (error) {
      return refusedFor(runId, error)
    }
    if (reply.type === 'dapp' && isSystemIntent(intent.action)) {
      await this.changed(intent.action, given.principal)
    }
    return reply
  }

  /** What an intent came to in the end, however long it waits. Rejects with `run.not_found`. */
  async result(id: string): Promise<IntentReply> {
    const runId = id as RunId
    const { runs, ledger } = this.#parts
    const entry = await runs.attach(runId)
    const action = shownText(ledger.run(runId)?.started['name'] ?? 'intent')
    return replyOf(runId, action, await entry.result)
  }

  /** After a step of a run that changed something: as after a single-step system intent. */
  stepped(position: Position): void {
    const follow = async () => {
      await this.#parts.ledger.durable(position)
      await this.#parts.packages.arrange()
      await this.#parts.keepLock()
      await this.#wake(ownerNamed())
    }
    // A poisoned ledger rejects every wait; what waits for a grant is found again later.
    follow().catch(() => undefined)
  }

  /** After a system intent that changed something: routing and what waits for a grant continue. */
  async changed(action: string, by: Json): Promise<void> {
    if (action.startsWith('package.')) {
      await this.#parts.packages.arrange()
      await this.#parts.keepLock()
    }
    if (action === 'system.grant') await this.#wake(by)
    if (schedulesDependOn(action)) await this.#parts.scheduled()
    if (action === 'system.quarantine' || action === 'system.release') {
      await this.#parts.quarantined()
    }
  }

  /**
   * Grants what a wait asks for, in the name of who approves it; then the wait ends by itself.
   * Undefined when it asks for no grant.
   */
  async approve(wait: OpenWait, by: Json): Promise<boolean | undefined> {
    const asked = askedOf(wait)
    if (asked === undefined) return undefined
    const { codeHash, capabilities } = asked
    const payload = { codeHash, capabilities: [...capabilities] }
    const reply = await this.submit({ action: 'system.grant', payload }, by)
    return reply.type === 'dapp'
  }

  /** Why no intent is taken now, besides those that only read (K2, K10). */
  #refusal(id: RunId): ErrorReply | undefined {
    const { ledger, mode } = this.#parts
    if (mode === 'replay') {
      return refused(id, 'replay_mode', { problem: 'this runtime only replays' })
    }
    const state = ledger.state()
    if (state.mode === 'restoring') {
      const problem = 'a snapshot takes the place of the ledger, or has taken it'
      return refused(id, 'restoring', { problem })
    }
    if (state.mode !== 'safe') return undefined
    const { code = 'unknown', message = 'the cause is not known' } = state.cause ?? {}
    return refused(id, 'safe_mode', { problem: message, cause: code })
  }

  /** A grant of what the package does not declare would never have an effect. */
  #undeclared(id: RunId, { action, payload }: Intent): ErrorReply | undefined {
    if (action !== 'system.grant') return undefined
    const { package: name, codeHash, capabilities, principal } = payload
    // What a principal may use has more names: those of the code itself, of its effects.
    if (principal !== undefined) return undefined
    const subject = codeHash ?? name
    if (typeof subject !== 'string' || !Array.isArray(capabilities)) return undefined
    const names = capabilities.map(String)
    const { unknown = [], declared = [] } = this.#parts.packages.undeclared(subject, names) ?? {}
    if (unknown.length === 0) return undefined
    const problem = `${subject} declares no ${unknown.join(', ')}, only ${declared.join(', ')}`
    return refused(id, 'unknown_capability', { problem, unknown, declared }, action)
  }

  #reading(action: string, payload: JsonObject): Promise<Json> | undefined {
    return isSystemIntent(action) ? this.#parts.read(action, payload) : undefined
  }

  async #reply(runId: RunId, entry: RunEntry, action: string): Promise<IntentReply> {
    const { runs, ledger } = this.#parts
    const waited = new Promise<OpenWait>((resolve, reject) => {
      runs.whenWaiting(runId, (wait, position) => {
        ledger.durable(position).then(() => resolve(wait), reject)
      })
    })
    waited.catch(() => undefined)
    await entry.begun
    if (runs.waits(runId).length > 0) {
      const [open] = await runs.durableWaits(runId)
      if (open !== undefined) return waitReply(runId, open)
    }
    const first = await Promise.race([entry.result, waited])
    return 'token' in first ? waitReply(runId, first) : replyOf(runId, action, first)
  }

  /** Resumes everything that waits for grants which are all there now. */
  async #wake(by: Json): Promise<void> {
    const { runs, ledger } = this.#parts
    const state = stateOf(ledger)
    for await (const { runId, wait } of runs.messages.waitsFor('permission')) {
      const asked = askedOf(wait)
      if (asked === undefined) continue
      const code: GrantedCode & { readonly capabilities: readonly string[] } = {
        identity: ledger.identity,
        ...asked
      }
      if (missing(state, code).length > 0) continue
      const { token, digest } = wait
      await runs.messages.deliver(runId, { token, digest, action: 'approve', by })
    }
  }
}

/** What a schedule of an erased subject would begin is not there any more. */
function schedulesDependOn(action: string): boolean {
  return action.startsWith('system.schedule') || action === 'system.erase'
}

/** Reading intents of the owner, and of whom the owner lets read what others have run. */
const ownReading: ReadonlySet<string> = new Set(['system.permissions', 'system.replay'])

/** What a wait of an intent asks to be granted. */
function askedOf(
  wait: OpenWait
): { readonly codeHash: Hash; readonly capabilities: readonly string[] } | undefined {
  const shown = requestIn(wait)
  const { codeHash, capabilities } = shown
  if (wait.reason !== 'permission' || typeof codeHash !== 'string') return undefined
  if (!Array.isArray(capabilities)) return undefined
  return { codeHash: codeHash as Hash, capabilities: capabilities.map(String) }
}

/** What `ctx.wait` was asked to show. */
function requestIn({ request }: OpenWait): JsonObject {
  const shown = isJsonObject(request) ? request['request'] : undefined
  return isJsonObject(shown) ? shown : {}
}

function waitReply(id: RunId, wait: OpenWait): IntentReply {
  const { token, digest, reason, request, actions } = wait
  const asked = askedOf(wait)
  if (asked === undefined) {
    return { type: 'waiting', id, reason, token, digest, request, actions }
  }
  const { codeHash, capabilities } = asked
  const [capability = ''] = capabilities
  const dappId = shownText(requestIn(wait)['dappId'] ?? '')
  return {
    type: 'permission_request',
    id,
    token,
    digest,
    dappId,
    codeHash,
    capability,
    capabilities
  }
}

function replyOf(id: RunId, action: string, result: RunResult): IntentReply {
  const { response, receiptHash = null, dappId = '' } = result
  if (response.success) {
    return doneReply({ id, dappId, receipt: receiptHash, result: response.data })
  }
  return refused(id, response.reason ?? 'failed', response.details ?? {}, action)
}

/** A run that may not begin is a reply; every other error is thrown. */
function refusedFor(id: RunId, error: unknown): ErrorReply {
  const reason = isTallyError(error) ? refusals[error.code] : undefined
  if (!isTallyError(error) || reason === undefined) throw error
  const { message: problem, context, fix } = error
  return refused(id, reason, {
    problem,
    ...(reason === 'not_permitted' ? { ...context, fix } : {})
  })
}

const refusals: Partial<Record<ErrorCode, string>> = {
  'ledger.erased': 'erased',
  'ledger.subject_erased': 'subject_erased',
  'run.id_reused': 'id_reused',
  'run.not_permitted': 'not_permitted',
  'run.version_quarantined': 'version_quarantined'
}

function refused(id: RunId, reason: string, details: JsonObject, action?: string): ErrorReply {
  const about = details['problem'] ?? details['message'] ?? reason.replaceAll('_', ' ')
  const message = `${action === undefined ? '' : `${action}: `}${shownText(about)}`
  return { type: 'error', id, reason, message, details }
}

import type { Provider } from '../../block/index.js'
import { type EffectCall, EffectFailure, type Located } from '../../code/index.js'
import {
  type Clock,
  canonicalize,
  type Environment,
  type Hash,
  hashJson,
  isTallyError,
  type Json,
  limits,
  Redactor
} from '../../core/index.js'
import { guardedFetch, type NetworkOptions } from '../../intent/index.js'
import { sessionSettings } from '../binding/settings.js'
import { deadline } from '../transports/deadline.js'
import { turnFailure } from '../transports/failures.js'
import {
  type AdapterSettings,
  type AgentAdapter,
  type AgentSession,
  type SessionOptions,
  TURN_EFFECT,
  type TurnDelta,
  type TurnEffectRequest,
  type TurnRequest,
  type TurnResult
} from './adapter.js'
import type { AdapterRegistry } from './adapter-registry.js'
import { BrokenTurns, type BrokenUsage } from './broken-turns.js'
import { NotedSessions, type OpenNoted } from './noted-sessions.js'
import { RedactedDeltas } from './redacted-deltas.js'
import { RunWork } from './run-work.js'
import type { SessionNote, SessionNotes } from './session-notes.js'
import { SessionPool } from './session-pool.js'
import { type ResponseSecrets, withheld } from './withhold.js'

/** What is sealed of a turn (A5). */
export type SealedTurn = TurnResult & {
  /** sha256 of the canonical request that was answered, without the key. */
  readonly requestDigest: Hash
  /** Milliseconds that the turn took, and tools of the run since the turn before (A7). */
  readonly workMs?: number
  /** What the agent's turns without an answer may have used since its last answer, at most. */
  readonly broken?: BrokenUsage
}

/** A piece of an answer as it arrives: an event, never history. Lost ones are not sent again. */
export interface AgentDelta extends TurnDelta {
  readonly type: 'agent.delta'
  readonly runId: string
  readonly nodeId: string
  readonly agentId: string
  readonly invocationId: string
}

/** What turns of agents need of their host: adapters, settings, tools and bounds. */
export interface AgentTurnsOptions {
  readonly adapters: AdapterRegistry
  /** Where settings that nothing else gives, and secrets, are looked for (A3). */
  readonly environment: Environment
  /** Secrets that requests may name, and send to servers that they name. Default: none. */
  readonly documentSecrets?: readonly string[]
  /** Bounds the servers that requests name (K15). Default: any server. */
  readonly network?: NetworkOptions
  readonly onDelta?: (delta: AgentDelta) => void
  /** Measures the turns that are to end in time (A6). */
  readonly clock?: Clock
  /** Measures how long turns and tools work. */
  readonly work?: RunWork
  /** Parts of responses that are not to be sealed; then no deltas are reported either. */
  readonly secrets?: ResponseSecrets
  /** Learns the secrets that are read; none that it knows is in results and deltas. */
  readonly redactor?: Redactor
}

/**
 * Answers the effect `agent.turn` with the adapters of a registry.
 *
 * Owns: the sessions of the runs of this process, and with notes those that earlier processes have
 * left open. Does not own: whether a turn may be repeated; that follows from the class of the
 * effect, and from what its failure says.
 *
 * Invariants: A4 one session for each run and agent, turns in order. A5 what is sealed holds no
 * secret. L7 the effect's key is the invocation id of every try.
 */
export class AgentTurns implements Provider {
  readonly name = TURN_EFFECT
  readonly #options: AgentTurnsOptions
  readonly #redactor: Redactor
  readonly #sessions = new SessionPool()
  readonly #noted: NotedSessions
  readonly #work: RunWork
  readonly #broken = new BrokenTurns()

  constructor(options: AgentTurnsOptions) {
    this.#options = options
    this.#work = options.work ?? new RunWork(options.clock)
    this.#redactor = options.redactor ?? new Redactor()
    this.#noted = new NotedSessions((note) => this.#disposeNoted(note), this.#redactor)
  }

  /** Has sessions written down that the other side keeps, so that none outlives its run. */
  useNotes(notes: SessionNotes): void {
    this.#noted.use(notes)
  }

  /** Throws `EffectFailure` when there is no answer; a `failed` turn is an answer. */
  async perform(call: EffectCall): Promise<Json> {
    const asked = await this.#asked(call)
    const deltas = this.#deltas(asked)
    const { timeoutMs } = asked.effect
    const expiry = deadline(timeoutMs, this.#options.clock)
    let heardBytes = 0
    const options = {
      signal: AbortSignal.any([call.signal, expiry.signal]),
      invocationId: call.key,
      ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
      onDelta: (delta: TurnDelta) => {
        heardBytes += Buffer.byteLength(delta.text)
        deltas?.take(delta)
      }
    }
    try {
      const { runId } = asked.turn
      const result = await this.#inSession(asked, (session) =>
        this.#work.measure(runId, () => session.turn(asked.turn, options))
      )
      deltas?.end()
      return await this.#sealed(asked, result)
    } catch (error) {
      const isDefinite = error instanceof EffectFailure && error.definite
      if (!isDefinite) this.#broken.add(agentKey(asked), boundOf(asked, heardBytes))
      const isLate = expiry.signal.aborted && !call.signal.aborted && !isDefinite
      throw isLate ? turnFailure('timed_out', { timeoutMs }) : error
    } finally {
      expiry.stop()
    }
  }

  async locate(call: EffectCall): Promise<Located<Json>> {
    const asked = await this.#asked(call)
    const found = await this.#inSession(asked, async (session) => session.locate?.(asked.turn))
    if (found === undefined) return { found: false, definite: false }
    return { found: true, result: await this.#sealed(asked, found) }
  }

  /** Lets go of the sessions of a run that has ended or was parked. */
  disposeRun(runId: string): Promise<void> {
    return this.#sessions.disposeRun(runId)
  }

  /** Closes noted sessions of runs that are over, also those of other processes; never throws. */
  disposeLeft(isOver: (runId: string) => boolean): Promise<void> {
    return this.#noted.disposeLeft(isOver)
  }

  /** Lets go of all sessions of this process; never throws. */
  close(): Promise<void> {
    return this.#sessions.close()
  }

  async #disposeNoted(note: SessionNote): Promise<void> {
    const { runId, agentId, flowName, adapterKind, adapterConfig, id } = note
    const adapter = this.#options.adapters.adapter(adapterKind)
    const settings = await this.#settings(adapterConfig, adapter)
    const place = { runId, agentId, flowName, settings, earlier: id }
    const session = await adapter.open({ ...place, ...this.#bound(adapterConfig) })
    await session.dispose()
  }

  async #asked({ request, key }: EffectCall): Promise<Asked> {
    // The turn block makes its request of this type; another block may leave the time out.
    const given = request as unknown as TurnEffectRequest
    const effect = { ...given, timeoutMs: given.timeoutMs ?? limits.AGENT_TURN_MS_DEFAULT }
    try {
      const adapter = this.#options.adapters.adapter(effect.adapterKind)
      const settings = await this.#settings(effect.adapterConfig, adapter)
      const { model = settings.model } = effect.turn
      const whole = model === undefined ? settings : { ...settings, model }
      const problems = adapter.validate?.(whole) ?? []
      if (problems.length > 0) throw turnFailure('invalid_settings', { problems: [...problems] })
      const turn = { ...effect.turn, invocationId: key }
      return { effect, request, settings: whole, adapter, turn }
    } catch (error) {
      throw failureOf(error)
    }
  }

  /** What a session may connect to where a document has named the server. */
  #bound({ baseUrl }: AdapterSettings): Pick<SessionOptions, 'fetch'> {
    const { network } = this.#options
    return network === undefined || baseUrl === undefined ? {} : { fetch: guardedFetch(network) }
  }

  #settings(adapterConfig: AdapterSettings, adapter: AgentAdapter): Promise<AdapterSettings> {
    const { environment, documentSecrets = [], network = 'any' } = this.#options
    const redactor = this.#redactor
    if (adapter.redactor !== undefined) redactor.include(adapter.redactor)
    const given = { adapterConfig, adapter, environment, documentSecrets, redactor }
    return sessionSettings({ ...given, network })
  }

  async #inSession<Result>(
    asked: Asked,
    act: (session: AgentSession) => Promise<Result>
  ): Promise<Result> {
    const { turn, effect } = asked
    const { runId, agentId } = turn
    const { adapterKind, adapterConfig, systemPrompt } = effect
    const key = canonicalize([runId, agentId, adapterKind, adapterConfig, systemPrompt ?? null])
    const open = (earlier?: string) => this.#open(asked, key, earlier)
    try {
      return await this.#sessions.use({ key, runId }, () => open(effect.session), act)
    } catch (error) {
      // Nothing was begun in a session that is gone, so the turn is asked of a new one.
      if (!(error instanceof EffectFailure) || error.reason !== 'session_lost') {
        throw failureOf(error)
      }
    }
    await this.#sessions.drop(key)
    try {
      return reopened(await this.#sessions.use({ key, runId }, () => open(), act))
    } catch (error) {
      throw failureOf(error)
    }
  }

  #open(asked: Asked, key: string, earlier: string | undefined): Promise<AgentSession> {
    const { adapter, effect, turn, settings } = asked
    const { runId, agentId } = turn
    const { adapterKind, adapterConfig, flowName, systemPrompt } = effect
    const system = systemPrompt === undefined ? {} : { systemPrompt }
    const named = { runId, agentId, flowName, settings }
    const open: OpenNoted['open'] = (given) =>
      adapter.open({ ...named, ...this.#bound(adapterConfig), ...system, ...given })
    if (adapter.keepsSessions?.(settings) !== true) {
      return open(earlier === undefined ? {} : { earlier })
    }
    const place = { runId, agentId, flowName, adapterKind, adapterConfig }
    return this.#noted.open({ place, key, earlier, open })
  }

  async #sealed(asked: Asked, result: TurnResult): Promise<Json> {
    const workMs = this.#work.take(asked.turn.runId)
    const broken = this.#broken.take(agentKey(asked))
    const warnings = broken === undefined ? [] : [brokenText(broken)]
    const sealed: SealedTurn = {
      ...result,
      requestDigest: hashJson(asked.request),
      // Only where it bounds something: otherwise the same answers give the same receipts.
      ...(asked.effect.countsWork === true ? { workMs } : {}),
      ...(broken === undefined ? {} : { broken, warnings: [...result.warnings, ...warnings] })
    }
    const { secrets } = this.#options
    // The result is plain JSON: adapters promise it, and the pump checks it.
    const plain = await this.#redactor.inTurns('json', sealed as unknown as Json)
    return secrets === undefined ? plain : withheld(plain, secrets)
  }

  #deltas({ turn }: Asked): RedactedDeltas | undefined {
    const { onDelta, secrets } = this.#options
    if (onDelta === undefined || secrets !== undefined) return undefined
    const { runId, nodeId, agentId, invocationId } = turn
    return new RedactedDeltas(this.#redactor, (delta) => {
      try {
        onDelta({ type: 'agent.delta', runId, nodeId, agentId, invocationId, ...delta })
      } catch {
        // A listener does not decide the outcome of the turn.
      }
    })
  }
}

interface Asked {
  readonly effect: TurnEffectRequest
  readonly request: Json
  readonly settings: AdapterSettings
  readonly turn: TurnRequest
  readonly adapter: AgentAdapter
}

function agentKey({ turn }: Asked): string {
  return canonicalize([turn.runId, turn.agentId])
}

/** A token stands for at least one byte; what was to come is bounded by what was asked for. */
function boundOf({ request, turn, settings }: Asked, heardBytes: number) {
  const input = Buffer.byteLength(canonicalize(request))
  return { input, output: turn.maxTokens ?? settings.maxTokens ?? heardBytes }
}

function brokenText({ turns, inputTokens, outputTokens }: BrokenUsage): string {
  const tokens = inputTokens + outputTokens
  return `turns without an answer (${turns}) are counted as at most ${tokens} tokens`
}

/** Says in the sealed result that the backend has lost what it remembered. */
function reopened<Result>(result: Result): Result {
  if (typeof result !== 'object' || result === null || !('warnings' in result)) return result
  const { warnings } = result as { readonly warnings: readonly string[] }
  const warning = 'the backend had lost the session; the turn was done in a new one'
  return { ...result, warnings: [...warnings, warning] }
}

/** What an adapter threw, without anything that may quote a key or a prompt. */
function failureOf(error: unknown): EffectFailure {
  if (error instanceof EffectFailure) return error
  if (isTallyError(error)) {
    const { code, message, fix } = error
    return turnFailure('adapter_unavailable', { code, message, fix })
  }
  return turnFailure('adapter_failed', { error: error instanceof Error ? error.name : 'unknown' })
}

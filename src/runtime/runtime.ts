import { EventEmitter } from 'eventemitter3'
import { currentProfile, type ReceiptReplay, type VerificationReport } from '../audit/index.js'
import { ActorPool, type Diagnostic, lintDocument, Turns, UnitGate } from '../block/index.js'
import { openPackage } from '../capability/index.js'
import {
  type Clock,
  type Hash,
  type IdentityId,
  type Json,
  type Random,
  type RunId,
  systemClock,
  systemRandom,
  TallyError
} from '../core/index.js'
import type { IntentReply, NetworkOptions, StageListener } from '../intent/index.js'
import {
  type JournalEntry,
  type Ledger,
  type LedgerState,
  listenOwner,
  type OwnerHandler,
  type OwnerSocket,
  type RunRecord,
  type StoredReceipt
} from '../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import {
  Conversation,
  type PlannedText,
  type ResolvedText,
  type ResolveOptions
} from './conversation.js'
import type { Answer, RunHandle } from './handle.js'
import { type IntentRequest, Intents } from './intents.js'
import { kernelFor } from './kernel.js'
import { messageOf, ownerNamed } from './messages.js'
import { MEMORY_LOCATION, type OpenedLedger, type OpenOptions, openForRuntime } from './open.js'
import { Packages } from './packages.js'
import { type Registrations, Registry } from './registry.js'
import { type Known, Runs } from './runs.js'
import { serve, verifySteadily } from './service.js'
import { readSystem } from './system-reading.js'
import { auditOf, type RuntimeAudit, type VerifyOptions } from './verifying.js'

export interface RuntimeOptions extends Registrations, OpenOptions {
  /**
   * `output` (default): steps run ahead of the disk, and nothing leaves the process before it is
   * durable. `step`: every step is durable before the next one begins (D2).
   */
  readonly durability?: 'output' | 'step'
  /** Takes up every run that was interrupted. Default false: `resume` does it one by one. */
  readonly resume?: boolean
  /**
   * Listens on the owner socket, so that the command line and other processes of this user can see
   * and answer the runs (L11). Default true for ledgers on disk.
   */
  readonly serve?: boolean
  /**
   * Directories of capability packages. One that nothing is installed of yet is installed; other
   * code than what is installed is not loaded (K10).
   */
  readonly packages?: readonly string[]
  /** Where packages may reach by `network.request`. */
  readonly network?: NetworkOptions
  /**
   * `replay`: reads, verifies and replays, and takes no new runs and intents (K10). Default
   * `normal`.
   */
  readonly mode?: 'normal' | 'replay'
  readonly clock?: Clock
  readonly random?: Random
}

export interface StartOptions {
  /** Names the run: the same id with the same document and inputs is the same run (L6). */
  readonly id?: string
  /** Payload of the root block's request. */
  readonly inputs?: Json
}

/**
 * Runs documents against one ledger.
 *
 * @example
 * await using tally = await createRuntime({ location: './ledger', create: 'if-absent', blocks })
 * const text = await readFile('pay.yaml', 'utf8')
 * const run = tally.start(text, { id: 'june', inputs: { limit: '500' } })
 * const { status, response } = await run.result
 */
export interface Runtime extends AsyncDisposable {
  readonly identity: IdentityId
  /**
   * Every event of every run started after the first listener was added; as `--json` prints them.
   */
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
  /** Starts a run of a document: YAML or JSON text, or the parsed document. */
  start(document: string | Json, options?: StartOptions): RunHandle
  /**
   * Has something done by whoever serves the action, as one unit of work with one receipt (K1).
   * Resolves with what it came to, or with what it waits for: then it goes on by itself once that
   * is there, and `result` awaits its end. Rejects only with what rejects runs.
   */
  intent(request: IntentRequest): Promise<IntentReply>
  /** What an intent came to in the end. Rejects with `run.not_found`. */
  result(id: string): Promise<IntentReply>
  /** What a text means: kernel patterns, then an AI provider, then `ai.chat`; nothing is done. */
  resolveIntent(text: string, options?: ResolveOptions): Promise<ResolvedText>
  /** {@link resolveIntent}, with the steps that doing it would take. */
  planText(text: string, options?: ResolveOptions): Promise<PlannedText>
  /** Installs a package: its text as `tally package pack` writes it. */
  install(packed: string): Promise<IntentReply>
  /** A run of this ledger by its id, without taking it up. Rejects with `run.not_found`. */
  attach(id: string): Promise<RunHandle>
  /** Takes up an interrupted run. */
  resume(id: string): Promise<RunHandle>
  /** Records of all runs, as far as they are durable. */
  runs(): AsyncIterable<RunRecord>
  /** The record of a run, as far as it is durable. */
  run(id: string): RunRecord | undefined
  journal(id: string): AsyncIterable<JournalEntry>
  receipts(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<StoredReceipt>
  receipt(which: Hash | number): Promise<StoredReceipt | undefined>
  /** What is wrong or doubtful in a document; empty when it is fine. */
  lint(document: string | Json): Promise<readonly Diagnostic[]>
  /**
   * Checks everything: hashes, links, signatures, state, journals; and, unless `reexecute` is
   * false, does every run again with the registered code. Never throws for bad data (semantics.md
   * P1).
   */
  verify(options?: VerifyOptions): Promise<VerificationReport>
  /** {@link verify} with every unit executed twice and the executions compared (P2). */
  replay(options?: Omit<VerifyOptions, 'reexecute'>): Promise<VerificationReport>
  /** Does one receipt again, twice. Undefined when there is none. */
  replayReceipt(which: Hash | number): Promise<ReceiptReplay | undefined>
  /** State after receipt `upTo` (from 0): key to canonical JSON. */
  reconstructState(upTo: number): ReturnType<RuntimeAudit['reconstructState']>
  /** A signed note over everything committed so far: keep it elsewhere, it anchors the history. */
  note(): Promise<string>
  status(): LedgerState
  /** Parks what is running and lets go of the ledger. */
  close(): Promise<void>
}

/** What `createRuntime` does once it is loaded. */
export async function openRuntime(options: RuntimeOptions): Promise<WiredRuntime> {
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const registry = new Registry(options)
  const opened = await openForRuntime(options, { random })
  const runtime = new WiredRuntime(opened, registry, {
    clock,
    random,
    durability: options.durability ?? 'output',
    ...(options.network === undefined ? {} : { network: options.network }),
    ...(options.mode === undefined ? {} : { mode: options.mode })
  })
  try {
    await runtime.loadPackages(options.packages ?? [])
    if (options.serve !== false) await runtime.listen()
    if (options.resume === true) await runtime.resumeAll()
    // Nobody changes what its methods do (K10).
    Object.freeze(runtime)
    return runtime
  } catch (error) {
    await runtime.close()
    throw error
  }
}

/** The runtime as its own package sees it; users see {@link Runtime}. */
export class WiredRuntime implements Runtime {
  readonly events = new EventEmitter<{ event: (event: DeliveredEvent) => void }>()
  readonly ledger: Ledger
  readonly registry: Registry
  readonly audit: RuntimeAudit
  readonly runsOf: Runs
  readonly packages: Packages
  readonly intents: Intents
  /** What other processes may ask, answered in this one. */
  readonly service: OwnerHandler
  readonly #opened: OpenedLedger
  readonly #random: Random
  readonly #mode: 'normal' | 'replay'
  readonly #conversation: Conversation
  #socket: OwnerSocket | undefined
  #closed: Promise<void> | undefined

  constructor(
    opened: OpenedLedger,
    registry: Registry,
    options: {
      readonly clock: Clock
      readonly random: Random
      readonly durability: 'output' | 'step'
      /** What receipts name besides the code; by default, this runtime's. */
      readonly profile?: Json
      readonly network?: NetworkOptions
      readonly mode?: 'normal' | 'replay'
      /** Hears the stages of intents; for tests and inspectors. */
      readonly onStage?: StageListener
    }
  ) {
    const { clock, random, durability, profile = currentProfile() } = options
    this.#opened = opened
    this.#random = random
    this.#mode = options.mode ?? 'normal'
    this.ledger = opened.ledger
    this.registry = registry
    const kernel = kernelFor(registry, {
      identity: this.ledger.identity,
      realPath: opened.realPath,
      ...(options.network === undefined ? {} : { network: options.network }),
      ...(options.onStage === undefined ? {} : { onStage: options.onStage })
    })
    this.packages = new Packages(this.ledger, kernel.shelf, kernel.sandbox)
    this.runsOf = new Runs({
      ledger: this.ledger,
      registry,
      events: this.events,
      host: {
        journal: this.ledger,
        clock,
        turns: new Turns(),
        actors: new ActorPool(),
        gate: new UnitGate(clock),
        identity: this.ledger.identity,
        profile,
        durability,
        block: (name) => registry.block(name),
        provider: (name) => registry.provider(name)
      }
    })
    registry.agents.onDelta((delta) => this.runsOf.tell({ ...delta, runId: delta.runId as RunId }))
    const { store } = opened
    this.audit = auditOf({ store, identity: this.ledger.identity, code: registry })
    const { ledger, packages, audit, runsOf: runs } = this
    this.intents = new Intents({
      ledger,
      registry,
      runs,
      packages,
      random,
      mode: options.mode ?? 'normal',
      read: (action, payload) => readSystem({ ledger, packages, audit }, action, payload)
    })
    this.#conversation = new Conversation({
      ledger,
      registry,
      packages,
      start: (document, given) => this.start(document, given)
    })
    runs.mail.onPermission((wait, by) => this.intents.approve(wait, by))
    this.service = serve({
      ledger: this.ledger,
      location: opened.realPath ?? MEMORY_LOCATION,
      running: { runs: this.runsOf, registry },
      asking: {
        intent: (request, principal) => this.intents.submit(request, principal),
        planText: (text, given) => this.planText(text, given),
        install: (packed) => this.install(packed)
      },
      verify: ({ notes, replay, executions }) =>
        verifySteadily(() => this.audit.verify({ notes, reexecute: replay, executions })),
      replay: (which) => this.audit.replayReceipt(which),
      lint: (document) => this.lint(document)
    })
  }

  /** Takes up what is installed, and installs what is new at these paths. */
  async loadPackages(directories: readonly string[]): Promise<void> {
    await this.packages.arrange()
    if (this.#mode === 'replay') return
    for (const { manifest, codeHash } of await this.packages.read(directories)) {
      const { id, version } = manifest
      await this.intent({ action: 'package.install', payload: { id, version, codeHash } })
    }
  }

  intent(request: IntentRequest): Promise<IntentReply> {
    return this.intents.submit(request, ownerNamed())
  }

  result(id: string): Promise<IntentReply> {
    return this.intents.result(id)
  }

  resolveIntent(text: string, options?: ResolveOptions): Promise<ResolvedText> {
    return this.#conversation.resolve(text, options)
  }

  planText(text: string, options?: ResolveOptions): Promise<PlannedText> {
    return this.#conversation.propose(text, options)
  }

  async install(packed: string): Promise<IntentReply> {
    const one = openPackage(packed)
    await this.packages.shelf.keep(one)
    const { id, version } = one.manifest
    const payload = { id, version, codeHash: one.codeHash }
    return this.intent({ action: 'package.install', payload })
  }

  /** Listens on the owner socket (L11); in memory there is nobody to listen to. */
  async listen(): Promise<void> {
    const { realPath } = this.#opened
    if (realPath === undefined) return
    const { identity, service: handle } = this
    this.#socket = await listenOwner({ realPath, identity, handle })
  }

  get identity(): IdentityId {
    return this.ledger.identity
  }

  start(document: string | Json, options: StartOptions = {}): RunHandle {
    if (this.#mode === 'replay') throw new TallyError('runtime.replay_only', {})
    const runId = (options.id ?? this.#random.uuid()) as RunId
    const inputs = options.inputs ?? {}
    const known = this.runsOf.start(runId, this.registry.prepare(document), {
      inputs,
      principal: { kind: 'owner', id: 'local' }
    })
    return this.#handle(runId, known)
  }

  async attach(id: string): Promise<RunHandle> {
    const runId = id as RunId
    return this.#handle(runId, await this.runsOf.attach(runId))
  }

  async resume(id: string): Promise<RunHandle> {
    const runId = id as RunId
    return this.#handle(runId, await this.runsOf.resume(runId))
  }

  resumeAll(): Promise<readonly RunId[]> {
    return this.runsOf.resumeAll()
  }

  runs(): AsyncIterable<RunRecord> {
    return this.ledger.runs({ durable: true })
  }

  run(id: string): RunRecord | undefined {
    return this.ledger.run(id as RunId, { durable: true })
  }

  journal(id: string): AsyncIterable<JournalEntry> {
    return this.ledger.journal(id as RunId)
  }

  receipts(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<StoredReceipt> {
    return this.ledger.receipts(range)
  }

  receipt(which: Hash | number): Promise<StoredReceipt | undefined> {
    return this.ledger.receipt(which)
  }

  async lint(document: string | Json): Promise<readonly Diagnostic[]> {
    const prepared = await this.registry.prepare(document)
    if (!prepared.ok) return prepared.diagnostics
    return [...lintDocument(prepared.definition), ...prepared.warnings]
  }

  verify(options: VerifyOptions = {}): Promise<VerificationReport> {
    return this.audit.verify(options)
  }

  replay(options: Omit<VerifyOptions, 'reexecute'> = {}): Promise<VerificationReport> {
    return this.audit.verify({ ...options, executions: 2 })
  }

  replayReceipt(which: Hash | number): Promise<ReceiptReplay | undefined> {
    return this.audit.replayReceipt(which)
  }

  reconstructState(upTo: number): ReturnType<RuntimeAudit['reconstructState']> {
    return this.audit.reconstructState(upTo)
  }

  note(): Promise<string> {
    return this.ledger.note()
  }

  status(): LedgerState {
    return this.ledger.state()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  // Nobody may ask while the runs end, and the socket goes before the lock does (L11).
  async #close(): Promise<void> {
    await this.#socket?.close()
    await this.runsOf.close()
    await this.registry.agents.turns.close()
    await this.packages.close()
    await this.#opened.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #handle(runId: RunId, known: Known): RunHandle {
    const runs = this.runsOf
    const answer = (token: string, given: Answer, action: 'approve' | 'deny') =>
      runs.mail.message(runId, messageOf(token, given, action))
    return {
      id: runId,
      result: known.result.promise,
      waits: () => runs.durableWaits(runId),
      approve: (token, given) => answer(token, given, 'approve'),
      deny: (token, given) => answer(token, given, 'deny'),
      resume: (token, { action = 'resume', ...given }) =>
        runs.mail.message(runId, messageOf(token, given, action)),
      cancel: (reason = 'cancelled by the owner') =>
        runs.mail.cancel(runId, reason, ownerNamed(undefined)),
      [Symbol.asyncIterator]: () => runs.read(runId, known)[Symbol.asyncIterator](),
      // Leaving the scope lets go of the handle only; the run goes on.
      [Symbol.asyncDispose]: async () => undefined
    }
  }
}

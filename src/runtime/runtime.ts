import { EventEmitter } from 'eventemitter3'
import {
  currentProfile,
  type Difference,
  type ReceiptReplay,
  type VerificationReport
} from '../audit/index.js'
import type { Diagnostic } from '../block/index.js'
import {
  type Hash,
  type IdentityId,
  type Json,
  type Random,
  type RunId,
  runtimeError
} from '../core/index.js'
import type { InspectionMessage, Inspector } from '../inspect/index.js'
import {
  type IntentReply,
  KERNEL_VERSION,
  programVersions,
  type Versions
} from '../intent/index.js'
import type {
  JournalEntry,
  Ledger,
  OwnerHandler,
  RunRecord,
  StoredReceipt
} from '../ledger/index.js'
import { type InspectionOptions, Inspections } from './audit/inspecting.js'
import type { RecheckOptions, TransactionCheck } from './audit/reconfirm.js'
import type { RunReadiness } from './audit/upgrade-check.js'
import { auditOf, type RuntimeAudit, type VerifyOptions } from './audit/verifying.js'
import { Packages } from './code/packages.js'
import type { Registry } from './code/registry.js'
import {
  Conversation,
  type PlannedText,
  type ResolvedText,
  type ResolveOptions
} from './intent/conversation.js'
import { pipelineFor } from './intent/intent-pipeline.js'
import { type IntentRequest, Intents } from './intent/intents.js'
import type { OpenedLedger } from './open.js'
import { IntegrityLock } from './opening/integrity-lock.js'
import { checkOpening, type OpeningTime } from './opening/opening-checks.js'
import type { OpeningCause } from './opening/opening-remedies.js'
import { hostOf } from './pump-host.js'
import { type OutsideState, outsideState } from './queries/outside-state.js'
import { followRun, type Queries, queriesOf } from './queries/queries.js'
import type { RunsFilter } from './queries/query-types.js'
import type { DeliveredEvent } from './run/channel.js'
import { ChildRuns } from './run/child-runs.js'
import { ExceptionLog } from './run/exception-log.js'
import type { RunHandle } from './run/handle.js'
import { ownerNamed } from './run/messages.js'
import { judgeOpenJournals } from './run/own-journal.js'
import { type Quarantine, quarantineOf } from './run/quarantine.js'
import { KeptRateTimes } from './run/rate-times.js'
import { Runs } from './run/runs.js'
import { type GivenStart, type StartSource, startOf } from './run/start-source.js'
import type { Runtime, RuntimeStatus, WiredOptions } from './runtime-api.js'
import { type ScheduleKeeper, scheduleKeeperOf } from './schedule/schedule-keeper.js'
import type { ScheduleOptions } from './schedule/schedule-options.js'
import { exemptSecrets } from './service/redacted-service.js'
import { servingOf } from './serving.js'
import { type Archives, archivesOf } from './system/archiving.js'
import { type Erasing, erasingOf } from './system/erasing.js'
import type { ExportOptions, ExportReport } from './system/exporting.js'
import { Importing } from './system/importing.js'
import { SystemActs } from './system/system-intents.js'
import { readSystem } from './system/system-reading.js'

const exporting = () => import('./system/exporting.js')

/** The runtime as its own package sees it; users see {@link Runtime}. */
export class WiredRuntime implements Runtime {
  readonly events = new EventEmitter<{ event: (event: DeliveredEvent) => void }>()
  readonly identity: IdentityId
  readonly ledger: Ledger
  readonly registry: Registry
  readonly audit: RuntimeAudit
  readonly runsOf: Runs
  readonly packages: Packages
  readonly intents: Intents
  /** What other processes may ask, answered in this one. */
  readonly service: OwnerHandler
  readonly queries: Queries
  readonly state: OutsideState
  readonly #opened: OpenedLedger
  readonly #random: Random
  readonly #mode: 'normal' | 'replay'
  readonly #lock: IntegrityLock
  readonly #conversation: Conversation
  readonly #acts: SystemActs
  readonly #versions: Versions
  readonly #importing: Importing
  readonly #inspections: Inspections
  readonly quarantine: Quarantine
  readonly schedules: ScheduleKeeper
  readonly archives: Archives
  readonly erasing: Erasing
  #warnings: readonly string[] = []
  #causes: readonly OpeningCause[] = []
  #closed: Promise<void> | undefined

  constructor(opened: OpenedLedger, registry: Registry, options: WiredOptions) {
    const { clock, random, durability, profile = currentProfile() } = options
    const { versions = programVersions, outside, network, sandbox, onStage, telemetry } = options
    this.#opened = opened
    this.#versions = versions
    this.#random = random
    this.#mode = options.mode ?? 'normal'
    this.ledger = opened.ledger
    this.identity = this.ledger.identity
    this.registry = registry
    const place = { identity: this.identity, realPath: opened.realPath }
    const kernel = pipelineFor(registry, { ...place, versions, network, sandbox, onStage })
    this.packages = new Packages(this.ledger, kernel.packageCache, kernel.sandbox)
    const exceptions = new ExceptionLog(opened.realPath, this.identity)
    const { provider: children } = new ChildRuns(registry.documents, () => this.runsOf)
    const rates = new KeptRateTimes(opened.realPath, this.identity)
    const kept = { outside, telemetry, exceptions, children, rates }
    const host = hostOf(this.ledger, registry, { clock, profile, durability, ...kept })
    this.quarantine = quarantineOf(this, options.onQuarantine)
    this.runsOf = new Runs({
      ...{ ledger: this.ledger, registry, host, random },
      ...{ quarantine: this.quarantine, events: this.events },
      onIntentWork: (position) => this.intents.stepped(position)
    })
    registry.rooms.onDelta((delta) => this.runsOf.tell({ ...delta, runId: delta.runId as RunId }))
    const { store, realPath } = opened
    this.audit = auditOf({
      ...{ store, identity: this.ledger.identity, code: registry, kept: () => this.#lock.kept() },
      ...{ key: this.ledger.verificationKey, telemetry, clock },
      found: (difference) => this.#found(difference),
      failed: () => judgeOpenJournals(this.ledger)
    })
    const { ledger, packages, audit, runsOf: runs } = this
    const codeHashes = () => packages.installedCode()
    this.#lock = new IntegrityLock({ ledger, kernel: KERNEL_VERSION, realPath, codeHashes })
    this.archives = archivesOf(this, () => this.#lock.keep())
    this.erasing = erasingOf(this, store)
    const acting = { ...opened, ...{ clock, random, profile, versions, registry, packages } }
    this.#acts = new SystemActs({ ...acting, archives: this.archives, erasing: this.erasing })
    this.#importing = new Importing(opened)
    this.#inspections = new Inspections({ ledger, registry, events: this.events })
    this.intents = new Intents({
      ledger,
      registry,
      runs,
      packages,
      random,
      ...{ mode: options.mode ?? 'normal', isShared: opened.shared !== undefined },
      keepLock: () => this.#lock.keep(),
      quarantined: () => this.quarantine.refresh(),
      scheduled: () => this.schedules.changed(),
      read: (action, payload) =>
        readSystem({ ledger, packages, audit, lock: this.#lock, realPath }, action, payload),
      act: (asked) => this.#acts.act(asked),
      exports: async (asked) => (await exporting()).exportIntent((to) => this.export(to), asked),
      imports: (asked) => this.#importing.act(asked)
    })
    this.schedules = scheduleKeeperOf(this, clock)
    this.#conversation = new Conversation({
      ...{ ledger, registry, packages },
      start: (document, given) => this.begin(document, given)
    })
    runs.messages.onPermission((wait, by) => this.intents.approve(wait, by))
    const opening = { realPath, warned: () => this.#warned(), causes: () => this.#causes }
    this.service = servingOf(this, { ...opening, exceptions })
    this.queries = queriesOf(this.service)
    this.state = outsideState(this.ledger, registry.redactor)
  }

  #warned(): readonly string[] {
    const texts = [...this.#warnings, ...this.schedules.warnings(), ...this.archives.warnings()]
    return [...texts, ...exemptSecrets(this.registry.redactor)]
  }

  /** Checks what is there, and notes with which program it continues (K2, K10). */
  async checkIntegrity(time: OpeningTime = {}): Promise<void> {
    const { ledger, packages, registry: code } = this
    const given = { ledger, packages, code, lock: this.#lock, versions: this.#versions }
    const { warnings, causes, difference } = await checkOpening({ ...given, ...time })
    this.#warnings = [...(this.#opened.socket?.passedOver ?? []), ...warnings]
    this.#causes = causes
    await this.quarantine.refresh()
    if (this.#mode === 'replay') return
    await this.#acts.begin((action) => this.intent({ action }))
    if (difference !== undefined) await this.quarantine.found(difference)
  }

  async #found(difference: Difference): Promise<void> {
    if (this.#mode === 'normal') await this.quarantine.found(difference)
  }

  /** Loads what is installed, and installs what is new at these paths. */
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
    const { manifest, codeHash } = await this.packages.keep(packed)
    const { id, version } = manifest
    return this.intent({ action: 'package.install', payload: { id, version, codeHash } })
  }

  /** Answers on the owner socket (L11); in memory there is none. */
  listen(handle: OwnerHandler = this.service): void {
    const { identity } = this
    this.#opened.socket?.serve({ identity, handle })
  }

  readonly start = (async (source: StartSource, ...given: GivenStart) =>
    this.runsOf.start(...this.#beginningOf(source, given))) as Runtime['start']

  // What a run gives is what its workflow says that it gives.
  readonly begin = ((source: StartSource, ...given: GivenStart): RunHandle =>
    this.runsOf.handleOf(
      this.runsOf.begin(...this.#beginningOf(source, given))
    )) as Runtime['begin']

  #beginningOf(source: StartSource, given: GivenStart): Parameters<Runs['begin']> {
    if (this.#mode === 'replay') throw runtimeError('runtime.replay_only', {})
    return startOf(this.registry.documents, { source, given, random: this.#random })
  }

  async attach(id: string): Promise<RunHandle> {
    return this.runsOf.handleOf(await this.runsOf.attach(id as RunId))
  }

  async resume(id: string): Promise<RunHandle> {
    return this.runsOf.handleOf(await this.runsOf.resume(id as RunId))
  }

  readonly signal: Runtime['signal'] = (id, name, value = null, how = {}) =>
    this.runsOf.signal(id as RunId, name, value, how)

  readonly schedule: Runtime['schedule'] = (given) => this.schedules.add(given as ScheduleOptions)

  release(id: string): Promise<IntentReply> {
    return this.intent({ action: 'system.release', payload: { run: id } })
  }

  /** Whether runs may begin and continue: a ledger in safe mode is read. */
  get takesWork(): boolean {
    return this.ledger.state().mode === 'ready'
  }

  resumeAll(): Promise<readonly RunId[]> {
    return this.runsOf.resumeAll()
  }

  readonly runs = ((filter?: RunsFilter) =>
    filter === undefined
      ? this.ledger.runs({ durable: true })
      : this.queries.find(filter)) as Runtime['runs']
  readonly query: Runtime['query'] = async (id, key) => {
    const { publishedValue } = await import('./queries/published-values.js')
    const found = await publishedValue(this.ledger, id as RunId, key)
    return found === undefined ? undefined : this.registry.redactor.inTurns('json', found)
  }

  readonly queues: Runtime['queues'] = async (name) =>
    (await this.queries.queues(name === undefined ? {} : { name })).queues

  readonly waits: Runtime['waits'] = (filter = {}) => this.queries.waits(filter)

  run(id: string): RunRecord | undefined {
    return this.ledger.run(id as RunId, { durable: true })
  }

  journal(id: string): AsyncIterable<JournalEntry> {
    return this.ledger.journal(id as RunId)
  }

  readonly follow: Runtime['follow'] = (id, { after, signal } = {}) =>
    followRun(this.service, { id, ...(after === undefined ? {} : { after }) }, signal)

  inspect(observer: Inspector, options?: InspectionOptions): { unsubscribe(): void } {
    return this.#inspections.watch(observer, options)
  }

  inspection(id: string, options?: InspectionOptions): AsyncIterable<InspectionMessage> {
    return this.#inspections.run(id as RunId, options)
  }

  receipts(range?: { readonly from?: number; readonly to?: number }): AsyncIterable<StoredReceipt> {
    return this.ledger.receipts(range)
  }

  receipt(which: Hash | number): Promise<StoredReceipt | undefined> {
    return this.ledger.receipt(which)
  }

  lint(document: string | Json): Promise<readonly Diagnostic[]> {
    return this.registry.documents.lint(document)
  }

  async recheck(id: string, options: RecheckOptions = {}): Promise<readonly TransactionCheck[]> {
    if (this.#mode === 'replay') throw runtimeError('runtime.replay_only', {})
    const { reconfirmRun } = await import('./audit/reconfirm.js')
    return reconfirmRun(id as RunId, options, this)
  }

  async checkUpgrade(): Promise<readonly RunReadiness[]> {
    const { checkOpenRuns } = await import('./audit/upgrade-check.js')
    return checkOpenRuns(this.ledger, this.registry)
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

  async export(options: ExportOptions): Promise<ExportReport> {
    return (await exporting()).exportOpened(this.#opened, this.audit, options)
  }

  readonly archive: Runtime['archive'] = (options) =>
    this.archives.archive(this.#random.uuid() as RunId, options)
  readonly erase: Runtime['erase'] = (...given) => this.erasing.erase(...given)

  status(): RuntimeStatus {
    const warnings = [...this.#warned(), ...this.runsOf.withoutCode.warningsNow()]
    return { ...this.ledger.state(), warnings, quarantined: this.quarantine.marks() }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  // No caller may ask while the runs end; the socket stays bound until the store is closed (L13).
  // Runs cannot end while an import holds their commits.
  async #close(): Promise<void> {
    await this.#importing.close()
    await Promise.all([this.archives.close(), this.erasing.settled()])
    this.#opened.socket?.pause()
    this.schedules.close()
    await this.runsOf.close()
    await this.#inspections.close()
    await this.registry.rooms.close()
    await this.packages.close()
    try {
      await this.#closeLedger()
    } finally {
      await this.#opened.close()
    }
  }

  // The lock is written of what is durable, while no other process can hold the ledger.
  async #closeLedger(): Promise<void> {
    const isSound = this.ledger.state().mode === 'ready'
    await this.ledger.close()
    if (isSound && this.#mode === 'normal') await this.#lock.keep()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

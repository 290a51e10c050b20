import {
  type Block,
  type Call,
  CallRun,
  type CallRunInput,
  type CallRunPort,
  type IntentInput,
  type Outcome,
  type Request,
  type Response,
  ROOT_PATH,
  type SignalSource,
  StateView
} from '../../code/index.js'
import {
  type ActorPath,
  canonicalize,
  chainJournal,
  type Hash,
  type Json,
  type JsonObject,
  type RunId,
  type RunTrace,
  type TallyError,
  type UnitId
} from '../../core/index.js'
import { encodeSuccess } from '../run/entries.js'
import { encodeDone, encodeStarted } from '../run/entry-texts.js'
import type { RunEvent } from '../run/events.js'
import type { Position } from '../run/journal.js'
import { type RootBlock, rootRequest } from '../run/root-block.js'
import { committed, seedOf, singleStepUnitId, traced, unitOf } from '../run/unit.js'
import type { PumpHost } from './host.js'
import type { RunObserver } from './observer.js'

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
  readonly seed: { readonly value: Hash }
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

  get lazy(): this {
    return this
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

  log(message: string, data: () => Json): void {
    if (this.#port !== undefined) return this.#port.log(message, data)
    const logged = data()
    this.#say((port) => port.log(message, () => logged))
  }

  returned(): void {
    this.#say((port) => port.returned())
  }

  again(): void {
    this.#say((port) => port.again())
  }

  halted(cause: TallyError): void {
    this.#say((port) => port.halted(cause))
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

/** A run that is one leaf, and is about to begin. */
export interface SingleStepRun {
  readonly runId: RunId
  readonly root: RootBlock
  /** When it begins, milliseconds. */
  readonly at: number
  readonly base: Hash | 'GENESIS'
  readonly principal: Json
  /** Its canonical JSON. */
  readonly principalText: string
  /** Canonical JSON of the input, and its hash. */
  readonly inputText: string
  readonly inputHash: Hash
  /** Absent when it is empty. */
  readonly context: JsonObject | undefined
  readonly trace: RunTrace | undefined
  /** Sees what became of it. */
  readonly observer?: RunObserver | undefined
  /** Hands on its events; undefined without a reader. */
  readonly emit: PumpHost['emit'] | undefined
}

/** How far a single-step run got without a pump. */
export type InlineOutcome =
  | {
      readonly kind: 'ended'
      readonly response: Response
      readonly receiptHash: Hash
      readonly dappId: string
      /** Up to where the ledger must be durable before anybody may hear of it (D2). */
      readonly position: Position
    }
  /** Nothing is journaled yet: a pump continues it. */
  | { readonly kind: 'begun'; readonly early: EarlyCallRun }

/** The only unit of work of a single-step run: its first step, tried once. */
const place = { path: ROOT_PATH as ActorPath, step: 1, attempt: 1 } as const
const noCapabilities: readonly string[] = []

/**
 * Runs a single-step run from its beginning to its end at once, when its code asks for nothing and
 * succeeds: no other work comes between, so it needs no actors, no inbox and no mailbox. What it
 * leaves is byte for byte what a pump would have left: the same three entries, one receipt, one
 * item of the queue. Undefined when its block is not registered.
 *
 * Owns: nothing. L10: what it read cannot change before it is appended; a key that another unit has
 * reserved leaves the end to the pump, which waits.
 */
export function runInline(
  singleStep: SingleStepRun,
  host: Omit<PumpHost, 'emit'>
): InlineOutcome | undefined {
  const { runId, root, at, base, principal, inputText, context } = singleStep
  const block = root.singleStepBlock === undefined ? undefined : host.block(root.singleStepBlock)
  if (block === undefined) return undefined
  const unitId = singleStepUnitId(runId)
  const current = (key: string) => host.journal.read(key)
  const early = new EarlyCallRun({
    runId,
    unitId,
    path: place.path,
    at,
    seed: { value: seedOf(base, unitId) },
    block,
    payload: JSON.parse(inputText) as Json,
    view: new StateView(current),
    makeRequest: () =>
      rootRequest(root, {
        run: runId,
        input: JSON.parse(inputText) as Json,
        ...(context === undefined ? {} : { context }),
        ...traced(singleStep)
      }),
    kernel: { principal, inputText, provider: null, recorded: undefined, current }
  })
  early.execution.start()
  return ended(singleStep, early, host) ?? { kind: 'begun', early }
}

function ended(
  singleStep: SingleStepRun,
  early: EarlyCallRun,
  host: Omit<PumpHost, 'emit'>
): InlineOutcome | undefined {
  const { outcome, view } = early
  if (outcome?.ok !== true || !early.isSilent) return undefined
  if (host.gate.blocks(early, view.writes.keys())) return undefined
  const written = append(singleStep, early, outcome.text, host)
  if (written === undefined) return undefined
  const { at, position, receiptHash, dappId } = written
  const data = JSON.parse(outcome.text) as Json
  const response: Response = { success: true, data, metadata: {} }
  if (singleStep.emit !== undefined) {
    for (const event of eventsOf(singleStep, early, { at, response, receiptHash })) {
      singleStep.emit({ ...event, ...traced(singleStep) }, position)
    }
  }
  const { name, definitionHash } = singleStep.root
  const { trace, at: from } = singleStep
  const done = { name, definitionHash, trace, from, to: at, receiptHash, position }
  singleStep.observer?.did(done)
  early.aborts?.abort()
  return { kind: 'ended', response, receiptHash, dappId, position }
}

/** All of the run as one item; undefined when something that it read has changed (L10). */
function append(
  singleStep: SingleStepRun,
  early: EarlyCallRun,
  resultText: string,
  host: Omit<PumpHost, 'emit'>
) {
  const { runId, root, base, principal, principalText, inputText, context, trace } = singleStep
  const { execution, seed } = early
  const { attribution, used } = execution
  const run: string = runId
  const { name, definitionHash } = root
  const started = encodeStarted(
    { at: singleStep.at, base, definitionHash, inputHash: singleStep.inputHash, name, run },
    {
      definition: root.definitionText(),
      input: inputText,
      principal: principalText,
      context: context === undefined ? undefined : canonicalize(context),
      trace: trace === undefined ? undefined : canonicalize(trace)
    }
  )
  const at = Math.max(singleStep.at, host.clock.now())
  const { path, step, attempt } = place
  const by = attribution === undefined ? {} : { provider: attribution.provider }
  const settled = encodeSuccess(
    { at, attempt, n: 1, path, run, sent: false, step, ...by },
    resultText
  )
  const journalHash = chainJournal(chainJournal('', started), settled)
  const done = encodeDone({ at, journalHash, n: 2, run }, resultText)
  const unit = unitOf(
    {
      unitId: early.unitId,
      block: early.block,
      at: singleStep.at,
      seed: { base, value: seed.value },
      view: early.view,
      capabilitiesUsed: used.size === 0 ? noCapabilities : [...used].sort(),
      attribution
    },
    {
      runId,
      path,
      step,
      attempt,
      at: singleStep.at,
      ...committed({ context }),
      ...traced(singleStep)
    },
    { principal, profile: host.profile },
    { payloadText: inputText, resultText, sealed: [] }
  )
  const appended = host.journal.append({
    runId,
    entries: [started, settled, done],
    runChanges: [
      { index: 0, kind: 'run.started', number: 0, status: 'running', at: singleStep.at },
      { index: 2, kind: 'run.finished', number: 2, status: 'done', at }
    ],
    journalHash: chainJournal(journalHash, done),
    unit
  })
  if (!appended.ok || appended.receiptHash === undefined) return undefined
  const { position, receiptHash } = appended
  return { at, position, receiptHash, dappId: unit.dappId }
}

/** What a pump would have told, in the same order. */
function eventsOf(
  { runId, root, at: begun }: SingleStepRun,
  { block, execution }: EarlyCallRun,
  {
    at,
    response,
    receiptHash
  }: {
    readonly at: number
    readonly response: Response
    readonly receiptHash: Hash
  }
): readonly RunEvent[] {
  const { name, definitionHash } = root
  const dappId = execution.attribution?.dappId
  const by = dappId === undefined ? {} : { dappId }
  const here = { ...place, block: block.name }
  return [
    { type: 'run.started', runId, at: begun, name, definitionHash },
    { type: 'block.started', runId, at: begun, ...here },
    { type: 'block.settled', runId, at, ...here, response, receiptHash, ...by },
    { type: 'run.finished', runId, at, status: 'done', response, receiptHash }
  ]
}

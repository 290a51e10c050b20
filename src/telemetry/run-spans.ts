import type {
  AttemptCommand,
  BlockReport,
  DoneAtOnce,
  JournalEntry,
  RunObserver,
  SentEffect,
  StepPlace,
  TakenEntry
} from '../block/index.js'
import type { Hash, RunTrace } from '../core/index.js'
import { type Attributes, type FinishedSpan, noEvents, type SpanLink } from './finished-span.js'
import { type AgentSaid, agentIn, genAiCall, genAiRun, genAiStep, modelCallOf } from './gen-ai.js'
import type { Instruments } from './instruments.js'
import { actionIn, labelOf, reasonIn } from './labels.js'
import { noteRequest, type OpenStep, type SentCall, stepAttributes } from './open-step.js'
import { type EndedWait, OpenedWaits } from './opened-waits.js'
import { type RunIds, runIds, spanId, traceparentOf } from './span-ids.js'

/** Where the spans of a run go. */
export interface RunOutlet {
  readonly instruments: Instruments
  /** Agents' turns are named by the conventions for generative AI, too. */
  readonly isGenAi: boolean
  /** Names the run and asks the sampler; once for each process. */
  begin(run: string, ids: RunIds, span: { readonly name: string; readonly from: number }): boolean
  /** Takes a span; it leaves once `position` is durable, undefined: it is not appended yet. */
  put(run: string, span: FinishedSpan, position: number | undefined): void
  /** What came without a position leaves once this one is durable. */
  appended(run: string, position: number): void
  /** The span that an answer was given in. */
  answerOf(token: string): SpanLink | undefined
  /** Nothing comes any more of this run, or nothing before it is resumed. */
  rested(run: string, hasEnded: boolean): void
}

const ROOT = 'root'

/**
 * The spans of one run, made from its journal as that grows. A span is made by the process that
 * takes the entry which ends it, live: what a process takes over from the journal has ended before.
 *
 * Owns: what has begun and not ended. Does not own: the run.
 *
 * - T1: a span is made at most once, whatever is resumed; its ids follow from the run.
 * - T2: no payload, response or message is in a span: names, hashes, counts and labels are.
 * - T3: a run that is only rebuilt gives no span.
 */
export class RunSpans implements RunObserver {
  readonly #run: string
  readonly #outlet: RunOutlet
  #entries = 0
  #isLive = false
  /** Its journal gives again what was seen, and its charts say it again. */
  #isReadAgain = false
  #isSampled = false
  #begun:
    | { readonly ids: RunIds; readonly name: string; readonly attributes: Attributes }
    | undefined
  #from = 0
  #position: number | undefined = 0
  readonly #steps = new Map<string, OpenStep>()
  readonly #waits: OpenedWaits
  /** Receipts of steps that have not reported. */
  readonly #receipts = new Map<string, Hash>()
  /** Of steps that have not reported, which agent had them. */
  readonly #agents = new Map<string, AgentSaid>()
  #hadAgents = false

  constructor(run: string, outlet: RunOutlet) {
    this.#run = run
    this.#outlet = outlet
    this.#waits = new OpenedWaits(outlet.instruments)
  }

  get entries(): number {
    return this.#entries
  }

  appended(position: number): void {
    this.#position = position
    this.#outlet.appended(this.#run, position)
  }

  took(entry: JournalEntry, { kind, receiptHash, position }: TakenEntry): void {
    this.#isReadAgain = entry.n < this.#entries
    if (this.#isReadAgain) return
    this.#entries = entry.n + 1
    this.#isLive = kind === 'live'
    this.#position = position
    switch (entry.k) {
      case 'run.started':
        return this.#started(entry)
      case 'run.resumed':
        return this.#moves()
      case 'run.waiting':
        return this.#rests(false)
      case 'requested':
        return this.#requested(entry)
      case 'sealed':
        return this.#sealed(entry)
      case 'wait':
        return this.#endWaits(this.#waits.begin(entry, this.#isLive))
      case 'answered':
      case 'decision':
        return this.#endWaits(this.#waits.end(entry.token, entry.at, entry.action))
      case 'rewound':
        return this.#endWaits(this.#waits.dropped(entry))
      case 'settled':
        return this.#settled(entry, receiptHash)
      case 'timer':
        return this.#endWaits(this.#waits.endAt(entry.path, entry.at, 'timeout'))
      case 'run.finished':
        return this.#finished(entry, receiptHash)
      default:
    }
  }

  asked(ask: AttemptCommand, at: number, around: readonly StepPlace[]): void {
    const ids = this.#begun?.ids
    if (ids === undefined || this.#isReadAgain) return
    let parent = ids.root
    for (const place of around) parent = this.#open(place, parent, at).id
    const step = this.#open(ask, parent, at)
    if (ask.attempt <= step.attempt) return
    if (this.#isLive && ask.attempt > 1) this.#outlet.instruments.retry(step.block)
    step.attempt = ask.attempt
    step.attemptFrom = at
    step.requested?.clear()
    step.sent?.clear()
  }

  reported(path: string, report: BlockReport): void {
    if (report.type !== 'block.settled' || this.#isReadAgain) return
    const { response, step, at } = report
    const open = this.#steps.get(path)
    if (open === undefined || open.step !== step) return
    this.#endStep(open, at, response.success ? undefined : labelOf(response.reason))
  }

  /** It leaves memory: its waits are not counted any more. */
  forget(): void {
    this.#waits.forget()
  }

  sending(sent: SentEffect): string | undefined {
    const { path, step, attempt, seq, key, requestHash, at } = sent
    const ids = this.#begun?.ids
    const open = this.#stepAt(sent)
    if (ids === undefined || open === undefined) return undefined
    const id = spanId(this.#run, path, step, attempt, 'effect', seq, requestHash)
    open.sent ??= new Map()
    open.sent.set(seq, { id, key, requestHash, at, locatedAt: undefined })
    return traceparentOf(ids.traceId, id, this.#isSampled)
  }

  located({ path, step, attempt, seq, at }: SentEffect): void {
    const sent = this.#stepAt({ path, step, attempt })?.sent?.get(seq)
    if (sent !== undefined) sent.locatedAt = at
  }

  did({ name, definitionHash, trace, from, to, receiptHash, position }: DoneAtOnce): void {
    this.#position = position
    this.#begin({ name, definitionHash, trace, at: from })
    this.#outlet.begin(this.#run, this.#ids(), { name: `run ${name}`, from })
    this.#outlet.instruments.step(name, to - from, undefined)
    this.#putRun(to, 'done', undefined, receiptHash)
    this.#outlet.rested(this.#run, true)
  }

  #ids(): RunIds {
    return this.#begun?.ids ?? runIds(this.#run, undefined)
  }

  #begin(started: {
    readonly name: string
    readonly definitionHash: Hash
    readonly trace?: RunTrace | undefined
    readonly at: number
  }): void {
    const { name, definitionHash, trace, at } = started
    const ids = runIds(this.#run, trace)
    const attributes = { 'tally.run.id': this.#run, 'tally.definition.hash': definitionHash }
    this.#begun = { ids, name, attributes }
    this.#from = at
  }

  #started(entry: Extract<JournalEntry, { readonly k: 'run.started' }>): void {
    this.#begin(entry)
    if (this.#isLive) this.#moves()
  }

  /** The run moves in this process. */
  #moves(): void {
    const { instruments } = this.#outlet
    const { name = '', ids = this.#ids() } = this.#begun ?? {}
    this.#isSampled = this.#outlet.begin(this.#run, ids, { name: `run ${name}`, from: this.#from })
    instruments.runs(1)
    this.#waits.count()
  }

  #rests(hasEnded: boolean): void {
    if (!this.#isLive) return
    this.#outlet.instruments.runs(-1)
    this.#outlet.rested(this.#run, hasEnded)
  }

  #open(place: StepPlace, parent: string, at: number): OpenStep {
    const { path, step, block, sideEffects } = place
    const known = this.#steps.get(path)
    if (known?.step === step) return known
    if (known !== undefined) this.#endStep(known, at, 'cancelled')
    const open: OpenStep = {
      path,
      step,
      block,
      sideEffects,
      id: path === ROOT ? this.#ids().root : spanId(this.#run, path, step),
      parent,
      from: at,
      attempt: 0,
      attemptFrom: at,
      requested: undefined,
      sent: undefined
    }
    this.#steps.set(path, open)
    return open
  }

  #stepAt({ path, step, attempt }: Pick<SentEffect, 'path' | 'step' | 'attempt'>) {
    const open = this.#steps.get(path)
    return open?.step === step && open.attempt === attempt ? open : undefined
  }

  #requested(entry: Extract<JournalEntry, { readonly k: 'requested' }>): void {
    const step = this.#stepAt(entry)
    if (step !== undefined) noteRequest(step, entry)
  }

  #sealed(entry: Extract<JournalEntry, { readonly k: 'sealed' }>): void {
    const { path, seq, at, body } = entry
    this.#endWaits(this.#waits.endOf(path, seq, at, actionIn(body)))
    const step = this.#stepAt(entry)
    const sent = step?.sent?.get(seq)
    const requestedAt = step?.requested?.get(seq)
    step?.requested?.delete(seq)
    step?.sent?.delete(seq)
    // What another attempt has got already, and what was answered before, was not sent now.
    if (step === undefined || sent === undefined || !this.#isLive) return
    const from = Math.min(requestedAt ?? sent.at, sent.at)
    this.#putEffect(step, sent, entry, from)
  }

  #putEffect(
    step: OpenStep,
    { id, key, requestHash, locatedAt }: SentCall,
    entry: Extract<JournalEntry, { readonly k: 'sealed' }>,
    from: number
  ): void {
    const { effect, ok, at, body } = entry
    const named = this.#outlet.isGenAi ? genAiCall(entry, this.#run) : undefined
    const error = ok ? undefined : labelOf(reasonIn(body))
    const located = locatedAt === undefined ? [] : [{ name: 'located', at: locatedAt }]
    this.#outlet.instruments.effect(effect, at - from, error)
    const call = this.#outlet.isGenAi ? modelCallOf(entry) : undefined
    if (call !== undefined) this.#outlet.instruments.modelCall(call, at - from, error)
    this.#put({
      id,
      parent: step.id,
      name: named?.name ?? `effect ${effect}`,
      isClient: true,
      from,
      to: at,
      attributes: {
        'tally.effect.key': key,
        'tally.request.hash': requestHash,
        'tally.outcome': error === undefined ? 'done' : 'failed',
        'tally.attempt': step.attempt,
        ...named?.attributes,
        ...(error === undefined ? {} : { 'error.type': error })
      },
      error,
      events: [...located, { name: 'sealed', at }]
    })
  }

  #endWaits(ended: readonly EndedWait[]): void {
    if (!this.#isLive) return
    for (const { token, wait, at, action } of ended) {
      const { path, reason, digest, attempt, from } = wait
      this.#put({
        id: spanId(this.#run, 'wait', token),
        parent: this.#steps.get(path)?.id ?? this.#ids().root,
        name: `wait ${reason}`,
        from,
        to: at,
        attributes: {
          'tally.wait.action': action,
          'tally.digest': digest,
          'tally.attempt': attempt
        },
        link: this.#outlet.answerOf(token)
      })
    }
  }

  #settled(
    entry: Extract<JournalEntry, { readonly k: 'settled' }>,
    receiptHash: Hash | undefined
  ): void {
    const { path, step: number, attempt, at, response } = entry
    const step = this.#stepAt(entry)
    const error = response.success ? undefined : labelOf(response.reason)
    this.#endWaits(this.#waits.endAt(path, at, error ?? 'over'))
    if (step === undefined || !this.#isLive) return
    if (path === ROOT) this.#outlet.instruments.step(step.block, at - step.from, error)
    if (receiptHash !== undefined) this.#receipts.set(path, receiptHash)
    const agent = this.#outlet.isGenAi ? agentIn(step.block, response) : undefined
    if (agent !== undefined) this.#agents.set(path, agent)
    // One that succeeds at once is its step.
    if (error === undefined && attempt === 1) return
    this.#put({
      id: spanId(this.#run, path, number, attempt),
      parent: step.id,
      name: `attempt ${attempt}`,
      from: step.attemptFrom,
      to: at,
      attributes: stepAttributes(step, { error }),
      error
    })
  }

  #endStep(step: OpenStep, at: number, error: string | undefined): void {
    const { path, block, id, parent, from } = step
    const below = `${path}/`
    this.#steps.delete(path)
    for (const open of this.#steps.values()) {
      if (open.path.startsWith(below)) this.#endStep(open, at, 'cancelled')
    }
    this.#endWaits(this.#waits.endAt(path, at, error ?? 'over'))
    const receipt = this.#receipts.get(path)
    this.#receipts.delete(path)
    const agent = this.#agents.get(path)
    this.#agents.delete(path)
    const named = this.#outlet.isGenAi ? genAiStep(block, agent, this.#run) : undefined
    this.#hadAgents ||= named !== undefined
    // The run's own span is that of its root.
    if (!this.#isLive || path === ROOT) return
    this.#outlet.instruments.step(block, at - from, error)
    this.#put({
      id,
      parent,
      name: named?.name ?? `block ${block}`,
      from,
      to: at,
      attributes: stepAttributes(step, { named: named?.attributes, receipt, error }),
      error
    })
  }

  #finished(
    { at, status, response }: Extract<JournalEntry, { readonly k: 'run.finished' }>,
    receiptHash: Hash | undefined
  ): void {
    const error = status === 'done' ? undefined : labelOf(response.reason)
    for (const step of this.#steps.values()) this.#endStep(step, at, 'cancelled')
    this.#endWaits(this.#waits.endAll(at, status))
    if (this.#isLive) this.#putRun(at, status, error, receiptHash ?? this.#receipts.get(ROOT))
    this.#rests(true)
  }

  #putRun(to: number, status: string, error: string | undefined, receipt: Hash | undefined): void {
    const { ids = this.#ids(), name = '', attributes = {} } = this.#begun ?? {}
    this.#put({
      id: ids.root,
      parent: ids.caller,
      name: `run ${name}`,
      from: this.#from,
      to,
      attributes: {
        ...attributes,
        ...(this.#hadAgents ? genAiRun(this.#run) : {}),
        'tally.status': status,
        ...(receipt === undefined ? {} : { 'tally.receipt.hash': receipt }),
        ...(error === undefined ? {} : { 'error.type': error })
      },
      error
    })
  }

  #put(span: PartialSpan): void {
    const { id, parent, name, from, to, attributes } = span
    const { isClient = false, error, events = noEvents, link } = span
    const whole = { id, parent, name, isClient, from, to, attributes, error, events, link }
    this.#outlet.put(this.#run, whole, this.#position)
  }
}

type PartialSpan = Pick<FinishedSpan, 'id' | 'parent' | 'name' | 'from' | 'to' | 'attributes'> &
  Partial<FinishedSpan>

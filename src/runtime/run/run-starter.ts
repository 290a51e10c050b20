import {
  type InlineOutcome,
  isFarAhead,
  type RunEnd,
  RunPump,
  runInline,
  type SingleStepRun,
  startedDraft
} from '../../block/index.js'
import {
  blockError,
  canonicalize,
  isRunId,
  type Json,
  type RunId,
  runtimeError,
  shownText,
  type TallyError
} from '../../core/index.js'
import { isSystemIntent } from '../../intent/index.js'
import type { RunRecord } from '../../ledger/index.js'
import type { Compiled, PreparedRun } from '../code/prepared-run.js'
import { PrincipalGate } from '../gate/principal-gate.js'
import { providerIds, reachedProviders } from '../gate/reached-providers.js'
import { isEnded } from './ended.js'
import type { RunDriver } from './run-driver.js'
import type { Beginning, RunEntry } from './run-entry.js'
import { newMoments } from './run-moments.js'
import type { RunStore } from './run-store.js'
import { acceptable, checkSame, queueOfRun, Start, type StartTerms } from './run-terms.js'
import { SingleStepEnds } from './single-step-ends.js'

/**
 * Starts runs: whether they may begin, what is there already under their id, and what drives them.
 *
 * Owns: ends of single-step runs that are not durable yet. Does not own: entries of runs.
 *
 * L6 the same id is the same run: with the same document and inputs it is attached to, whatever
 * versions the document's names would lead to today (B10); otherwise it is refused.
 * W11 no run begins before providers know what earlier processes have left unfinished.
 */
export class RunStarter {
  readonly #driver: RunDriver
  readonly #store: RunStore
  readonly #ends: SingleStepEnds
  readonly #gate: PrincipalGate
  #lastPrincipal: { readonly of: Json; readonly text: string } | undefined

  constructor(driver: RunDriver) {
    this.#driver = driver
    this.#store = driver.store
    this.#ends = new SingleStepEnds(driver.store)
    const { ledger, registry } = driver.store.parts
    this.#gate = new PrincipalGate(ledger, registry)
  }

  /**
   * Starts a run, or attaches to the one that has this id, and resumes it if it was interrupted.
   * Throws for an id or for inputs that a journal cannot keep.
   */
  begin(runId: RunId, source: Promise<PreparedRun> | Compiled, given: StartTerms): RunEntry {
    return this.#begin(runId, source, this.#checked(runId, given))
  }

  #checked(runId: RunId, given: StartTerms): Start {
    this.#store.checkOpen()
    if (!isRunId(runId)) throw blockError('run.invalid_id', { runId: shownText(runId) })
    const { parent } = given
    const { subject = parent && subjectIn(this.#store.parts.ledger.run(parent)) } = given
    return new Start({ ...given, subject })
  }

  #begin(runId: RunId, source: Promise<PreparedRun> | Compiled, start: Start): RunEntry {
    const earlier = this.#store.get(runId)
    if (earlier !== undefined) return this.#beginAgain(earlier, source, start)
    const entry = this.#store.add(runId)
    entry.isBeginning = true
    entry.begun = this.#beginning(entry, source, start).finally(() => {
      entry.isBeginning = false
    })
    entry.begun.catch((error: unknown) => this.#store.settle(entry, { error }))
    return entry
  }

  /**
   * A single-step run: like {@link begin}, and done before this returns when nothing has to be
   * awaited.
   */
  beginSingleStep(runId: RunId, prepared: Compiled, given: StartTerms): RunEntry {
    const start = this.#checked(runId, given)
    const ready = this.#untilReady(prepared)
    const isKnown = this.#store.get(runId) !== undefined
    const isPlain = start.subject === undefined
    const mayEnd =
      isPlain && ready === undefined && this.#refusal(runId, prepared, start) === undefined
    if (!mayEnd || isKnown || this.#isRecorded(runId, start)) {
      // The beginning asks again, and gets the failure.
      ready?.catch(() => undefined)
      return this.#begin(runId, prepared, start)
    }
    const entry = this.#store.add(runId)
    try {
      this.#launch(entry, prepared, start)
    } catch (error) {
      this.#store.settle(entry, { error })
    }
    return entry
  }

  /** Why no new run may begin with this code (K10), or not by who asks (K14). */
  #refusal(runId: RunId, prepared: Compiled, start: Start): TallyError | undefined {
    const { root } = prepared
    const { ledger, registry, quarantine } = this.#store.parts
    const forbidden = this.#gate.refusal(runId, prepared, start)
    if (forbidden !== undefined) return forbidden
    const queue = start.queue?.name
    if (queue !== undefined && !this.#store.parts.host.queues.isDeclared(queue)) {
      return runtimeError('run.unknown_queue', { name: queue })
    }
    // The owner releases by a system intent: none of them is refused.
    if (root.isUnit && isSystemIntent(root.name)) return undefined
    return quarantine.refuses(() =>
      providerIds(reachedProviders(prepared, start.inputs, { registry, ledger }))
    )
  }

  #isRecorded(runId: RunId, { isNew }: Start): boolean {
    return !isNew && this.#store.parts.ledger.hasRun(runId)
  }

  async #beginning(
    entry: RunEntry,
    source: Promise<PreparedRun> | Compiled,
    start: Start
  ): Promise<Beginning> {
    const { runId } = entry
    const compiled = await source
    if (!start.isNew && (await this.#isThere(runId, compiled, start))) return this.#known(runId)
    const { prepared, refused } = acceptable(runId, compiled, start)
    if (prepared === undefined) {
      this.#store.settle(entry, { result: refused })
      return { refused }
    }
    const refusal = this.#refusal(runId, prepared, start)
    if (refusal !== undefined) throw refusal
    // Its key is durable before anything is under it.
    if (start.subject !== undefined) await this.#store.parts.ledger.subjects.begin(start.subject)
    for (let ready = this.#untilReady(prepared); ready !== undefined; ) {
      await ready
      ready = this.#untilReady(prepared)
    }
    this.#launch(entry, prepared, start)
    // What the ledger has not taken is not accepted, and its result says why.
    if (!this.#mayRecord() && !this.#store.parts.ledger.hasRun(runId)) await entry.result
    return { isNew: true, position: this.#store.position(runId) }
  }

  #mayRecord(): boolean {
    const { mode } = this.#store.parts.ledger
    return mode === 'ready' || mode === 'restoring'
  }

  #known(runId: RunId): Beginning {
    return { isNew: false, position: this.#store.position(runId) }
  }

  /** A second caller with other work is refused; the first one's run continues. */
  #beginAgain(earlier: RunEntry, source: Promise<PreparedRun> | Compiled, start: Start): RunEntry {
    const { runId } = earlier
    const follow = async () => {
      await earlier.begun.catch(() => undefined)
      const prepared = await source
      // The one before was refused: then this is the first.
      if (!this.#store.parts.ledger.hasRun(runId)) {
        const entry = this.#begin(runId, source, start)
        return { entry, beginning: await entry.begun }
      }
      await this.#isThere(runId, prepared, start)
      return { entry: earlier, beginning: this.#known(runId) }
    }
    const followed = follow()
    const begun = followed.then(({ beginning }) => beginning)
    begun.catch(() => undefined)
    const result = followed.then(({ entry }) => entry.result)
    result.catch(() => undefined)
    return earlier.again(begun, result)
  }

  /** Whether this work is in the ledger already. Throws `run.id_reused` when other work is. */
  async #isThere(runId: RunId, prepared: PreparedRun, start: Start): Promise<boolean> {
    const record = this.#store.parts.ledger.run(runId)
    if (record === undefined) return false
    checkSame(record, prepared, start)
    if (!isEnded(record)) this.#store.parts.quarantine.check(runId)
    const entry = await this.#driver.attach(runId)
    if (record.status === 'running') await this.#driver.resume(entry)
    return true
  }

  /** What to await before a run begins; undefined when it may begin now (W11, D9). */
  #untilReady({ root }: Compiled): Promise<void> | undefined {
    const { journal, turns } = this.#store.parts.host
    const announcing = this.#driver.orphanedEffects.announced()
    if (announcing !== undefined || !root.isUnit) return announcing
    // A single step may go all its way without another look at these.
    if (isFarAhead(journal)) return journal.durable(Number.MAX_SAFE_INTEGER)
    return turns.yield()
  }

  #launch(entry: RunEntry, prepared: Compiled, start: Start): void {
    const { root, compiled, block } = prepared
    const { runId } = entry
    this.#store.checkOpen()
    this.#store.checkRoom()
    const { host, registry, ledger } = this.#store.parts
    const at = host.clock.now()
    const base = host.journal.head() ?? 'GENESIS'
    if (start.subject !== undefined) ledger.subjects.expect(runId, start.subject)
    const isStraight = root.isUnit && start.subject === undefined
    const straight = isStraight ? this.#runInline(entry, { root, at, base, start }) : undefined
    if (straight?.kind === 'ended') {
      this.#ends.add(entry, straight)
      return
    }
    const early = straight?.early
    const moments = root.isUnit ? undefined : newMoments(runId, ledger, start)
    const pump = new RunPump({
      runId,
      root,
      host: this.#store.hostOf(entry, block),
      early,
      moments
    })
    const queue = root.isUnit ? undefined : queueOfRun(prepared, start)
    if (queue !== undefined && this.#driver.turns.enter(runId, queue, at)) pump.inbox.hold()
    const pins = root.isUnit ? registry.intentPins(root.name) : root.pins
    const obligations = root.isUnit ? registry.obligations.all : root.obligations
    const { parent } = start
    const first = startedDraft(root, { at, base, start, queue, parent, pins, obligations })
    pump.leaves.keepText(start.inputs, start.text)
    const run = (): Promise<RunEnd> => pump.start(first)
    this.#driver.drive(entry, { pump, compiled, moments, run })
  }

  /** Canonical JSON of a principal; one that never changes is written once. */
  #textOf(principal: Json): string {
    if (typeof principal !== 'object' || !Object.isFrozen(principal)) return canonicalize(principal)
    if (this.#lastPrincipal?.of === principal) return this.#lastPrincipal.text
    const text = canonicalize(principal)
    this.#lastPrincipal = { of: principal, text }
    return text
  }

  #runInline(
    entry: RunEntry,
    {
      root,
      at,
      base,
      start
    }: Pick<SingleStepRun, 'root' | 'at' | 'base'> & { readonly start: Start }
  ): InlineOutcome | undefined {
    const { principal, text: inputText, inputHash, context, trace } = start
    return runInline(
      {
        runId: entry.runId,
        root,
        at,
        base,
        principal,
        principalText: this.#textOf(principal),
        inputText,
        inputHash,
        context,
        trace,
        observer: this.#store.observerOf(entry.runId),
        emit: entry.isHeard ? this.#store.emitOf(entry) : undefined
      },
      this.#store.parts.host
    )
  }
}

/** The subject of a run, which runs that it starts have too. */
function subjectIn(record: RunRecord | undefined): string | undefined {
  const subject = record?.started['subject']
  return typeof subject === 'string' ? subject : undefined
}

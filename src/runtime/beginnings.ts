import {
  goStraight,
  isFarAhead,
  type LoneRun,
  type Pins,
  type PumpHost,
  type RunEnd,
  RunPump,
  type Straight
} from '../block/index.js'
import { canonicalize, isRunId, type Json, limits, type RunId, TallyError } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import { acceptable, type Compiled, checkSame, isEnded, type Known, type Settled } from './known.js'
import type { LeftBehind } from './left-behind.js'
import type { PreparedRun } from './prepared-run.js'
import type { Quarantine } from './quarantine.js'
import type { CompiledRoot } from './registry.js'
import { Start, type StartTerms } from './run-terms.js'
import { firstEntry } from './standing.js'

/** A run with what drives it. */
export interface Driven {
  readonly pump: RunPump
  readonly compiled: CompiledRoot
  run(): Promise<RunEnd>
}

/** What a beginning needs of the runs. */
export interface BeginningPort {
  readonly ledger: Ledger
  readonly host: Omit<PumpHost, 'emit'>
  readonly leftBehind: LeftBehind
  readonly quarantine: Pick<Quarantine, 'check' | 'refuses'>
  /** Throws `runtime.closed`. */
  checkOpen(): void
  liveCount(): number
  known(runId: RunId): Known | undefined
  /** Makes a run known that is not. */
  know(runId: RunId): Known
  hostOf(known: Known): PumpHost
  attach(runId: RunId): Promise<Known>
  takeUp(runId: RunId, known: Known): Promise<void>
  /** Has a pump drive the run. */
  drive(runId: RunId, known: Known, driven: Driven): void
  /** Takes the end of a run that needed no pump. */
  ended(runId: RunId, known: Known, straight: Straight & { readonly kind: 'ended' }): void
  settle(runId: RunId, known: Known, how: Settled): void
  /** Versions that a lone intent pins, if it does not end at once (B10). */
  intentPins(action: string): Pins | undefined
}

/**
 * How runs begin: whether they may, what is there already under their id, and what drives them.
 *
 * Owns: nothing. Does not own: the runs that are known ({@link BeginningPort}).
 *
 * L6 the same id is the same run: with the same document and inputs it is attached to, whatever
 * versions the document's names would lead to today (B10); otherwise it is refused.
 * W11 no run begins before providers know what earlier processes have left unfinished.
 */
export class Beginnings {
  readonly #port: BeginningPort
  #lastPrincipal: { readonly of: Json; readonly text: string } | undefined

  constructor(port: BeginningPort) {
    this.#port = port
  }

  /**
   * Starts a run, or attaches to the one that has this id, and takes it up if it was interrupted.
   * Throws for an id or for inputs that a journal cannot keep.
   */
  start(runId: RunId, source: Promise<PreparedRun> | Compiled, given: StartTerms): Known {
    return this.#start(runId, source, this.#checked(runId, given))
  }

  #checked(runId: RunId, given: StartTerms): Start {
    this.#port.checkOpen()
    if (!isRunId(runId)) throw new TallyError('run.invalid_id', { runId: String(runId) })
    return new Start(given)
  }

  #start(runId: RunId, source: Promise<PreparedRun> | Compiled, start: Start): Known {
    const earlier = this.#port.known(runId)
    if (earlier !== undefined) return this.#startAgain(runId, earlier, source, start)
    const known = this.#port.know(runId)
    known.begun = this.#begin(runId, known, source, start)
    known.begun.catch((error: unknown) => this.#port.settle(runId, known, { error }))
    return known
  }

  /**
   * A lone intent: like {@link start}, and done before this returns when nothing has to be awaited.
   */
  startLone(runId: RunId, prepared: Compiled, given: StartTerms): Known {
    const start = this.#checked(runId, given)
    const ready = this.#untilReady(prepared)
    const isKnown = this.#port.known(runId) !== undefined
    if (ready !== undefined || isKnown || this.#isRecorded(runId, start)) {
      // The beginning asks again, and hears of a failure.
      ready?.catch(() => undefined)
      return this.#start(runId, prepared, start)
    }
    const known = this.#port.know(runId)
    try {
      this.#launch(runId, known, prepared, start)
    } catch (error) {
      this.#port.settle(runId, known, { error })
    }
    return known
  }

  #isRecorded(runId: RunId, { isNew }: Start): boolean {
    return !isNew && this.#port.ledger.run(runId) !== undefined
  }

  async #begin(
    runId: RunId,
    known: Known,
    source: Promise<PreparedRun> | Compiled,
    start: Start
  ): Promise<void> {
    const compiled = await source
    if (!start.isNew && (await this.#isThere(runId, compiled, start))) return
    const { prepared, refused } = acceptable(runId, compiled, start)
    if (prepared === undefined) {
      this.#port.settle(runId, known, { result: refused })
      return
    }
    const doubted = this.#port.quarantine.refuses(prepared.compiled)
    if (doubted !== undefined) throw doubted
    for (let ready = this.#untilReady(prepared); ready !== undefined; ) {
      await ready
      ready = this.#untilReady(prepared)
    }
    this.#launch(runId, known, prepared, start)
  }

  /** A second caller with other work must hear of it; the first one's run goes on. */
  #startAgain(
    runId: RunId,
    earlier: Known,
    source: Promise<PreparedRun> | Compiled,
    start: Start
  ): Known {
    const follow = async (): Promise<Known> => {
      await earlier.begun.catch(() => undefined)
      const prepared = await source
      const record = this.#port.ledger.run(runId)
      // The one before was refused: then this is the first.
      if (record === undefined) return this.#start(runId, source, start)
      await this.#isThere(runId, prepared, start)
      return earlier
    }
    const followed = follow()
    const begun = followed.then((known) => known.begun)
    begun.catch(() => undefined)
    const result = followed.then((known) => known.result.promise)
    result.catch(() => undefined)
    return earlier.again(begun, result)
  }

  /** Whether this work is in the ledger already. Throws `run.id_reused` when other work is. */
  async #isThere(runId: RunId, prepared: PreparedRun, start: Start): Promise<boolean> {
    const record = this.#port.ledger.run(runId)
    if (record === undefined) return false
    checkSame(record, prepared, start)
    if (!isEnded(record)) this.#port.quarantine.check(runId)
    const known = await this.#port.attach(runId)
    if (record.status === 'running') await this.#port.takeUp(runId, known)
    return true
  }

  /** What to await before a run begins; undefined when it may begin now (W11, D9). */
  #untilReady({ root }: Compiled): Promise<void> | undefined {
    const { journal, turns } = this.#port.host
    const telling = this.#port.leftBehind.told()
    if (telling !== undefined || !root.isUnit) return telling
    // A lone leaf may go all its way without another look at these.
    if (isFarAhead(journal)) return journal.durable(Number.MAX_SAFE_INTEGER)
    return turns.yield()
  }

  #launch(runId: RunId, known: Known, prepared: Compiled, start: Start): void {
    const { root, compiled, block } = prepared
    this.#port.checkOpen()
    if (this.#port.liveCount() >= limits.RUNS_LIVE_MAX) {
      throw new TallyError('runtime.too_many_runs', { limit: limits.RUNS_LIVE_MAX })
    }
    const { clock, journal } = this.#port.host
    const at = clock.now()
    const base = journal.head() ?? 'GENESIS'
    const straight = root.isUnit
      ? this.#goStraight(known, { runId, root, at, base, start })
      : undefined
    if (straight?.kind === 'ended') {
      this.#port.ended(runId, known, straight)
      return
    }
    const early = straight?.early
    const host = { ...this.#port.hostOf(known), block }
    const pump = new RunPump({ runId, root, host, early })
    const pins = root.isUnit ? this.#port.intentPins(root.name) : root.pins
    const first = firstEntry(root, { at, base, start, pins })
    pump.leaves.keepText(start.inputs, start.text)
    this.#port.drive(runId, known, { pump, compiled, run: () => pump.start(first) })
  }

  /** Canonical JSON of a principal; one that never changes is written once. */
  #textOf(principal: Json): string {
    if (typeof principal !== 'object' || !Object.isFrozen(principal)) return canonicalize(principal)
    if (this.#lastPrincipal?.of === principal) return this.#lastPrincipal.text
    const text = canonicalize(principal)
    this.#lastPrincipal = { of: principal, text }
    return text
  }

  #goStraight(
    known: Known,
    lone: Pick<LoneRun, 'runId' | 'root' | 'at' | 'base'> & { readonly start: Start }
  ): Straight | undefined {
    const { runId, root, at, base, start } = lone
    const { principal, text: inputText, inputHash, context, trace } = start
    const principalText = this.#textOf(principal)
    const emit = known.isHeard ? this.#port.hostOf(known).emit : undefined
    return goStraight(
      {
        runId,
        root,
        at,
        base,
        principal,
        principalText,
        inputText,
        inputHash,
        context,
        trace,
        emit
      },
      this.#port.host
    )
  }
}

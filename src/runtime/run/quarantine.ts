import type { Difference } from '../../audit/index.js'
import {
  blockError,
  type ErrorCode,
  isTallyError,
  type JsonObject,
  nextTurn,
  type RunId,
  shownText,
  systemClock,
  type TallyError
} from '../../core/index.js'
import type { IntentReply } from '../../intent/index.js'
import { type Ledger, marksOf, type QuarantineMark } from '../../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import { forgedJournal, judgeOpenJournals } from './own-journal.js'
import { quarantineRefusal } from './quarantine-refusal.js'

export interface QuarantineParts {
  readonly ledger: Ledger
  /** Has the owner's intent `system.quarantine` done. */
  mark(payload: JsonObject): Promise<IntentReply>
  /** Stops a run that is in memory. */
  hold(run: RunId): void
  /** Lets a run wait for its due time again. */
  free(run: RunId): Promise<void>
  tell(event: DeliveredEvent): void
}

/** What happens to new runs of code whose results came out otherwise. */
export type OnQuarantine = 'warn' | 'refuse_version'

/**
 * Runs that came out otherwise when something of them was executed again.
 *
 * Owns: a copy of the marks, for callers that ask synchronously. Does not own: the marks, which are
 * state entries under `system/quarantine/`, changed by receipts of the owner.
 *
 * - K10, L14 A difference marks its run, and other work continues. A marked run performs nothing,
 *   is not resumed and takes no answer; it can be cancelled, and a receipt of the owner releases
 * it.
 * - L14 Only records that are whole give a mark: a journal that does not fit its code is damage,
 *   and damage is safe mode.
 */
export class Quarantine {
  readonly #parts: QuarantineParts
  readonly #onQuarantine: OnQuarantine
  #marks: ReadonlyMap<string, QuarantineMark> = new Map()
  #hasOpened = false

  constructor(parts: QuarantineParts, onQuarantine: OnQuarantine = 'warn') {
    this.#parts = parts
    this.#onQuarantine = onQuarantine
  }

  /** Runs that are quarantined now. */
  marks(): readonly QuarantineMark[] {
    return [...this.#marks.values()].filter(({ isReleased }) => !isReleased)
  }

  holds(run: RunId): boolean {
    return this.#marks.get(run)?.isReleased === false
  }

  /** `run.quarantined`, of a run that is. */
  refusal(run: RunId): TallyError | undefined {
    const mark = this.#marks.get(run)
    return mark?.isReleased === false ? quarantineRefusal(mark) : undefined
  }

  /** Throws `run.quarantined`. */
  check(run: RunId): void {
    const refusal = this.refusal(run)
    if (refusal !== undefined) throw refusal
  }

  /**
   * Why a new run is refused; undefined when it may begin. `providers` gives `name@version` of all
   * blocks and packages that it can come to.
   */
  refuses(providers: () => ReadonlySet<string>): TallyError | undefined {
    if (this.#onQuarantine === 'warn') return undefined
    const marks = this.marks()
    if (marks.length === 0) return undefined
    const reached = providers()
    const mark = marks.find(({ provider }) => provider !== null && reached.has(provider))
    if (mark === undefined) return undefined
    const { run: runId } = mark
    const block = shownText(mark.provider)
    return blockError('run.version_quarantined', { block, runId })
  }

  /** The ledger is open: a listener can get what is quarantined. */
  opened(): void {
    this.#hasOpened = true
    // Later, so that the program that has opened it can listen by then.
    nextTurn().then(() => {
      for (const mark of this.marks()) this.#parts.tell(eventOf(mark))
    })
  }

  /** Reads the marks; stops runs that are marked since, and reports them. */
  async refresh(): Promise<void> {
    const { ledger, hold, free, tell } = this.#parts
    const before = this.#marks
    const { mode } = ledger.state()
    // What cannot be read is damaged, and nothing runs.
    const marks = await marksOf(ledger).catch((error: unknown) => {
      if (mode === 'safe') return []
      throw error
    })
    this.#marks = new Map(marks.map((mark) => [mark.run, mark]))
    for (const [run, mark] of this.#marks) {
      const was = before.get(run)
      const isOpen = !mark.isReleased
      if (isOpen && was?.isReleased !== false) {
        hold(run as RunId)
        if (this.#hasOpened) tell(eventOf(mark))
      }
      if (!isOpen && was?.isReleased === false) await free(run as RunId)
    }
  }

  /** Marks a run that cannot continue because its code asks otherwise than its journal says. */
  async failed(run: RunId, error: unknown): Promise<void> {
    const field = isTallyError(error) ? divergences[error.code] : undefined
    if (field === undefined) return
    // The run ends with its own error, whatever becomes of the mark.
    await this.found({ run, receipt: null, provider: null, field }).catch(() => undefined)
  }

  /**
   * Marks the run of a difference, unless it is known. Where the journal of the run is not what
   * this ledger wrote, the difference is damage: it marks nothing, and the ledger goes into safe
   * mode where opening would find it so.
   */
  async found({ run, receipt, provider, field }: Difference): Promise<void> {
    const { ledger, mark } = this.#parts
    const { mode } = ledger.state()
    if (mode !== 'ready') return
    const known = this.#marks.get(run)
    if (known?.isReleased === false) return
    // What the owner has seen and released does not mark the run again.
    if (known !== undefined && known.receipt === receipt && known.field === field) return
    if ((await forgedJournal(ledger, run)) !== undefined) return judgeOpenJournals(ledger)
    await mark({ run, receipt, provider, field })
  }
}

/** Errors of a run that is resumed which say that its code is not what its journal says. */
const divergences: Partial<Record<ErrorCode, string>> = {
  'block.unknown_path': 'journal.path',
  'run.diverged': 'journal.requestHash'
}

function eventOf({ run, receipt, provider, field }: QuarantineMark): DeliveredEvent {
  const at = systemClock.now()
  return { type: 'run.quarantined', runId: run as RunId, at, receipt, provider, field }
}

/** The quarantine of a runtime. */
export function quarantineOf(
  runtime: Pick<QuarantineParts, 'ledger'> & {
    readonly runsOf: Pick<QuarantineParts, 'hold' | 'free'> & {
      tell(event: DeliveredEvent): boolean
    }
    readonly events: { emit(name: 'event', event: DeliveredEvent): boolean }
    intent(asked: { readonly action: string; readonly payload: JsonObject }): Promise<IntentReply>
  },
  onQuarantine: OnQuarantine | undefined
): Quarantine {
  // The runtime has its runs once it is whole.
  const parts: QuarantineParts = {
    ledger: runtime.ledger,
    mark: (payload) => runtime.intent({ action: 'system.quarantine', payload }),
    hold: (run) => runtime.runsOf.hold(run),
    free: (run) => runtime.runsOf.free(run),
    tell: (event) => {
      if (!runtime.runsOf.tell(event)) runtime.events.emit('event', event)
    }
  }
  return new Quarantine(parts, onQuarantine)
}

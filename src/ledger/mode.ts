import { assign, setup } from 'xstate'
import { ledgerChart } from '../../machines/ledger.js'
import { isTallyError, ledgerError, type TallyError, unreachable } from '../core/index.js'

/**
 * What may be done with a ledger. `ready`: it is open, nothing of it is wrong, and nothing replaces
 * it, whether or not a commit is under way: who compares modes is not told of each commit.
 */
export type LedgerMode = 'ready' | 'safe' | 'restoring' | 'poisoned' | 'closed'

export type LedgerEvent =
  | { readonly type: 'flush.begun' }
  | { readonly type: 'flush.ended' }
  | { readonly type: 'ledger.unsafe'; readonly cause: Cause }
  | { readonly type: 'write.failed'; readonly cause: Cause }
  | { readonly type: 'ledger.verified' }
  | { readonly type: 'restore.begun' }
  | { readonly type: 'restore.failed' }
  | { readonly type: 'restore.done' }

export interface Cause {
  readonly code: string
  readonly message: string
}

export interface LedgerStatus {
  /** Place in the chart, as XState names it. */
  readonly value: LedgerChartState
  readonly cause: Cause | null
}

export type LedgerChartState =
  | 'READY'
  | 'BUSY'
  | { readonly WAITING: keyof typeof ledgerChart.states.WAITING.states }

/** The chart of machines/ledger.ts with its functions, for tools and for the test of the table. */
export const ledgerMachine = setup({
  types: {
    context: {} as { readonly cause: Cause | null },
    events: {} as LedgerEvent
  },
  actions: {
    keepCause: assign({
      cause: ({ event, context }) => ('cause' in event ? event.cause : context.cause)
    }),
    dropCause: assign({ cause: null })
  }
}).createMachine({ ...ledgerChart, context: { cause: null } })

type Transitions = Partial<
  Record<
    LedgerEvent['type'],
    { readonly target: string; readonly actions?: readonly ('keepCause' | 'dropCause')[] }
  >
>

const { READY, BUSY, WAITING } = ledgerChart.states
const places: Readonly<Record<string, LedgerChartState>> = {
  '#ledger.READY': 'READY',
  '#ledger.BUSY': 'BUSY',
  '#ledger.WAITING.safe': { WAITING: 'safe' },
  '#ledger.WAITING.poisoned': { WAITING: 'poisoned' },
  '#ledger.WAITING.restoring': { WAITING: 'restoring' },
  '#ledger.WAITING.mending': { WAITING: 'mending' },
  '#ledger.WAITING.replaced': { WAITING: 'replaced' }
}

/**
 * One step of the chart, read off its data: two events come with every flush, and the interpreter
 * takes 20 µs for them. A test shows that it equals {@link ledgerMachine} in every state for every
 * event.
 */
export function ledgerStep(status: LedgerStatus, event: LedgerEvent): LedgerStatus {
  const transition = transitionsOf(status.value)[event.type]
  const value = transition === undefined ? undefined : places[transition.target]
  if (transition === undefined || value === undefined) return status
  if (transition.actions?.includes('dropCause')) return { value, cause: null }
  const keeps = transition.actions?.includes('keepCause') === true && 'cause' in event
  return { value, cause: keeps ? event.cause : status.cause }
}

function transitionsOf(place: LedgerChartState): Transitions {
  if (place === 'READY') return READY.on
  if (place === 'BUSY') return BUSY.on
  const waiting = WAITING.states[place.WAITING]
  return 'on' in waiting ? waiting.on : {}
}

/**
 * The mode of a ledger: where it stands in its chart.
 *
 * Owns: which mode it is and why. Does not own: what a mode allows beyond {@link
 * LedgerModes.check}.
 *
 * Invariants:
 * - L3 A poisoned ledger stays poisoned.
 * - L4 Appends are refused in safe mode; only a clean verification ends it.
 * - K10 Appends are taken while a snapshot may yet take the ledger's place, and none once it has.
 */
export class LedgerModes {
  #status: LedgerStatus = { value: 'READY', cause: null }
  #mode: LedgerMode = 'ready'
  readonly #listeners = new Set<() => void>()

  get mode(): LedgerMode {
    return this.#mode
  }

  get cause(): Cause | undefined {
    return this.#status.cause ?? undefined
  }

  send(event: LedgerEvent): void {
    if (this.#mode === 'closed') return
    this.#status = ledgerStep(this.#status, event)
    this.#change(modeOf(this.#status.value))
  }

  /** A flush has begun, or ended. */
  flushes(isBegun: boolean): void {
    this.send({ type: isBegun ? 'flush.begun' : 'flush.ended' })
  }

  /**
   * Ends safe mode. Throws `ledger.not_recoverable` where the report is not clean, and for a ledger
   * that was opened in safe mode: it was not folded.
   */
  verified({ ok }: { readonly ok: boolean }, { isFolded }: { readonly isFolded: boolean }): void {
    if (!ok || !isFolded) {
      const problem = ok ? 'it must be opened again' : 'verification found a failure'
      throw ledgerError('ledger.not_recoverable', { problem })
    }
    this.send({ type: 'ledger.verified' })
  }

  /**
   * Throws `ledger.poisoned`, `ledger.safe_mode`, `ledger.restoring` or `ledger.closed` unless
   * appends are taken.
   */
  check(): void {
    if (this.#mode === 'ready') return
    if (this.#mode !== 'restoring' || this.#waitsFor() !== 'restoring') throw this.refusal()
  }

  refusal(): TallyError {
    const problem = this.cause?.message ?? 'the cause is not known'
    if (this.#mode === 'poisoned') return ledgerError('ledger.poisoned', { problem })
    if (this.#mode === 'safe') return ledgerError('ledger.safe_mode', { problem })
    if (this.#mode === 'restoring') {
      const what = this.#waitsFor() === 'replaced' ? 'has taken' : 'is about to take'
      return ledgerError('ledger.restoring', { problem: `a snapshot ${what} its place` })
    }
    return ledgerError('ledger.closed', {})
  }

  #waitsFor(): string | undefined {
    const { value } = this.#status
    return typeof value === 'string' ? undefined : value.WAITING
  }

  onMode(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#change('closed')
  }

  #change(mode: LedgerMode): void {
    if (mode === this.#mode) return
    this.#mode = mode
    for (const listener of this.#listeners) listener()
  }
}

function modeOf(place: LedgerChartState): LedgerMode {
  if (place === 'READY' || place === 'BUSY') return 'ready'
  switch (place.WAITING) {
    case 'safe':
    case 'poisoned':
      return place.WAITING
    case 'restoring':
    case 'mending':
    case 'replaced':
      return 'restoring'
    default:
      return unreachable(place.WAITING)
  }
}

/** Code and message of anything that was thrown. */
export function causeOf(error: unknown): Cause {
  const message = error instanceof Error ? error.message : String(error)
  return { code: isTallyError(error) ? error.code : 'core.internal', message }
}

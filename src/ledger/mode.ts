import { type ActorRefFrom, assign, createActor, type SnapshotFrom, setup } from 'xstate'
import { ledgerChart } from '../../machines/ledger.js'
import { isTallyError, TallyError } from '../core/index.js'
import type { LedgerMode } from './ledger-api.js'

export type LedgerEvent =
  | { readonly type: 'flush.begun' }
  | { readonly type: 'flush.ended' }
  | { readonly type: 'ledger.unsafe'; readonly cause: Cause }
  | { readonly type: 'write.failed'; readonly cause: Cause }
  | { readonly type: 'ledger.verified' }

export interface Cause {
  readonly code: string
  readonly message: string
}

/** The chart of machines/ledger.ts with its functions. */
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

/**
 * The mode of a ledger, kept by a live actor.
 *
 * Owns: which mode it is and why. Does not own: what is refused in a mode beyond {@link check}.
 *
 * Invariants:
 * - L3 A poisoned ledger stays poisoned.
 * - L4 Appends are refused in safe mode; only a clean verification ends it.
 */
export class ModeActor {
  readonly #actor: ActorRefFrom<typeof ledgerMachine>
  // A field, so that the check on every append costs no look into a snapshot.
  #mode: LedgerMode = 'ready'
  readonly #listeners = new Set<() => void>()

  constructor() {
    this.#actor = createActor(ledgerMachine)
    this.#actor.subscribe((snapshot) => {
      const mode = this.#modeOf(snapshot)
      if (mode === this.#mode || this.#mode === 'closed') return
      this.#mode = mode
      for (const listener of this.#listeners) listener()
    })
    this.#actor.start()
  }

  get mode(): LedgerMode {
    return this.#mode
  }

  get cause(): Cause | undefined {
    return this.#actor.getSnapshot().context.cause ?? undefined
  }

  send(event: LedgerEvent): void {
    this.#actor.send(event)
  }

  /** Throws `ledger.poisoned`, `ledger.safe_mode` or `ledger.closed` unless appends are taken. */
  check(): void {
    if (this.#mode === 'ready' || this.#mode === 'committing') return
    throw this.refusal()
  }

  refusal(): TallyError {
    const problem = this.cause?.message ?? 'the cause is not known'
    if (this.#mode === 'poisoned') return new TallyError('ledger.poisoned', { problem })
    if (this.#mode === 'safe') return new TallyError('ledger.safe_mode', { problem })
    return new TallyError('ledger.closed', {})
  }

  onMode(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#mode = 'closed'
    for (const listener of this.#listeners) listener()
    this.#actor.stop()
  }

  #modeOf(snapshot: SnapshotFrom<typeof ledgerMachine>): LedgerMode {
    if (snapshot.matches({ WAITING: 'poisoned' })) return 'poisoned'
    if (snapshot.matches({ WAITING: 'safe' })) return 'safe'
    return snapshot.matches('BUSY') ? 'committing' : 'ready'
  }
}

/** Code and message of anything that was thrown. */
export function causeOf(error: unknown): Cause {
  const message = error instanceof Error ? error.message : String(error)
  return { code: isTallyError(error) ? error.code : 'core.internal', message }
}

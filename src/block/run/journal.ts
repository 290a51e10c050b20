import type {
  Appended,
  Hash,
  JournalItem,
  Json,
  QueuePosition,
  RunId,
  UnitId
} from '../../core/index.js'

/**
 * What the block room needs of a ledger, and no more. The ledger room implements it, `runtime.ts`
 * joins the two; tests use a ledger on the memory store.
 *
 * `append` is synchronous: it checks the unit's reads (L10), builds the receipt, and puts
 * everything into the one ordered commit queue. Durability comes later; what leaves the
 * process first awaits `durable(position)` (D2).
 */
export interface Journal {
  /**
   * Hash of the last queued receipt, or null: the base of the random seeds of a run that starts
   * now.
   */
  head(): Hash | null
  /** Canonical JSON text of a state entry, queued changes included; undefined when absent. */
  read(key: string): string | undefined
  /** Keys that begin with `prefix`, sorted by UTF-16 code units, queued changes included. */
  list(prefix: string): Promise<readonly string[]>
  append(item: JournalItem): Appended
  /** Resolves once everything up to `position` is on disk; rejects with `ledger.poisoned`. */
  durable(position: QueuePosition): Promise<void>
  /**
   * Durable entries of a run from number `from`, in order: those whose texts are wanted, or all.
   */
  journal(
    runId: RunId,
    from: number,
    isWanted?: (text: string) => boolean
  ): AsyncIterable<{ readonly value: Json }>
  /** Items and bytes appended and not yet durable (D9). */
  backlog(): { readonly items: number; readonly bytes: number }
  /**
   * Code over a hash that only the holder of the identity's blob key can make: a run that is
   * resumed trusts its journal by it.
   */
  authenticate(hash: Hash): Hash
  /**
   * Seals a response body: salts it, and names the hash that a receipt will carry (formats.md §3).
   * The same unit, number and body give the same seal, in every process.
   */
  seal(unitId: UnitId, seq: number, bodyText: string): { readonly salt: Hash; readonly hash: Hash }
}

export type {
  Appended,
  EvidenceDraft,
  JournalItem,
  QueuePosition as Position,
  SealedReference,
  UnitDraft
} from '../../core/index.js'

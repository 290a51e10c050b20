import { type Clock, limits } from '../../core/index.js'
import type {
  BlockPlace,
  ReorgedTransaction,
  SignedTransaction,
  UnfinishedTransaction
} from '../port.js'
import { FairMutex } from './fair-mutex.js'

/** What the owner of an account's nonces asks the chain. */
export interface NonceChain {
  /** Transactions of the account in blocks, and with those that wait for a block. */
  counts(): Promise<{ readonly included: number; readonly pending: number }>
  /** Sends signed bytes again; rejects when no endpoint says whether they were taken. */
  resend(transaction: SignedTransaction): Promise<'held' | 'refused'>
  /** Hears of a transaction that the chain had in a block, and whose nonce is free again. */
  reorged?(transaction: ReorgedTransaction): void
}

/** Whether prepared bytes may be sent. */
export type Claim =
  /** `fresh`: they were never sent before, so a refusal means that nothing happened. */
  | { readonly kind: 'ours'; readonly fresh: boolean }
  /** Never sent, and the nonce has been given to another transaction of ours. */
  | { readonly kind: 'superseded' }
  /** Perhaps sent earlier, and the nonce belongs to another one now: only the chain can tell. */
  | { readonly kind: 'taken' }

/** A transaction that has been given a nonce. */
interface Held {
  readonly transaction: SignedTransaction
  wasSent: boolean
  /** The block in which it was seen last. */
  block?: BlockPlace | undefined
}

/** One transaction, and behind it those that were prepared to take its place. */
type Reservation = readonly Held[]

/**
 * The one giver of nonces of an account on a chain (semantics.md W11).
 *
 * Owns: which nonces went to which prepared transactions, from preparing until they are included.
 * Does not own: the transactions, which are in the journal; after a restart `recover` brings them
 * back. Another process that uses the same account is nothing it can know of.
 *
 * 1. One transaction at a time is between its preparation and the answer to its first sending.
 * 2. A nonce is given to a second transaction only when the first was never sent, or the chain
 *    refuses it, or the second is to replace it: of those with one nonce at most one takes effect.
 * 3. No nonce is left out: what was sent and is not known to the chain is sent again first. The
 *    next preparation returns what had been included before.
 */
export class NonceOwner {
  readonly #mutex: FairMutex
  readonly #reserved = new Map<number, Reservation>()
  /** Hashes that were never sent and whose nonce is another's now. */
  readonly #superseded = new Set<string>()

  constructor(clock: Clock) {
    this.#mutex = new FairMutex(clock)
  }

  /** Gives a nonce to `build` when it is this caller's turn, and keeps it for what was built. */
  async prepare(
    chain: NonceChain,
    signal: AbortSignal,
    build: (nonce: number) => Promise<SignedTransaction>
  ): Promise<SignedTransaction> {
    const turn = await this.#mutex.enter(signal)
    try {
      const nonce = await this.#next(chain)
      const transaction = await build(nonce)
      this.#supersede(nonce)
      this.#reserved.set(nonce, [{ transaction, wasSent: false }])
      this.#mutex.keep(turn, transaction.hash, { signal, forMs: limits.NONCE_LEASE_MS })
      return transaction
    } catch (error) {
      this.#mutex.leave(turn)
      throw error
    }
  }

  /**
   * Gives the nonce of a transaction that was sent to another one, which `build` makes. Undefined
   * when that is not to be done: the nonce is used, or belongs to a transaction of another step.
   */
  async replace(
    chain: Pick<NonceChain, 'counts'>,
    signal: AbortSignal,
    { replaced, build }: Replacing
  ): Promise<SignedTransaction | undefined> {
    const { nonce } = replaced
    const turn = await this.#mutex.enter(signal)
    try {
      const { included } = await chain.counts()
      const held = nonce === null ? undefined : this.#reserved.get(nonce)
      const isOurs = held === undefined || heldAs(held, replaced.hash) !== undefined
      if (nonce === null || included > nonce || !isOurs) {
        this.#mutex.leave(turn)
        return undefined
      }
      const transaction = await build(nonce)
      const before = held ?? [{ transaction: replaced, wasSent: true }]
      const isNew = heldAs(before, transaction.hash) === undefined
      this.#reserved.set(nonce, isNew ? [...before, { transaction, wasSent: false }] : before)
      this.#mutex.keep(turn, transaction.hash, { signal, forMs: limits.NONCE_LEASE_MS })
      return transaction
    } catch (error) {
      this.#mutex.leave(turn)
      throw error
    }
  }

  /** Asks whether to send, right before sending; answer with `sent` or `refused`. */
  async claim(transaction: SignedTransaction, signal: AbortSignal): Promise<Claim> {
    const { hash, nonce } = transaction
    if (nonce === null) return { kind: 'ours', fresh: false }
    const turn = this.#mutex.turnOf(hash) ?? (await this.#mutex.enter(signal))
    const reservation = this.#reserved.get(nonce)
    const held = heldAs(reservation ?? [], hash)
    if (this.#superseded.has(hash) || (reservation !== undefined && held === undefined)) {
      this.#mutex.leave(turn)
      return this.#superseded.has(hash) ? { kind: 'superseded' } : { kind: 'taken' }
    }
    // Bytes that this owner has not prepared come from an earlier life, and may have been sent.
    const fresh = held !== undefined && !held.wasSent
    if (held === undefined) this.#reserved.set(nonce, [{ transaction, wasSent: true }])
    else {
      held.wasSent = true
      held.block = undefined
    }
    this.#mutex.keep(turn, hash, { signal, forMs: limits.NONCE_LEASE_MS })
    return { kind: 'ours', fresh }
  }

  /** The sending is over, whatever was answered; the next one may have its turn. */
  sent({ hash }: SignedTransaction): void {
    const turn = this.#mutex.turnOf(hash)
    if (turn !== undefined) this.#mutex.leave(turn)
  }

  /** It was refused and never taken: its nonce is free, unless it was to replace another. */
  refused(transaction: SignedTransaction): void {
    const held = this.#held(transaction)
    if (held !== undefined) {
      held.wasSent = false
      held.block = undefined
    }
    this.sent(transaction)
  }

  /** The chain has it in a block, for now. */
  included(transaction: Pick<SignedTransaction, 'hash' | 'nonce'>, block: BlockPlace): void {
    const held = this.#held(transaction)
    if (held !== undefined) held.block = block
  }

  recover(transactions: readonly UnfinishedTransaction[]): void {
    for (const { transaction, wasSent } of transactions) {
      const { nonce, hash, replaces = '' } = transaction
      if (nonce === null) continue
      const earlier = this.#reserved.get(nonce) ?? []
      const same = heldAs(earlier, hash)
      if (same !== undefined) {
        same.wasSent ||= wasSent
        continue
      }
      if (heldAs(earlier, replaces) !== undefined) {
        this.#reserved.set(nonce, [...earlier, { transaction, wasSent }])
        continue
      }
      // Of two with one nonce, the one that was sent keeps it; the other was superseded.
      if (isSent(earlier) && !wasSent) {
        this.#superseded.add(hash)
        continue
      }
      this.#supersede(nonce)
      this.#reserved.set(nonce, [{ transaction, wasSent }])
    }
  }

  #held({ hash, nonce }: Pick<SignedTransaction, 'hash' | 'nonce'>): Held | undefined {
    return heldAs((nonce === null ? undefined : this.#reserved.get(nonce)) ?? [], hash)
  }

  async #next(chain: NonceChain): Promise<number> {
    const { included, pending } = await chain.counts()
    for (const nonce of [...this.#reserved.keys()]) {
      if (nonce >= included) continue
      this.#supersede(nonce)
      this.#reserved.delete(nonce)
    }
    for (let nonce = included; ; nonce += 1) {
      const reservation = this.#reserved.get(nonce)
      if (reservation === undefined) {
        if (nonce >= pending) return nonce
        continue
      }
      if (!isSent(reservation)) {
        // The node counts a transaction that we have not sent: another sender's stands here.
        if (nonce >= pending) return nonce
        this.#supersede(nonce)
        this.#reserved.delete(nonce)
        continue
      }
      if (nonce < pending) {
        reorged(chain, reservation, 'pending')
        continue
      }
      const answer = await sendAgain(chain, reservation)
      reorged(chain, reservation, answer === 'held' ? 'sent_again' : 'refused')
      if (answer === 'refused') return nonce
    }
  }

  /** Those that were never sent are never to be. */
  #supersede(nonce: number): void {
    for (const { transaction, wasSent } of this.#reserved.get(nonce) ?? []) {
      if (wasSent) continue
      this.#superseded.add(transaction.hash)
      // A forgotten one is looked for on the chain instead, which is slower and as safe.
      if (this.#superseded.size <= limits.NONCE_MEMORY_MAX) continue
      const [oldest] = this.#superseded
      if (oldest !== undefined) this.#superseded.delete(oldest)
    }
  }
}

/** What takes the place of a transaction. */
interface Replacing {
  readonly replaced: SignedTransaction
  readonly build: (nonce: number) => Promise<SignedTransaction>
}

function heldAs(reservation: Reservation, hash: string): Held | undefined {
  return reservation.find(({ transaction }) => transaction.hash === hash)
}

function isSent(reservation: Reservation): boolean {
  return reservation.some(({ wasSent }) => wasSent)
}

/** Sends what was in a block, or else what was sent last; the others only where that is refused. */
async function sendAgain(chain: NonceChain, reservation: Reservation): Promise<'held' | 'refused'> {
  const sent = reservation.filter(({ wasSent }) => wasSent).reverse()
  sent.sort((one, other) => Number(other.block !== undefined) - Number(one.block !== undefined))
  for (const { transaction } of sent) {
    if ((await chain.resend(transaction)) === 'held') return 'held'
  }
  return 'refused'
}

/** Tells, once, of a transaction that was in a block and whose nonce is not used any more. */
function reorged(
  chain: NonceChain,
  reservation: Reservation,
  found: ReorgedTransaction['found']
): void {
  for (const held of reservation) {
    const { transaction, block } = held
    const { hash, nonce } = transaction
    held.block = undefined
    if (block === undefined || nonce === null) continue
    const { blockNumber, blockHash } = block
    chain.reorged?.({ hash, nonce, blockNumber, blockHash, found })
  }
}

import type { BlockContext } from '../../code/index.js'
import { type JsonObject, limits, unreachable } from '../../core/index.js'
import {
  type ChainFailure,
  type ChainFailureCode,
  chainFailure,
  chainFailureOf
} from '../failure.js'
import type {
  IncludedTransaction,
  LookRequest,
  SignedTransaction,
  Terms,
  TransactionStatus
} from '../port.js'
import { broadcastTransaction, lookAtTransaction } from './effects.js'
import { ChainStepFailure, outcomeOf, type TransactionOutcome } from './outcome.js'

export interface ConfirmOptions {
  readonly look: LookRequest
  readonly terms: Terms
  /** The bytes, to be sent again when the node has forgotten them; absent for a wallet's. */
  readonly transaction?: SignedTransaction
  /** Those in whose place it was sent, with the same nonce: one of them may be included instead. */
  readonly others?: readonly SignedTransaction[]
  /** Whether the chain has said that it has the transaction. */
  readonly wasAccepted: boolean
  /**
   * Looks at the chain anew in each attempt, for the whole time. Default: what earlier attempts saw
   * in the same places is taken from the recorded results, and this one looks further.
   */
  readonly isAnew?: boolean
}

/**
 * Waits until a transaction stands under the wanted number of blocks and is still there (W11).
 * Throws {@link ChainStepFailure}: `reverted`, `replaced`, `nonce_conflict`, `reorged_out`,
 * `expired`, `wallet_mismatch`; `timed_out` or the last failure of the endpoint when the outcome is
 * unknown. A next attempt of the step waits again.
 */
export async function confirmTransaction(
  ctx: BlockContext,
  options: ConfirmOptions
): Promise<TransactionOutcome> {
  const { terms, others = [], isAnew = false } = options
  const watch = new Watch(options)
  const polls = Math.min(
    Math.max(1, Math.ceil(terms.timeoutMs / terms.pollMs)),
    limits.CHAIN_POLLS_MAX
  )
  // A pause of another length than before: one that is over would be recorded.
  const longerMs = others.length + (isAnew ? ctx.attempt - 1 : 0)
  const intervalMs = Math.max(terms.pollMs, Math.ceil(terms.timeoutMs / polls)) + longerMs
  // What earlier attempts saw is in the recorded results: this one looks further.
  const attempts = isAnew ? 1 : Math.max(1, ctx.attempt - others.length)
  const rounds = Math.min(polls * attempts, limits.CHAIN_LOOKS_MAX)
  for (let round = 1; round <= rounds; round += 1) {
    const { hash, seen } = await lookAtAll(ctx, options)
    const verdict = watch.judge(seen, hash)
    if (verdict.kind === 'confirmed') return outcomeOf(hash, verdict.included)
    if (verdict.kind === 'failed') throw new ChainStepFailure(verdict.failure)
    if (verdict.kind === 'forgotten' && options.transaction !== undefined) {
      await sendAgain(ctx, options.transaction)
    }
    if (round < rounds) await ctx.sleep(intervalMs)
  }
  throw new ChainStepFailure(watch.givenUp())
}

type Seen = { readonly found: TransactionStatus } | { readonly failure: ChainFailure }

/** What is seen of the newest transaction, or of the one that is included in its place. */
async function lookAtAll(
  ctx: BlockContext,
  { look: asked, others = [], isAnew = false }: ConfirmOptions
): Promise<{ readonly hash: string; readonly seen: Seen }> {
  const look = isAnew && ctx.attempt > 1 ? { ...asked, attempt: ctx.attempt } : asked
  const hashes = [look.hash, ...others.map(({ hash }) => hash)]
  if (others.length === 0) return { hash: look.hash, seen: await lookOnce(ctx, look) }
  const all: Seen[] = []
  for (const hash of hashes) {
    const seen = await lookOnce(ctx, { ...look, hash, among: hashes })
    if ('found' in seen && seen.found.status === 'included') return { hash, seen }
    all.push(seen)
  }
  return { hash: look.hash, seen: together(all, hashes) }
}

/** Of transactions of which none is included. */
function together(all: readonly Seen[], hashes: readonly string[]): Seen {
  const failed = all.find((seen) => 'failure' in seen)
  if (failed !== undefined) return failed
  const statuses = all.flatMap((seen) => ('found' in seen ? [seen.found] : []))
  // One that stands in the place of another is found by its own look, once the node shows it.
  const isOfOurs = (one: TransactionStatus) =>
    one.status === 'displaced' && one.by !== null && hashes.includes(one.by)
  if (statuses.some(isOfOurs)) return { found: { status: 'pending' } }
  const open = (status: 'pending' | 'unknown') => statuses.find((one) => one.status === status)
  const found = open('pending') ?? open('unknown') ?? statuses[0] ?? { status: 'unknown' }
  return { found }
}

/** A look that fails says nothing about the transaction. */
async function lookOnce(ctx: BlockContext, request: LookRequest): Promise<Seen> {
  try {
    return { found: await lookAtTransaction(ctx, request) }
  } catch (error) {
    const failure = chainFailureOf(error)
    if (failure === undefined) throw error
    if (!failure.retryable) throw new ChainStepFailure({ ...failure, sent: true })
    return { failure }
  }
}

/** Whether the bytes are taken or refused, the next look says what became of them. */
async function sendAgain(ctx: BlockContext, transaction: SignedTransaction): Promise<void> {
  try {
    await broadcastTransaction(ctx, transaction)
  } catch (error) {
    if (chainFailureOf(error) === undefined) throw error
  }
}

type Verdict =
  | { readonly kind: 'confirmed'; readonly included: IncludedTransaction }
  | { readonly kind: 'failed'; readonly failure: ChainFailure }
  | { readonly kind: 'forgotten' | 'open' }

/** What a sequence of looks says. Owns: what was seen of one transaction; nothing of it is kept. */
class Watch {
  readonly #options: ConfirmOptions
  #included: IncludedTransaction | undefined
  #wasReorged = false
  #wasKnown: boolean
  #missing = 0
  #displaced = 0
  #last: Seen | undefined
  /** Of the transaction that was seen last. */
  #hash: string

  constructor(options: ConfirmOptions) {
    this.#options = options
    this.#hash = options.look.hash
    this.#wasKnown = options.wasAccepted
  }

  judge(seen: Seen, hash: string): Verdict {
    this.#last = seen
    this.#hash = hash
    if ('failure' in seen) return { kind: 'open' }
    const { found: status } = seen
    if (status.status !== 'displaced') this.#displaced = 0
    if (status.status !== 'unknown') this.#missing = 0
    this.#noticeReorg(status)
    switch (status.status) {
      case 'unknown':
        this.#missing += 1
        // Nodes behind one address are not equally quick.
        return { kind: this.#missing % limits.CHAIN_MISSING_LOOKS === 0 ? 'forgotten' : 'open' }
      case 'pending':
        this.#wasKnown = true
        return { kind: 'open' }
      case 'included':
        this.#wasKnown = true
        return this.#ofIncluded(status)
      case 'displaced':
        this.#displaced += 1
        // One lagging node must not end it.
        if (this.#displaced < limits.CHAIN_DISPLACED_LOOKS) return { kind: 'open' }
        return { kind: 'failed', failure: this.#displacement(status) }
      case 'mismatch':
        return {
          kind: 'failed',
          failure: this.#failure('wallet_mismatch', {
            message: `the wallet has sent another transaction: ${status.fields.join(', ')} differ`
          })
        }
      default:
        return unreachable(status)
    }
  }

  /** The failure to end with when the time is over. */
  givenUp(): ChainFailure {
    const last = this.#last
    const stuck = this.#stuck()
    if (last !== undefined && 'failure' in last) return { ...stuck, ...last.failure, sent: true }
    if (this.#wasReorged) {
      return this.#failure('reorged_out', {
        message: 'its block is not part of the chain any more, and it was not included again'
      })
    }
    const where =
      this.#included === undefined ? 'it was not included' : 'too few blocks stand on it'
    return this.#failure('timed_out', { message: `${where} within the time given`, ...stuck })
  }

  /** What one has to know to replace it; nothing where its executor has not said what it costs. */
  #stuck(): { readonly transaction?: JsonObject } {
    const { look, transaction } = this.#options
    const last = this.#last
    if (transaction?.fee === undefined || this.#wasReorged) return {}
    const { hash, from, nonce } = look
    const standing = last !== undefined && 'found' in last ? last.found.status : null
    return { transaction: { hash, from, nonce, fee: transaction.fee, standing } }
  }

  #noticeReorg(status: TransactionStatus): void {
    const before = this.#included
    if (before === undefined) return
    if (status.status === 'included') {
      if (status.blockHash !== before.blockHash) this.#wasReorged = true
    } else {
      this.#wasReorged = true
      this.#included = undefined
    }
  }

  #ofIncluded(included: IncludedTransaction): Verdict {
    this.#included = included
    if (included.confirmations < this.#options.terms.confirmations) return { kind: 'open' }
    if (included.success) return { kind: 'confirmed', included }
    const { revert } = included
    return {
      kind: 'failed',
      failure: this.#failure('reverted', {
        message: revert?.reason ?? revert?.name ?? 'it was included, and had no effect',
        ...(revert === null ? {} : { revert })
      })
    }
  }

  #displacement(
    status: Extract<TransactionStatus, { readonly status: 'displaced' }>
  ): ChainFailure {
    const by = status.by === null ? {} : { by: status.by }
    if (status.cause === 'expired') {
      return this.#failure('expired', { message: 'it was not included while it was valid' })
    }
    return this.#wasKnown
      ? this.#failure('replaced', {
          message: 'another transaction with its nonce was included',
          transaction: by
        })
      : this.#failure('nonce_conflict', {
          message: 'another transaction has used its nonce',
          transaction: by
        })
  }

  #failure(
    code: ChainFailureCode,
    fields: Pick<Parameters<typeof chainFailure>[1], 'message' | 'revert' | 'transaction'>
  ): ChainFailure {
    const { chain, from, nonce, execution } = this.#options.look
    const hash = this.#hash
    const block = this.#included
    return chainFailure(code, {
      ...fields,
      phase: 'confirm',
      chain,
      executionType: execution.type,
      sent: true,
      transaction: {
        hash,
        from,
        nonce,
        ...(block === undefined ? {} : { block: block.blockNumber }),
        ...fields.transaction
      }
    })
  }
}

import type { BlockContext } from '../../block/index.js'
import { limits, unreachable } from '../../core/index.js'
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
  Standing,
  Terms
} from '../port.js'
import { broadcastTransaction, lookAtTransaction } from './effects.js'
import { ChainStepFailure, outcomeOf, type TransactionOutcome } from './outcome.js'

export interface ConfirmOptions {
  readonly look: LookRequest
  readonly terms: Terms
  /** The bytes, to be sent again when the node has forgotten them; absent for a wallet's. */
  readonly transaction?: SignedTransaction
  /** Whether the chain has said that it has the transaction. */
  readonly wasAccepted: boolean
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
  const { terms } = options
  const watch = new Watch(options)
  const polls = Math.min(
    Math.max(1, Math.ceil(terms.timeoutMs / terms.pollMs)),
    limits.CHAIN_POLLS_MAX
  )
  const intervalMs = Math.max(terms.pollMs, Math.ceil(terms.timeoutMs / polls))
  // What earlier attempts saw is in the recorded results: this one looks further.
  const rounds = Math.min(polls * ctx.attempt, limits.CHAIN_LOOKS_MAX)
  for (let round = 1; round <= rounds; round += 1) {
    const verdict = watch.judge(await lookOnce(ctx, options.look))
    if (verdict.kind === 'confirmed') return outcomeOf(options.look.hash, verdict.included)
    if (verdict.kind === 'failed') throw new ChainStepFailure(verdict.failure)
    if (verdict.kind === 'forgotten' && options.transaction !== undefined) {
      await sendAgain(ctx, options.transaction)
    }
    if (round < rounds) await ctx.sleep(intervalMs)
  }
  throw new ChainStepFailure(watch.givenUp())
}

type Seen = { readonly standing: Standing } | { readonly failure: ChainFailure }

/** A look that fails says nothing about the transaction. */
async function lookOnce(ctx: BlockContext, request: LookRequest): Promise<Seen> {
  try {
    return { standing: await lookAtTransaction(ctx, request) }
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

  constructor(options: ConfirmOptions) {
    this.#options = options
    this.#wasKnown = options.wasAccepted
  }

  judge(seen: Seen): Verdict {
    this.#last = seen
    if ('failure' in seen) return { kind: 'open' }
    const { standing: status } = seen
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
    if (last !== undefined && 'failure' in last) return { ...last.failure, sent: true }
    if (this.#wasReorged) {
      return this.#failure('reorged_out', {
        message: 'its block is not part of the chain any more, and it was not included again'
      })
    }
    const where =
      this.#included === undefined ? 'it was not included' : 'too few blocks stand on it'
    return this.#failure('timed_out', { message: `${where} within the time given` })
  }

  #noticeReorg(status: Standing): void {
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

  #displacement(status: Extract<Standing, { readonly status: 'displaced' }>): ChainFailure {
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
    const { chain, hash, from, nonce, execution } = this.#options.look
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

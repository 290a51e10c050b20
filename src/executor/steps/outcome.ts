import { BlockFailure } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import { type ChainFailure, chainFailureOf } from '../failure.js'
import type { IncludedTransaction } from '../port.js'

/** A write that was included, succeeded, and stands under the wanted number of blocks. */
export interface TransactionOutcome {
  readonly hash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly confirmations: number
  /** The outputs of the node: `tx_hash`, `receipt` (EVM). */
  readonly outputs: JsonObject
}

/**
 * Ends an attempt with a chain failure: `reason` is its code, `details` the failure. Its error type
 * is `ChainRetryable` or `ChainFinal`, so that a recovery list can retry the former alone.
 */
export class ChainStepFailure extends BlockFailure {
  override readonly name: 'ChainRetryable' | 'ChainFinal'
  readonly failure: ChainFailure

  constructor(failure: ChainFailure) {
    super(failure.code, failure as unknown as Json)
    this.name = failure.retryable ? 'ChainRetryable' : 'ChainFinal'
    this.failure = failure
  }
}

/** Passes an error on as a {@link ChainStepFailure} when it is a chain failure. */
export function rethrow(error: unknown): never {
  const failure = chainFailureOf(error)
  throw failure === undefined || error instanceof ChainStepFailure
    ? error
    : new ChainStepFailure(failure)
}

export function outcomeOf(hash: string, included: IncludedTransaction): TransactionOutcome {
  const { blockNumber, blockHash, confirmations, outputs } = included
  return { hash, blockNumber, blockHash, confirmations, outputs }
}

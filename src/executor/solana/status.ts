import type { Json } from '../../core/index.js'
import type { RpcCall } from '../rpc/rpc.js'
import { count, list, object, text, withContext } from './answers.js'
import type { SolanaChain } from './chain.js'
import { confirmationsOf, type SolanaCommitment } from './config.js'

const STATUSES = 'getSignatureStatuses'

/** A signature's entry, and how far the node was when it looked. */
export interface Seen {
  readonly slot: number
  readonly status: Status | null
}

export interface Status {
  readonly slot: number
  readonly error: Json
  readonly commitment: SolanaCommitment
  /** Blocks that were voted on it; null: it is finalized. */
  readonly votes: number | null
}

export function seenIn(answer: Json): Seen {
  const { slot, value } = withContext(answer, STATUSES)
  const entries = list(value, STATUSES)
  const [entry = null] = entries
  if (entry === null) return { slot, status: null }
  const {
    slot: landed,
    err = null,
    confirmations = null,
    confirmationStatus
  } = object(entry, STATUSES)
  const commitment = text(confirmationStatus ?? 'processed', STATUSES)
  const isKnown = Object.hasOwn(confirmationsOf, commitment)
  return {
    slot,
    status: {
      slot: count(landed, STATUSES),
      error: err,
      // What is not known is believed least.
      commitment: isKnown ? (commitment as SolanaCommitment) : 'processed',
      votes: confirmations === null ? null : count(confirmations, STATUSES)
    }
  }
}

/** A transaction that is asked about. */
export interface AskedStatus {
  readonly hash: string
  /** Whether the node looks through all that it keeps; else only through what is recent. */
  readonly isOld: boolean
}

export function statusCall({ hash, isOld }: AskedStatus): RpcCall {
  return { method: STATUSES, params: [[hash], { searchTransactionHistory: isOld }] }
}

export async function statusOf(
  chain: SolanaChain,
  asked: AskedStatus,
  signal: AbortSignal
): Promise<Seen> {
  const { method, params } = statusCall(asked)
  return seenIn(await chain.call(method, params, signal))
}

import { isJsonObject } from '../../core/index.js'
import type { RpcCall, Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import { list, whole } from './answers.js'
import type { SolanaPriorityFee } from './config.js'
import type { BuiltInstruction } from './instruction.js'

const METHOD = 'getRecentPrioritizationFees'
const MICRO = 1_000_000n

/** What is paid for a compute unit above the base fee. */
export interface Price {
  /** The price at which so many units stay within the bound. */
  within(units: number): bigint
}

/** What is asked to know the price, for a batch. */
export function priceCalls(
  { microLamports }: SolanaPriorityFee,
  { accounts }: BuiltInstruction
): readonly RpcCall[] {
  if (microLamports !== 'recent') return []
  const locked = accounts.filter(({ writable }) => writable).map(({ pubkey }) => pubkey)
  return [{ method: METHOD, params: [locked] }]
}

export function priceIn(
  { microLamports, lamportsMax }: SolanaPriorityFee,
  recent: Settled | undefined
): Price {
  const wanted = microLamports === 'recent' ? median(recent) : BigInt(microLamports)
  const within = (units: number) => {
    const most = (BigInt(lamportsMax) * MICRO) / BigInt(units)
    return wanted < most ? wanted : most
  }
  return { within }
}

/** A node that does not tell costs nothing. */
function median(recent: Settled | undefined): bigint {
  if (recent === undefined || recent instanceof RpcError) return 0n
  const fees = list(recent, METHOD).map((one) =>
    BigInt(whole(isJsonObject(one) ? one['prioritizationFee'] : undefined, METHOD))
  )
  const sorted = fees.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0))
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

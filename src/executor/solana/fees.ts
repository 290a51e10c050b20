import { isJsonObject } from '../../core/index.js'
import type { RpcCall, Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import { list, whole } from './answers.js'
import type { SolanaPriorityFee } from './config.js'
import type { BuiltInstruction } from './instruction.js'
import { isBudget } from './message.js'

const METHOD = 'getRecentPrioritizationFees'
const MICRO = 1_000_000n

/** What one signature costs, in lamports; nothing is sent for less. */
export const SIGNATURE_LAMPORTS = 5_000n

/** Programs whose instructions hold signatures, which are paid for: the first byte counts them. */
const signatureChecks: ReadonlySet<string> = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111'
])

const UNIT_PRICE = 3

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

/**
 * What a transaction costs, in lamports, whether it succeeds or not: its signatures, and its limit
 * of units at their price, rounded up.
 */
export function transactionFee(
  { program, data }: BuiltInstruction,
  {
    signatures,
    units,
    price
  }: { readonly signatures: number; readonly units: number; readonly price: bigint }
): bigint {
  const held = signatureChecks.has(program) ? (data[0] ?? 0) : 0
  // An instruction may set the price by itself, where the configuration sets none.
  const isPrice = isBudget(program) && data[0] === UNIT_PRICE && data.length === 9
  const own = isPrice ? Buffer.from(data).readBigUInt64LE(1) : 0n
  const perUnit = own > price ? own : price
  const priority = (BigInt(units) * perUnit + MICRO - 1n) / MICRO
  return SIGNATURE_LAMPORTS * BigInt(signatures + held) + priority
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

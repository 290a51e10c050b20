import { chainFailed } from '../failure.js'
import type { SignedTransaction, WriteRequest } from '../port.js'
import type { EvmChain } from './chain.js'
import type { EvmSigner, EvmTransaction } from './config.js'
import { priceOf } from './fees.js'
import type { Hex, Viem } from './viem.js'

/** A transaction before it is signed. */
export type BuiltTransaction = EvmTransaction & { readonly from: Hex }

/** Throws a failure `insufficient_funds` where the account cannot pay for value and gas. */
export function checkFunds(
  chain: EvmChain,
  executionType: string,
  { from, value, available, ...built }: BuiltTransaction & { readonly available: bigint }
): void {
  const needed = value + feeOf(built)
  if (available >= needed) return
  throw chainFailed('insufficient_funds', {
    phase: 'prepare',
    chain: chain.id,
    executionType,
    message: 'the account cannot pay for value and gas',
    transaction: { from, needed: needed.toString(), available: available.toString() }
  })
}

/** Throws a failure `fee_too_high`. The fee is the most that the signed bytes can cost. */
export function checkFee(chain: EvmChain, request: WriteRequest, built: EvmTransaction): void {
  const { maxFee, execution } = request
  const fee = feeOf(built)
  if (maxFee === undefined || fee <= BigInt(maxFee)) return
  const message = `it could cost ${fee}, and may cost ${maxFee}`
  const about = { phase: 'prepare', executionType: execution.type, chain: chain.id } as const
  throw chainFailed('fee_too_high', { ...about, message })
}

export async function signed(
  viem: Viem,
  chain: EvmChain,
  signer: EvmSigner,
  { from, ...transaction }: BuiltTransaction
): Promise<SignedTransaction> {
  const raw = await signer.signTransaction(transaction)
  const about = { phase: 'prepare', executionType: null } as const
  if (!/^0x([0-9a-f]{2})+$/i.test(raw)) {
    throw chain.failed('unknown_account', 'the signer gives no signed bytes', about)
  }
  const { nonce } = transaction
  const hash = viem.keccak256(raw as Hex)
  const fee = feeOf(transaction).toString()
  return { chain: chain.id, from, hash, nonce, validUntil: null, raw, fee }
}

function feeOf({ gas, fees }: Pick<EvmTransaction, 'gas' | 'fees'>): bigint {
  return gas * priceOf(fees)
}

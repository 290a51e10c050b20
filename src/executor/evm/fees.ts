import type { Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { EvmChain } from './chain.js'
import type { EvmTransaction } from './config.js'
import { object, quantity } from './quantity.js'

/** What is asked to know the fees, for a batch. */
export const feeCalls = [
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
  { method: 'eth_maxPriorityFeePerGas', params: [] }
] as const

/**
 * Fees of the next transaction: twice the base fee, so that six full blocks in a row do not price
 * it out, plus the tip that the node suggests. A chain without base fees has one gas price, and
 * not every node knows of tips.
 */
export async function feesOf(
  chain: EvmChain,
  { block, tip }: { readonly block: Settled; readonly tip: Settled },
  signal: AbortSignal
): Promise<EvmTransaction['fees']> {
  if (block instanceof RpcError) throw block
  const { baseFeePerGas } = object(block, 'eth_getBlockByNumber')
  if (baseFeePerGas === undefined || baseFeePerGas === null || tip instanceof RpcError) {
    return { gasPrice: quantity(await chain.call('eth_gasPrice', [], signal), 'eth_gasPrice') }
  }
  const maxPriorityFeePerGas = quantity(tip, 'eth_maxPriorityFeePerGas')
  const base = quantity(baseFeePerGas, 'eth_getBlockByNumber')
  return { maxFeePerGas: 2n * base + maxPriorityFeePerGas, maxPriorityFeePerGas }
}

type Fees = EvmTransaction['fees']

/** What one unit of gas may cost at most. */
export function priceOf(fees: Fees): bigint {
  return 'gasPrice' in fees ? fees.gasPrice : fees.maxFeePerGas
}

/**
 * Fees with which nodes take a transaction in place of one with these: both of EIP-1559's, or the
 * one price, are more by so many percent, and are what is usual now where that is more yet.
 */
export function raisedFees(before: Fees, now: Fees, percent: number): Fees {
  const raised = (fee: bigint) => fee + max((fee * BigInt(percent) + 99n) / 100n, 1n)
  if ('gasPrice' in before) return { gasPrice: max(raised(before.gasPrice), priceOf(now)) }
  const tip = 'gasPrice' in now ? 0n : now.maxPriorityFeePerGas
  const maxPriorityFeePerGas = max(raised(before.maxPriorityFeePerGas), tip)
  const price = max(raised(before.maxFeePerGas), priceOf(now))
  return { maxFeePerGas: max(price, maxPriorityFeePerGas), maxPriorityFeePerGas }
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

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

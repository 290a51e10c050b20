import type { EvmChain } from './chain.js'
import type { EvmTransaction } from './config.js'
import { object, quantity } from './quantity.js'
import { RpcError } from './rpc-error.js'

/**
 * Fees of the next transaction: twice the base fee, so that six full blocks in a row do not price
 * it out, plus the tip that the node suggests. A chain without base fees has one gas price.
 */
export async function feesOf(
  chain: EvmChain,
  signal: AbortSignal
): Promise<EvmTransaction['fees']> {
  const [block, tip] = await Promise.all([
    chain.call('eth_getBlockByNumber', ['latest', false], signal),
    tipOf(chain, signal)
  ])
  const { baseFeePerGas } = object(block, 'eth_getBlockByNumber')
  if (baseFeePerGas === undefined || baseFeePerGas === null || tip === undefined) {
    return { gasPrice: quantity(await chain.call('eth_gasPrice', [], signal), 'eth_gasPrice') }
  }
  const maxFeePerGas = 2n * quantity(baseFeePerGas, 'eth_getBlockByNumber') + tip
  return { maxFeePerGas, maxPriorityFeePerGas: tip }
}

async function tipOf(chain: EvmChain, signal: AbortSignal): Promise<bigint | undefined> {
  const method = 'eth_maxPriorityFeePerGas'
  try {
    return quantity(await chain.call(method, [], signal), method)
  } catch (error) {
    // Not every node knows the method; such a chain is asked for its gas price.
    if (error instanceof RpcError && error.answered) return undefined
    throw error
  }
}

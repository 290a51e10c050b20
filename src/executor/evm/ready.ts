import { limits } from '../../core/index.js'
import type { ReadyRequest, ReadyState } from '../port.js'
import type { RpcCall, Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { EvmChain } from './chain.js'
import { bytes, quantity } from './quantity.js'

/** The newest block, the payer's balance and code at addresses, in as few requests as may be. */
export async function readyEvm(
  chain: EvmChain,
  { payer, contracts }: ReadyRequest,
  signal: AbortSignal
): Promise<ReadyState> {
  return chain.guarded({ phase: 'check', executionType: null }, async () => {
    const first = [
      { method: 'eth_blockNumber', params: [] },
      { method: 'eth_gasPrice', params: [] },
      ...(payer === null ? [] : [{ method: 'eth_getBalance', params: [payer, 'pending'] }])
    ]
    const [head = null, price = null, balance = null] = await chain.rpc.settle(first, signal)
    if (head instanceof RpcError) throw head
    const codes: Settled[] = []
    for (let start = 0; start < contracts.length; start += limits.CHAIN_CALLS_MAX) {
      const part = contracts.slice(start, start + limits.CHAIN_CALLS_MAX)
      const calls = part.map(
        (address): RpcCall => ({ method: 'eth_getCode', params: [address, 'latest'] })
      )
      codes.push(...(await chain.rpc.settle(calls, signal)))
    }
    return {
      height: quantity(head, 'eth_blockNumber').toString(),
      canPayFees: payer === null ? null : canPay(price, balance),
      withoutCode: contracts.filter((_, index) => isEmpty(codes[index]))
    }
  })
}

/** Where a node refuses to say, preparing a write will. */
function canPay(price: Settled, balance: Settled): boolean | null {
  if (balance instanceof RpcError) return null
  if (quantity(balance, 'eth_getBalance') > 0n) return true
  if (price instanceof RpcError) return null
  return quantity(price, 'eth_gasPrice') === 0n
}

function isEmpty(code: Settled | undefined): boolean {
  if (code === undefined || code instanceof RpcError) return false
  return bytes(code, 'eth_getCode') === '0x'
}

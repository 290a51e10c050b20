import { exactJsonInTurns } from '../../core/index.js'
import type { RpcDialect } from '../rpc/rpc.js'

/** JSON-RPC as EVM chains speak it; `chainId` is what `eth_chainId` has to give. */
export function evmDialect(chainId: number): RpcDialect {
  return {
    identity: { method: 'eth_chainId', params: [] },
    isOwn: (answer) =>
      typeof answer === 'string' &&
      /^0x[0-9a-f]+$/i.test(answer) &&
      BigInt(answer) === BigInt(chainId),
    mismatch: `the endpoint serves another chain than eip155:${chainId}`,
    hidden: new Set(['eth_sendRawTransaction']),
    unfit: (code) =>
      code === -32005 || code === 429
        ? { code: 'rpc_rate_limited', message: 'the endpoint asks for fewer calls' }
        : undefined,
    // An answer may be long: the event loop has its turns while it is read.
    parse: exactJsonInTurns
  }
}

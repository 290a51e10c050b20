import { exactJsonInTurns, type Json } from '../../core/index.js'
import type { RpcDialect } from '../rpc/rpc.js'

/** JSON-RPC as Solana chains speak it; `genesis` is what the genesis hash has to begin with. */
export function solanaDialect(genesis: string): RpcDialect {
  return {
    identity: { method: 'getGenesisHash', params: [] },
    isOwn: (answer) => typeof answer === 'string' && answer.slice(0, genesis.length) === genesis,
    mismatch: `the endpoint serves another chain than solana:${genesis}`,
    hidden: new Set(['sendTransaction', 'simulateTransaction']),
    unfit,
    // Lamports and slots go beyond what a double holds.
    parse: exactJsonInTurns
  }
}

// Unhealthy, no snapshot, block not available, behind the slot that was asked for.
const behind: ReadonlySet<Json> = new Set([-32005, -32008, -32004, -32016])

function unfit(code: Json | undefined): ReturnType<RpcDialect['unfit']> {
  if (code === 429) {
    return { code: 'rpc_rate_limited', message: 'the endpoint asks for fewer calls' }
  }
  if (code === undefined || !behind.has(code)) return undefined
  return { code: 'rpc_down', message: 'the node is behind the chain' }
}

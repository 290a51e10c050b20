/** solana-node: a Solana node on loopback over litesvm, for tests without a validator. */
export type {
  RpcCall as SolanaNodeCall,
  RpcFault as SolanaNodeFault
} from '../rpc-node/index.js'
export type { SolanaMint } from './solana-mint.js'
export {
  type SolanaNode,
  type SolanaNodeOptions,
  type SolanaNodeTransaction,
  startSolanaNode
} from './solana-node.js'

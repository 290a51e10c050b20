/** evm-node: an EVM node on loopback, for tests without a node. */
export {
  type EvmNode,
  type EvmNodeCall,
  type EvmNodeFault,
  type EvmNodeOptions,
  startEvmNode
} from './evm-node.js'
export type { EvmToken } from './evm-token.js'

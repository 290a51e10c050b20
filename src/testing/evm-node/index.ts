/** evm-node: an EVM node on loopback, for tests without a node. */
export type { RpcCall as EvmNodeCall, RpcFault as EvmNodeFault } from '../rpc-node/index.js'
export { type EvmNode, type EvmNodeOptions, startEvmNode } from './evm-node.js'
export type { EvmToken } from './evm-token.js'

/** rpc-node: what fakes of chains share: JSON-RPC over HTTP on loopback, with faults by script. */
export { NodeError, rpcErrors } from './node-error.js'
export {
  type RpcAnswer,
  type RpcCall,
  type RpcFault,
  RpcNode,
  type RpcScript
} from './rpc-node.js'
export type { RpcValue } from './rpc-value.js'

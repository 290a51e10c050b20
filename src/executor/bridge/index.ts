/**
 * tallystick/bridge: the executor of a bridge between chains, and the port that its driver has.
 */
export type { CallMoves, Execution, Executor, ReadRequest } from '../port.js'
export {
  type Bridge,
  type BridgeQuestion,
  type BridgeRead,
  type BridgeStatus,
  type BridgeTransfer,
  type BridgeTypes,
  type BridgeWrite,
  usualBridgeTypes
} from './bridge.js'
export { type BridgeOptions, bridgeExecutor } from './executor.js'

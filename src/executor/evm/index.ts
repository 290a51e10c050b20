/**
 * tallystick/evm: the executor of EVM chains, and what leaf blocks do through executors. Needs
 * viem, an optional peer.
 */
export {
  type ChainFailure,
  type ChainFailureCode,
  type ChainPhase,
  chainFailureOf,
  type RpcExchange
} from '../failure.js'
export type {
  Account,
  AccountRequest,
  Execution,
  Executor,
  ReadRequest,
  ReadyRequest,
  ReadyState,
  Revert,
  Simulation,
  Terms,
  WriteRequest
} from '../port.js'
export { chainProviders } from '../providers.js'
export {
  httpTransport,
  type RpcReply,
  type RpcRequest,
  type RpcTransport
} from '../rpc/transport.js'
export {
  chainEffects,
  readChain,
  resolveAccount,
  simulateTransaction
} from '../steps/effects.js'
export { ChainStepFailure, type TransactionOutcome } from '../steps/outcome.js'
export { type SendOptions, sendTransaction } from '../steps/send.js'
export type { AbiError, AbiEvent, AbiFunction, AbiParameter } from './abi-types.js'
export type { EvmChainConfig, EvmOptions, EvmSigner, EvmTransaction } from './config.js'
export { evmExecutor } from './executor.js'

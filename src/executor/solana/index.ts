/**
 * tallystick/solana: the executor of Solana chains, and what leaf blocks do through executors.
 * Needs `@solana/kit`, an optional peer.
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
  ProgramError,
  ReadRequest,
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
export type {
  SolanaChainConfig,
  SolanaCommitment,
  SolanaOptions,
  SolanaPriorityFee,
  SolanaSigner
} from './config.js'
export { solanaExecutor } from './executor.js'

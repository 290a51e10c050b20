/**
 * executor: the port to chains, what leaf blocks do through it, and the executors of this package.
 */

export {
  type Bridge,
  type BridgeStatus,
  type BridgeTransfer,
  type BridgeTypes,
  usualBridgeTypes
} from './bridge/bridge.js'
export { bridgeExecutor } from './bridge/executor.js'
export type { AbiParameter } from './evm/abi-types.js'
export { type AbiPlain, parametersOf, plainArguments, plainParameters } from './evm/call-data.js'
export { selectorOf, signatureOf } from './evm/selector.js'
export {
  type ChainFailure,
  type ChainFailureCode,
  type ChainPhase,
  chainFailed,
  chainFailure,
  chainFailureCodes,
  chainFailureOf,
  hadNoEffect,
  type RpcExchange
} from './failure.js'
export { type Claim, type NonceChain, NonceOwner } from './nonces/owner.js'
export type {
  Account,
  AccountRequest,
  BlockPlace,
  BlockTag,
  Broadcast,
  CallMoves,
  CallOptions,
  ChainCall,
  Execution,
  Executor,
  IncludedTransaction,
  LookRequest,
  Prepared,
  ProgramError,
  ReadRequest,
  ReadyRequest,
  ReadyState,
  ReorgedTransaction,
  ReplacedTransaction,
  Revert,
  SignedTransaction,
  Simulation,
  Terms,
  TransactionStatus,
  UnfinishedTransaction,
  UnsignedTransaction,
  WriteRequest,
  WrittenCall
} from './port.js'
export { chainProviders } from './providers.js'
export type { ReadinessProblem, ReadinessReport, ReadinessRequest } from './readiness.js'
export {
  type ConfirmedTransaction,
  type FoundLater,
  foundLater,
  lookFor,
  reorgedFailure,
  type SentTransaction,
  tellsOfTransactions,
  transactionsIn,
  transactionTexts,
  unknownFailure
} from './reconfirm.js'
export { recoverTransactions, unfinishedIn } from './recover.js'
export { type BuiltInstruction, plainInstruction } from './solana/instruction.js'
export { type ConfirmOptions, confirmTransaction } from './steps/confirm.js'
export {
  askCall,
  askReadiness,
  broadcastTransaction,
  chainEffects,
  lookAtTransaction,
  lookRequest,
  prepareRequest,
  prepareTransaction,
  readChain,
  resolveAccount,
  simulateTransaction
} from './steps/effects.js'
export { ChainStepFailure, type TransactionOutcome } from './steps/outcome.js'
export type { Replacing } from './steps/replace.js'
export {
  finishSent,
  type HandedOver,
  type NumberedSend,
  type SendOptions,
  sendNew,
  sendRepeated,
  sendTransaction
} from './steps/send.js'
export { type Corrected, correctedHash, handedHash, handOverKind } from './steps/wallet-answer.js'

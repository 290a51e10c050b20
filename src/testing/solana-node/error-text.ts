import type { RpcValue } from '../rpc-node/index.js'

/** Texts of Agave's `TransactionError`; what is not here is shown by its name. */
const transactionTexts: Readonly<Record<string, string>> = {
  AccountInUse: 'Account in use',
  AccountLoadedTwice: 'Account loaded twice',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  SignatureFailure: 'Transaction did not pass signature verification'
}

/** Texts of Agave's `InstructionError`. */
const instructionTexts: Readonly<Record<string, string>> = {
  AccountAlreadyInitialized: 'instruction requires an uninitialized account',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  IncorrectProgramId: 'incorrect program id for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  InvalidAccountData: 'invalid account data for instruction',
  InvalidAccountOwner: 'Invalid account owner',
  InvalidArgument: 'invalid program argument',
  InvalidInstructionData: 'invalid instruction data',
  MissingAccount: 'An account required by the instruction is missing',
  MissingRequiredSignature: 'missing required signature for instruction',
  NotEnoughAccountKeys: 'insufficient account keys for instruction',
  ProgramFailedToComplete: 'Program failed to complete',
  UninitializedAccount: 'instruction requires an initialized account',
  UnsupportedProgramId: 'Unsupported program id'
}

/** What a node says about an error of a transaction, in words. */
export function errorText(error: RpcValue): string {
  if (typeof error === 'string') return transactionTexts[error] ?? error
  const instruction = member(error, 'InstructionError')
  if (Array.isArray(instruction)) {
    const [index, cause] = instruction as readonly RpcValue[]
    return `Error processing Instruction ${index}: ${causeText(cause ?? null)}`
  }
  const rent = member(member(error, 'InsufficientFundsForRent'), 'account_index')
  if (rent !== undefined) {
    return `Transaction results in an account (${rent}) with insufficient funds for rent`
  }
  return Object.keys(error ?? {}).join()
}

function causeText(cause: RpcValue): string {
  if (typeof cause === 'string') return instructionTexts[cause] ?? cause
  const code = member(cause, 'Custom')
  if (typeof code === 'number') return `custom program error: 0x${code.toString(16)}`
  return Object.keys(cause ?? {}).join()
}

function member(value: RpcValue | undefined, name: string): RpcValue | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  return (value as { readonly [key: string]: RpcValue | undefined })[name]
}

import { isJsonObject, type Json, limits } from '../../core/index.js'
import type { ProgramError, Revert } from '../port.js'

/** Where the instruction of an execution stands in its transaction, and whose it is. */
export interface InstructionPlace {
  readonly program: string | null
  /** Instructions before it: compute budget and the like. */
  readonly before: number
}

const TOKEN_ERRORS = [
  'NotRentExempt',
  'InsufficientFunds',
  'InvalidMint',
  'MintMismatch',
  'OwnerMismatch',
  'FixedSupply',
  'AlreadyInUse',
  'InvalidNumberOfProvidedSigners',
  'InvalidNumberOfRequiredSigners',
  'UninitializedState',
  'NativeNotSupported',
  'NonNativeHasBalance',
  'InvalidInstruction',
  'InvalidState',
  'Overflow',
  'AuthorityTypeNotSupported',
  'MintCannotFreeze',
  'AccountFrozen',
  'MintDecimalsMismatch',
  'NonNativeNotSupported'
]

/** Names of the numbered errors of programs that every chain has. */
const namedErrors: Readonly<Record<string, readonly string[]>> = {
  TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA: TOKEN_ERRORS,
  TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb: TOKEN_ERRORS,
  '11111111111111111111111111111111': [
    'AccountAlreadyInUse',
    'ResultWithNegativeLamports',
    'InvalidProgramId',
    'InvalidAccountDataLength',
    'MaxSeedLengthExceeded',
    'AddressWithSeedMismatch',
    'NonceNoRecentBlockhashes',
    'NonceBlockhashNotExpired',
    'NonceUnexpectedBlockhashValue'
  ],
  ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: ['InvalidOwner']
}

/** Why a transaction had no effect, by what the node says of it and by what its programs logged. */
export function revertOf(
  error: Json,
  logs: readonly string[],
  place: InstructionPlace | undefined
): Revert {
  const programError = programErrorOf(error, logs, place)
  const { name, code, program, instruction } = programError
  return {
    name,
    args: { program, instruction, ...(code === null ? {} : { code }) },
    reason: saidIn(logs) ?? null,
    data: null,
    programError,
    logs: logs.slice(0, limits.CHAIN_LOGS_MAX)
  }
}

function programErrorOf(
  error: Json,
  logs: readonly string[],
  place: InstructionPlace | undefined
): ProgramError {
  const [kind = 'unknown', detail = null] = typeof error === 'string' ? [error] : oneEntry(error)
  if (kind !== 'InstructionError' || !Array.isArray(detail)) {
    return { program: null, instruction: null, name: kind, code: null }
  }
  const [at, cause = null] = detail as readonly Json[]
  const number = typeof at === 'number' ? at : null
  const instruction = number === null ? null : number - (place?.before ?? 0)
  const program = failedProgram(logs) ?? (instruction === 0 ? (place?.program ?? null) : null)
  const [name = 'unknown', given = null] = typeof cause === 'string' ? [cause] : oneEntry(cause)
  if (name !== 'Custom') return { program, instruction, name, code: null }
  const code = String(given)
  const known = program !== null && Object.hasOwn(namedErrors, program) ? namedErrors[program] : []
  return { program, instruction, name: anchorName(logs) ?? known?.[Number(code)] ?? name, code }
}

function oneEntry(value: Json): readonly [string, Json] | readonly [] {
  const [entry] = isJsonObject(value) ? Object.entries(value) : []
  return entry ?? []
}

/** The innermost program that has failed is the first to be logged so. */
function failedProgram(logs: readonly string[]): string | undefined {
  for (const line of logs) {
    const found = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) failed: /.exec(line)
    if (found !== null) return found[1]
  }
  return undefined
}

function anchorName(logs: readonly string[]): string | undefined {
  for (const line of logs) {
    const found = /AnchorError .*Error Code: (\w{1,64})\./.exec(line)
    if (found !== null) return found[1]
  }
  return undefined
}

/** What a program has said of its error. */
function saidIn(logs: readonly string[]): string | undefined {
  for (const line of logs.toReversed()) {
    const found =
      /Error Message: (.+)$/.exec(line) ?? /^Program log: (?:Error: |error: )(.+)$/.exec(line)
    if (found !== null) return found[1]
  }
  return undefined
}

/** Whether a transaction is refused because the account cannot pay for it. */
export function isUnpaid(error: Json): boolean {
  const kind = typeof error === 'string' ? error : (oneEntry(error)[0] ?? '')
  return ['InsufficientFundsForFee', 'InsufficientFundsForRent', 'AccountNotFound'].includes(kind)
}

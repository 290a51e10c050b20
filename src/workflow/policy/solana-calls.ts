import type { BuiltInstruction } from '../../executor/index.js'
import { accountAsset, type CallEffect, nativeAsset, tokenAsset } from './effect.js'

/** What an instruction does; undefined: nothing is known of it. */
type Effects = (chain: string, instruction: BuiltInstruction) => readonly CallEffect[] | undefined

/** Programs of which instructions are known. Their first bytes say which one it is. */
const programs: Readonly<Record<string, Effects>> = {
  '11111111111111111111111111111111': systemEffects,
  TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA: tokenEffects,
  TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb: tokenEffects,
  // Create, without data as well, and CreateIdempotent; not RecoverNested, which moves tokens. Any
  // other program of tokens would say how much the account costs, and own it.
  ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL: nothingIf(
    ({ data, accounts }) =>
      data.length <= 1 && (data[0] ?? 0) <= 1 && isTokenProgram(accounts[5]?.pubkey)
  ),
  // Not the price of a unit (3): its fees would be beyond every bound of the executor.
  ComputeBudget111111111111111111111111111111: nothingIf(
    ({ data }) => data.length === 5 && [1, 2, 4].includes(data[0] ?? 0)
  ),
  MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr: nothingIf(() => true),
  Memo1UhkJRfHyvLMcVucJwxXeuD728EqVddwQDwyw: nothingIf(() => true)
}

export function isKnownProgram(program: string): boolean {
  return Object.hasOwn(programs, program)
}

/** What an instruction does by its own bytes; undefined: nothing is known of it. */
export function solanaEffects(
  chain: string,
  instruction: BuiltInstruction
): readonly CallEffect[] | undefined {
  const { program } = instruction
  return isKnownProgram(program) ? programs[program]?.(chain, instruction) : undefined
}

function nothingIf(isKnown: (instruction: BuiltInstruction) => boolean): Effects {
  return (_, instruction) => (isKnown(instruction) ? [] : undefined)
}

function isTokenProgram(program: string | undefined): boolean {
  return program !== undefined && isKnownProgram(program) && programs[program] === tokenEffects
}

/** Of the System Program; github.com/anza-xyz/solana-sdk, system-interface/src/instruction.rs. */
function systemEffects(
  chain: string,
  { accounts, data }: BuiltInstruction
): readonly CallEffect[] | undefined {
  const to = accounts[1]?.pubkey
  const at = lamportsAt(data)
  if (to === undefined || at === undefined) return undefined
  return [{ kind: 'transfer', asset: nativeAsset(chain), amount: u64(data, at).toString(), to }]
}

const CREATE_ACCOUNT_BYTES = 4 + 8 + 8 + 32
const TRANSFER_BYTES = 4 + 8
/** Its number and an address; then a seed behind its length. */
const SEED_LENGTH_AT = 4 + 32
const SEED_BYTES_MAX = 32

/** Where the lamports stand that leave the first account. */
function lamportsAt(data: Uint8Array): number | undefined {
  if (data.length < TRANSFER_BYTES) return undefined
  switch (view(data).getUint32(0, true)) {
    case 0:
      return data.length === CREATE_ACCOUNT_BYTES ? 4 : undefined
    case 2:
      return data.length === TRANSFER_BYTES ? 4 : undefined
    case 3: {
      if (data.length < SEED_LENGTH_AT + 8) return undefined
      const length = u64(data, SEED_LENGTH_AT)
      if (length > BigInt(SEED_BYTES_MAX)) return undefined
      const at = SEED_LENGTH_AT + 8 + Number(length)
      return data.length === at + 8 + 8 + 32 ? at : undefined
    }
    default:
      return undefined
  }
}

interface TokenCall {
  readonly kind: 'transfer' | 'approval' | 'burn'
  /** Accounts that it has before the signers of one that several own. */
  readonly accounts: 3 | 4
  /** Whether the decimals of the mint are behind the amount. */
  readonly isChecked: boolean
  /** Place of the mint among the accounts; absent: it is not named. */
  readonly mint?: number
  /** Place of who is given the amount, or may take it. */
  readonly to?: number
}

/** Those of SPL Token, which Token-2022 has as well; github.com/solana-program/token. */
const tokenCalls: Readonly<Record<number, TokenCall>> = {
  3: { kind: 'transfer', accounts: 3, isChecked: false, to: 1 },
  4: { kind: 'approval', accounts: 3, isChecked: false, to: 1 },
  7: { kind: 'transfer', accounts: 3, isChecked: false, mint: 0, to: 1 },
  8: { kind: 'burn', accounts: 3, isChecked: false, mint: 1 },
  12: { kind: 'transfer', accounts: 4, isChecked: true, mint: 1, to: 2 },
  13: { kind: 'approval', accounts: 4, isChecked: true, mint: 1, to: 2 },
  14: { kind: 'transfer', accounts: 3, isChecked: true, mint: 0, to: 1 },
  15: { kind: 'burn', accounts: 3, isChecked: true, mint: 1 }
}

const U64_MAX = 2n ** 64n - 1n

function tokenEffects(
  chain: string,
  { accounts, data }: BuiltInstruction
): readonly CallEffect[] | undefined {
  const [number = 0] = data
  const call = Object.hasOwn(tokenCalls, number) ? tokenCalls[number] : undefined
  if (call === undefined || data.length !== (call.isChecked ? 10 : 9)) return undefined
  // Others than signers are for programs that the mint has called, which may do anything.
  const isPlain = accounts.slice(call.accounts).every(({ signer, writable }) => signer && !writable)
  const [source] = accounts
  if (!isPlain || accounts.length < call.accounts || source === undefined) return undefined
  const mint = call.mint === undefined ? undefined : accounts[call.mint]?.pubkey
  const asset = mint === undefined ? accountAsset(chain, source.pubkey) : tokenAsset(chain, mint)
  const units = u64(data, 1)
  const amount = units.toString()
  if (call.kind === 'burn') return [{ kind: 'burn', asset, amount }]
  const to = call.to === undefined ? undefined : accounts[call.to]?.pubkey
  if (to === undefined) return undefined
  if (call.kind === 'transfer') return [{ kind: 'transfer', asset, amount, to }]
  return [{ kind: 'approval', asset, amount, spender: to, unlimited: units === U64_MAX }]
}

function u64(data: Uint8Array, at: number): bigint {
  return view(data).getBigUint64(at, true)
}

function view({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length)
}

import type { Json, JsonObject } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import { type DurableNonce, SYSTEM_PROGRAM } from './durable-nonce.js'
import type { BuiltInstruction } from './instruction.js'
import type { Kit } from './kit.js'
import { littleEndian } from './layout.js'
import type { LookupTables } from './lookup-tables.js'

/** What a transaction is made of, beside its instruction. */
export interface MessageParts {
  readonly payer: string
  readonly budget: Budget
  readonly lifetime: Lifetime
  readonly tables: LookupTables
}

/** How long a transaction can be included: up to a height, or as long as its nonce is not used. */
export type Lifetime =
  | { readonly blockhash: string; readonly lastValidBlockHeight: number }
  | DurableNonce

export interface Budget {
  readonly units: number
  /** Micro-lamports for a compute unit. */
  readonly price: bigint
  /** Tells apart transactions that are alike: equal bytes would take effect once. */
  readonly salt: number
}

/** A transaction without signatures. */
export interface CompiledMessage {
  readonly messageBytes: Uint8Array
  /** Addresses that have to sign, the payer first. */
  readonly signers: readonly string[]
  /** Instructions in front of the one of the execution. */
  readonly before: number
}

/** Number 4 in 32 bits, in base58. */
const ADVANCE_NONCE = '6vx8P'
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
/** What a transaction may load at most; a limit above it is this one. */
const LOADED_BYTES_MAX = 64 * 1024 * 1024

/** The bytes to sign. Throws `InvalidArgument` when they are too long for a transaction. */
export function compileMessage(
  kit: Kit,
  instruction: BuiltInstruction,
  { payer, budget, lifetime, tables }: MessageParts
): CompiledMessage {
  const before = budgetInstructions(budget)
  const isDurable = !('blockhash' in lifetime)
  if (isDurable && Object.values(tables).some((one) => one.includes(lifetime.account))) {
    throw new InvalidArgument('lookup_tables', 'hold the nonce account, which is found in none')
  }
  const empty = messageFor(kit, payer, lifetime)
  const all = [...before, instruction].map((one) => asKit(kit, one))
  const message = kit.appendTransactionMessageInstructions(all, empty)
  const short = kit.compressTransactionMessageUsingAddressLookupTables(
    message,
    tables as Parameters<typeof kit.compressTransactionMessageUsingAddressLookupTables>[1]
  )
  const compiled = kit.compileTransaction(short)
  if (kit.getTransactionSize(compiled) > kit.getTransactionSizeLimit(compiled)) {
    throw new InvalidArgument('accounts', 'do not fit a transaction; lookup_tables shorten it')
  }
  return {
    messageBytes: Uint8Array.from(compiled.messageBytes),
    signers: Object.keys(compiled.signatures),
    before: before.length + (isDurable ? 1 : 0)
  }
}

function messageFor(kit: Kit, payer: string, lifetime: Lifetime) {
  const empty = kit.setTransactionMessageFeePayer(
    kit.address(payer),
    kit.createTransactionMessage({ version: 0 })
  )
  const until = (blockhash: string, lastValidBlockHeight: number) =>
    kit.setTransactionMessageLifetimeUsingBlockhash(
      { blockhash: kit.blockhash(blockhash), lastValidBlockHeight: BigInt(lastValidBlockHeight) },
      empty
    )
  if ('blockhash' in lifetime) return until(lifetime.blockhash, lifetime.lastValidBlockHeight)
  const { account, authority, value } = lifetime
  // Its first instruction is the one that advances the nonce account.
  const durable = kit.setTransactionMessageLifetimeUsingDurableNonce(
    {
      nonce: value,
      nonceAccountAddress: account,
      nonceAuthorityAddress: authority
    } as Parameters<typeof kit.setTransactionMessageLifetimeUsingDurableNonce>[0],
    empty
  )
  return durable as unknown as ReturnType<typeof until>
}

/** A whole transaction as it is sent; without a signature its place is filled with zeros. */
export function wireOf(
  kit: Kit,
  { messageBytes, signers }: CompiledMessage,
  signatures: ReadonlyMap<string, Uint8Array> = new Map()
): string {
  const places = signers.map((one) => [one, signatures.get(one) ?? null] as const)
  return kit.getBase64EncodedWireTransaction({
    messageBytes,
    signatures: Object.fromEntries(places)
  } as unknown as Parameters<typeof kit.getBase64EncodedWireTransaction>[0])
}

/** An instruction as wallets, people and checks read it. */
export function instructionJson(kit: Kit, { program, accounts, data }: BuiltInstruction) {
  return {
    program,
    accounts: accounts.map(({ pubkey }) => pubkey),
    data: kit.getBase58Decoder().decode(data)
  } satisfies JsonObject
}

/** Whether an instruction is about fees alone, which a wallet may set as it likes. */
export function isBudget(program: Json | undefined): boolean {
  return program === COMPUTE_BUDGET
}

/** Whether an instruction gives a nonce account its next value. */
export function isAdvance({ program, data }: { readonly program: string; readonly data: string }) {
  return program === SYSTEM_PROGRAM && data === ADVANCE_NONCE
}

function budgetInstructions({ units, price, salt }: Budget): readonly BuiltInstruction[] {
  const setting = (kind: number, value: bigint, size: number): BuiltInstruction => ({
    program: COMPUTE_BUDGET,
    accounts: [],
    data: Uint8Array.of(kind, ...littleEndian(value, size))
  })
  return [
    setting(2, BigInt(units), 4),
    ...(price === 0n ? [] : [setting(3, price, 8)]),
    // Every number above the limit means the limit, so it is free to carry the salt.
    setting(4, BigInt(LOADED_BYTES_MAX + (salt % (2 ** 32 - LOADED_BYTES_MAX))), 4)
  ]
}

function asKit(kit: Kit, { program, accounts, data }: BuiltInstruction) {
  const { READONLY, READONLY_SIGNER, WRITABLE, WRITABLE_SIGNER } = kit.AccountRole
  return {
    programAddress: kit.address(program),
    accounts: accounts.map(({ pubkey, signer, writable }) => ({
      address: kit.address(pubkey),
      role: signer ? (writable ? WRITABLE_SIGNER : READONLY_SIGNER) : writable ? WRITABLE : READONLY
    })),
    data
  }
}

import {
  AccountRole,
  type Address,
  address,
  getAddressEncoder,
  getBase58Decoder,
  getBase64Decoder,
  getU32Encoder,
  getU64Encoder,
  type Instruction,
  isSignerRole,
  isWritableRole
} from '@solana/kit'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  AuthorityType,
  findAssociatedTokenPda,
  getApproveCheckedInstruction,
  getApproveInstruction,
  getBurnCheckedInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getMintToCheckedInstruction,
  getMintToInstruction,
  getRevokeInstruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS
} from '@solana-program/token'
import type { Json } from '../../src/core/index.js'
import type { CallEffect } from '../../src/workflow/policy/effect.js'

export const chain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
export const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const SYSTEM = address('11111111111111111111111111111111')
const BUDGET = address('ComputeBudget111111111111111111111111111111')
export const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
export const U64_MAX = 2n ** 64n - 1n

const keyOf = (byte: number) => getBase58Decoder().decode(new Uint8Array(32).fill(byte)) as Address
const [owner, friend, stranger, mint, source] = [1, 2, 3, 4, 5].map(keyOf) as [
  Address,
  Address,
  Address,
  Address,
  Address
]

export { mint, source }
export const token = `${chain}/token:${mint}`
export const held = `${chain}/account:${source}`
export const native = `${chain}/native`

/** Token accounts of owners, and how a document has them derived. */
const derived = new Map<string, Json>()
const accountOf = async (holder: Address, tokenProgram: Address) => {
  const [found] = await findAssociatedTokenPda({ owner: holder, mint, tokenProgram })
  derived.set(found, { derive_ata: { owner: holder, mint, token_program: tokenProgram } })
  return found
}
export const [friends, strangers] = [
  await accountOf(friend, TOKEN_PROGRAM_ADDRESS),
  await accountOf(stranger, TOKEN_2022)
]

export const writings = {
  base58: (data: Uint8Array) => `base58:${getBase58Decoder().decode(data)}`,
  base64: (data: Uint8Array) => `base64:${getBase64Decoder().decode(data)}`,
  hex: (data: Uint8Array) => `0x${Buffer.from(data).toString('hex')}`,
  list: (data: Uint8Array) => [...data],
  fields: (data: Uint8Array) => [...data].map((one) => ({ u8: one }))
}
export type Writing = keyof typeof writings

interface Written {
  readonly how?: Writing
  readonly isDerived?: boolean
  /** Bytes that stand in `discriminator` instead. */
  readonly front?: number
}

/** An instruction as documents have it, under a name that says nothing. */
export function written(instruction: Instruction, given: Written = {}) {
  const { how = 'hex', isDerived = false, front = 0 } = given
  const data = Uint8Array.from(instruction.data ?? [])
  const accounts = (instruction.accounts ?? []).map(({ address: key, role }, index) => ({
    name: `a${index}`,
    pubkey: (isDerived ? derived.get(key) : undefined) ?? key,
    signer: isSignerRole(role),
    writable: isWritableRole(role)
  }))
  const rest = data.slice(front)
  return {
    type: 'solana_instruction',
    program: instruction.programAddress,
    instruction: 'noop',
    ...(front === 0
      ? {}
      : { discriminator: `0x${Buffer.from(data.slice(0, front)).toString('hex')}` }),
    accounts: accounts as Json,
    data: (rest.length === 0 ? '' : writings[how](rest)) as Json
  }
}

const bytes = (...parts: readonly ArrayLike<number>[]) =>
  Uint8Array.from(parts.flatMap((part) => Array.from(part)))
const [u32, u64] = [
  (value: number) => getU32Encoder().encode(value),
  (value: bigint) => getU64Encoder().encode(value)
]
const plain = (programAddress: Address, data: Uint8Array, ...keys: readonly Address[]) =>
  ({
    programAddress,
    data,
    accounts: keys.map((key) => ({ address: key, role: AccountRole.WRITABLE }))
  }) satisfies Instruction

/** Of an account that holds tokens. */
const creating = ({ to, program }: Deed, data: Uint8Array) =>
  plain(ASSOCIATED_TOKEN_PROGRAM_ADDRESS, data, owner, to, friend, mint, SYSTEM, program)

export interface Deed {
  readonly amount: bigint
  readonly to: Address
  readonly program: Address
}

/** Effects of instructions. */
export type Effect = Extract<CallEffect, { readonly kind: 'transfer' | 'approval' | 'burn' }>

/** Each known instruction: as the libraries of Solana make it, and what it does. */
export const known: Readonly<
  Record<string, readonly [(deed: Deed) => Instruction, (deed: Deed) => readonly Effect[]]>
> = {
  systemTransfer: [
    ({ amount, to }) => plain(SYSTEM, bytes(u32(2), u64(amount)), owner, to),
    (deed) => [transferred(native, deed)]
  ],
  createAccount: [
    ({ amount, to }) => {
      const data = bytes(u32(0), u64(amount), u64(165n), getAddressEncoder().encode(mint))
      return plain(SYSTEM, data, owner, to)
    },
    (deed) => [transferred(native, deed)]
  ],
  createAccountWithSeed: [
    ({ amount, to }) => {
      const key = getAddressEncoder().encode(mint)
      const seed = bytes(u64(4n), Buffer.from('seed'))
      const data = bytes(u32(3), key, seed, u64(amount), u64(165n), key)
      return plain(SYSTEM, data, owner, to)
    },
    (deed) => [transferred(native, deed)]
  ],
  transfer: [
    ({ amount, to, program: programAddress }) =>
      getTransferInstruction(
        { source, destination: to, authority: owner, amount },
        { programAddress }
      ),
    (deed) => [transferred(held, deed)]
  ],
  transferChecked: [
    ({ amount, to, program: programAddress }) =>
      getTransferCheckedInstruction(
        { source, mint, destination: to, authority: owner, amount, decimals: 6 },
        { programAddress }
      ),
    (deed) => [transferred(token, deed)]
  ],
  approve: [
    ({ amount, to, program: programAddress }) =>
      getApproveInstruction({ source, delegate: to, owner, amount }, { programAddress }),
    (deed) => [approved(held, deed)]
  ],
  approveChecked: [
    ({ amount, to, program: programAddress }) =>
      getApproveCheckedInstruction(
        { source, mint, delegate: to, owner, amount, decimals: 6 },
        { programAddress }
      ),
    (deed) => [approved(token, deed)]
  ],
  mintTo: [
    ({ amount, to, program: programAddress }) =>
      getMintToInstruction({ mint, token: to, mintAuthority: owner, amount }, { programAddress }),
    (deed) => [transferred(token, deed)]
  ],
  mintToChecked: [
    ({ amount, to, program: programAddress }) =>
      getMintToCheckedInstruction(
        { mint, token: to, mintAuthority: owner, amount, decimals: 6 },
        { programAddress }
      ),
    (deed) => [transferred(token, deed)]
  ],
  burn: [
    ({ amount, program: programAddress }) =>
      getBurnInstruction({ account: source, mint, authority: owner, amount }, { programAddress }),
    ({ amount }) => [{ kind: 'burn', asset: token, amount: amount.toString() }]
  ],
  burnChecked: [
    ({ amount, program: programAddress }) =>
      getBurnCheckedInstruction(
        { account: source, mint, authority: owner, amount, decimals: 6 },
        { programAddress }
      ),
    ({ amount }) => [{ kind: 'burn', asset: token, amount: amount.toString() }]
  ],
  createTokenAccount: [(deed) => creating(deed, bytes([0])), () => []],
  createTokenAccountWithoutData: [(deed) => creating(deed, bytes()), () => []],
  createTokenAccountIdempotent: [(deed) => creating(deed, bytes([1])), () => []],
  unitLimit: [() => plain(BUDGET, bytes([2], u32(5_000))), () => []],
  memo: [({ to }) => plain(MEMO, Buffer.from(`for ${to}`), owner), () => []]
}

function transferred(asset: string, { amount, to }: Deed): Effect {
  return { kind: 'transfer', asset, amount: amount.toString(), to }
}

function approved(asset: string, { amount, to }: Deed): Effect {
  const unlimited = amount === U64_MAX
  return { kind: 'approval', asset, amount: amount.toString(), spender: to, unlimited }
}

/** Instructions of known programs that are not in the table, and those that are not whole. */
export const others: Readonly<Record<string, (deed: Deed) => Instruction>> = {
  closeAccount: ({ to }) => getCloseAccountInstruction({ account: source, destination: to, owner }),
  revoke: () => getRevokeInstruction({ source, owner }),
  setAuthority: ({ to }) =>
    getSetAuthorityInstruction({
      owned: source,
      owner,
      authorityType: AuthorityType.AccountOwner,
      newAuthority: to
    }),
  recoverNested: ({ to }) =>
    plain(ASSOCIATED_TOKEN_PROGRAM_ADDRESS, bytes([2]), source, mint, to, friend, mint, owner),
  createByOther: (deed) => creating({ ...deed, program: stranger }, bytes([1])),
  unitPrice: ({ amount }) => plain(BUDGET, bytes([3], u64(amount))),
  assign: ({ to }) => plain(SYSTEM, bytes(u32(1), getAddressEncoder().encode(to)), owner),
  other: ({ to, amount }) => plain(mint, bytes([12], u64(amount), [6]), source, mint, to, owner),
  shorter: ({ to, amount }) => plain(TOKEN_2022, bytes([12], u64(amount)), source, mint, to, owner),
  longer: ({ to, amount }) => plain(SYSTEM, bytes(u32(2), u64(amount), [0]), owner, to),
  withoutRecipient: ({ amount }) => plain(SYSTEM, bytes(u32(2), u64(amount)), owner),
  withHook: ({ to, amount }) =>
    plain(TOKEN_2022, bytes([12], u64(amount), [6]), source, mint, to, owner, stranger)
}

export const deedOf = (amount: bigint, to: Address = friends): Deed => ({
  amount,
  to,
  program: TOKEN_PROGRAM_ADDRESS
})

import type { Address } from '@solana/kit'
import type { RpcValue } from '../rpc-node/index.js'
import type { SolanaLibraries } from './libraries.js'
import type { SolanaAccount } from './machine.js'

/** Accounts of the token programs, by their bytes: where each field stands is part of them. */

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address

const MINT_BYTES = 82
const HOLDING_BYTES = 165
/** Behind the fields that both programs have, Token-2022 says what an account is. */
const KIND_AT = 165
const kinds = { mint: 1, holding: 2 } as const

export interface TokenMint {
  readonly authority: Address | undefined
  readonly supply: bigint
  readonly decimals: number
}

/** A token account. */
export interface TokenHolding {
  readonly mint: Address
  readonly owner: Address
  readonly units: bigint
}

export function isTokenProgram(address: string): boolean {
  return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM
}

export function mintIn(
  kit: SolanaLibraries['kit'],
  account: SolanaAccount | undefined
): TokenMint | undefined {
  if (account === undefined || !isOfKind(account, 'mint')) return undefined
  const { data } = account
  const view = viewOf(data)
  const hasAuthority = view.getUint32(0, true) === 1
  return {
    authority: hasAuthority ? kit.getAddressDecoder().decode(data, 4) : undefined,
    supply: view.getBigUint64(36, true),
    decimals: view.getUint8(44)
  }
}

export function holdingIn(
  kit: SolanaLibraries['kit'],
  account: SolanaAccount | undefined
): TokenHolding | undefined {
  if (account === undefined || !isOfKind(account, 'holding')) return undefined
  const { data } = account
  const addresses = kit.getAddressDecoder()
  return {
    mint: addresses.decode(data, 0),
    owner: addresses.decode(data, 32),
    units: viewOf(data).getBigUint64(64, true)
  }
}

/** Data of a mint. */
export function mintData(kit: SolanaLibraries['kit'], mint: TokenMint): Uint8Array {
  const data = new Uint8Array(MINT_BYTES)
  const view = viewOf(data)
  if (mint.authority !== undefined) {
    view.setUint32(0, 1, true)
    data.set(kit.getAddressEncoder().encode(mint.authority), 4)
  }
  view.setBigUint64(36, mint.supply, true)
  view.setUint8(44, mint.decimals)
  view.setUint8(45, 1)
  return data
}

/** Data of a token account. */
export function holdingData(kit: SolanaLibraries['kit'], holding: TokenHolding): Uint8Array {
  const data = new Uint8Array(HOLDING_BYTES)
  const addresses = kit.getAddressEncoder()
  data.set(addresses.encode(holding.mint), 0)
  data.set(addresses.encode(holding.owner), 32)
  const view = viewOf(data)
  view.setBigUint64(64, holding.units, true)
  view.setUint8(108, 1)
  return data
}

/** Units as nodes show them: `uiAmount` is a number, and rounded. */
export function shownUnits(units: bigint, decimals: number): RpcValue {
  const digits = String(units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const text = part === '' ? whole : `${whole}.${part}`
  return { amount: String(units), decimals, uiAmount: Number(text), uiAmountString: text }
}

function isOfKind({ owner, data }: SolanaAccount, kind: keyof typeof kinds): boolean {
  if (!isTokenProgram(owner)) return false
  if (data.length > KIND_AT) return data[KIND_AT] === kinds[kind]
  return data.length === (kind === 'mint' ? MINT_BYTES : HOLDING_BYTES)
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

/** What a write does with what its account owns, as its call says it; plain JSON (W15). */
export type CallEffect =
  /** It gives an amount away. */
  | {
      readonly kind: 'transfer'
      readonly asset: string
      /** Atomic units, as a decimal string. */
      readonly amount: string
      readonly to: string
    }
  /** It gives at most an amount to a router, which pays another asset out. */
  | {
      readonly kind: 'swap'
      readonly asset: string
      readonly amount: string
      readonly to: string
      readonly receiver: string
      /** The least that is paid out, in atomic units of the other asset. */
      readonly minimum: string
    }
  /** It lets a spender take an amount. */
  | {
      readonly kind: 'approval'
      readonly asset: string
      readonly amount: string
      readonly spender: string
      readonly unlimited: boolean
    }
  /** It destroys an amount. */
  | { readonly kind: 'burn'; readonly asset: string; readonly amount: string }
  /** It has a contract pay what it holds to a receiver, on another chain where one is named. */
  | { readonly kind: 'payout'; readonly receiver: string; readonly chain?: string }

/** What was found out about a write. */
export interface Measured {
  readonly effects: readonly CallEffect[]
  /** Calls of which nothing is known but their value. */
  readonly undecoded: readonly string[]
}

/**
 * Names an asset as CAIP-19 does, but for native ones, whose numbers differ by list:
 * `eip155:1/native`, `eip155:1/erc20:0x…`, `solana:…/token:<mint>`.
 */
export function nativeAsset(chain: string): string {
  return `${chain}/native`
}

export function erc20Asset(chain: string, token: string): string {
  return `${chain}/erc20:${token.toLowerCase()}`
}

export function tokenAsset(chain: string, mint: string): string {
  return `${chain}/token:${mint}`
}

/** The token that an account holds, which is named nowhere else. */
export function accountAsset(chain: string, account: string): string {
  return `${chain}/account:${account}`
}

/** Effects on a token of which only an account that holds it is known. */
export function unnamedIn(
  effects: readonly CallEffect[]
): readonly Extract<CallEffect, { readonly asset: string }>[] {
  return effects.flatMap((one) => ('asset' in one && /\/account:/.test(one.asset) ? [one] : []))
}

/** An asset as documents write it: addresses of EVM chains have no case. */
export function assetKey(asset: string): string {
  return asset.startsWith('eip155:') ? asset.toLowerCase() : asset
}

/**
 * Amounts from here on are no limit for any token; so is the one that tokens of 96 bits take for
 * it. Clients write 2^256-1, 2^255, 2^160-1 and 2^128-1.
 */
const UNLIMITED_FROM = 2n ** 127n
const UNLIMITED_96 = 2n ** 96n - 1n

export function isUnlimitedAmount(amount: bigint): boolean {
  return amount >= UNLIMITED_FROM || amount === UNLIMITED_96
}

/** The risk that a write has at the least, whatever its protocol says of it. */
export function riskOf({ effects, undecoded }: Measured): number {
  if (undecoded.length > 0 || unnamedIn(effects).length > 0) return HIGHEST_RISK
  return effects.reduce((risk, effect) => Math.max(risk, risks(effect)), 1)
}

export const HIGHEST_RISK = 5

function risks(effect: CallEffect): number {
  if (effect.kind === 'approval') return effect.unlimited ? 4 : 2
  return 'amount' in effect && effect.amount === '0' ? 1 : 3
}

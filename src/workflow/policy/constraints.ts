import type { PackConstraints } from '../document/constraints.js'
import { compareDecimals } from '../type/check.js'
import { assetKey } from './effect.js'

/** What a call may do at the most, as a policy has it; plain JSON. */
export interface Constraints
  extends Omit<
    PackConstraints,
    'max_spend' | 'max_spend_per_run' | 'max_approval' | 'max_fee' | 'allowed_recipients'
  > {
  readonly max_spend?: Amounts | undefined
  readonly max_spend_per_run?: Amounts | undefined
  readonly max_approval?: Amounts | undefined
  readonly max_fee?: Amounts | undefined
  /** Sorted. */
  readonly allowed_recipients?: readonly Recipient[] | undefined
}

type Whole = string | number

/** Of each asset, or by asset, `*` for any other; one that is not named has no bound. */
export type Amounts = Whole | Readonly<Record<string, Whole>>

export interface Recipient {
  readonly chain: string
  readonly address: string
}

/** What bounds an asset; undefined: nothing. */
export function boundOf(amounts: Amounts | undefined, asset: string): Whole | undefined {
  if (typeof amounts !== 'object') return amounts
  return Object.hasOwn(amounts, asset) ? amounts[asset] : amounts['*']
}

/** Of two sets of bounds, at each the tighter one. */
export function tighterConstraints(one: Constraints, other: Constraints): Constraints {
  const least = <Key extends 'max_slippage_bps' | 'max_price_impact_bps' | 'max_fee_bps'>(
    key: Key
  ) => pick(key, one[key], other[key], -1)
  const amounts = <Key extends 'max_spend' | 'max_spend_per_run' | 'max_approval' | 'max_fee'>(
    key: Key
  ) => pickAmounts(key, one[key], other[key])
  const merged = {
    ...least('max_slippage_bps'),
    ...least('max_price_impact_bps'),
    ...amounts('max_spend'),
    ...amounts('max_spend_per_run'),
    ...amounts('max_approval'),
    ...amounts('max_fee'),
    ...least('max_fee_bps'),
    ...pick(
      'max_approval_multiplier',
      one.max_approval_multiplier,
      other.max_approval_multiplier,
      -1
    ),
    ...pickRecipients(one.allowed_recipients, other.allowed_recipients),
    ...pick(
      'min_health_factor_after',
      one.min_health_factor_after,
      other.min_health_factor_after,
      1
    )
  }
  const unlimited = [one.allow_unlimited_approval, other.allow_unlimited_approval]
  if (unlimited.includes(false)) return { ...merged, allow_unlimited_approval: false }
  return unlimited.includes(true) ? { ...merged, allow_unlimited_approval: true } : merged
}

function pick<Value extends Whole>(
  key: string,
  one: Value | undefined,
  other: Value | undefined,
  wanted: -1 | 1
): Readonly<Record<string, Value>> {
  const picked = tighter(one, other, wanted)
  return picked === undefined ? {} : { [key]: picked }
}

function tighter<Value extends Whole>(
  one: Value | undefined,
  other: Value | undefined,
  wanted: -1 | 1
): Value | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return compareDecimals(one, other) === wanted ? one : other
}

function pickAmounts(
  key: string,
  one: Amounts | undefined,
  other: Amounts | undefined
): Readonly<Record<string, Amounts>> {
  if (typeof one !== 'object' && typeof other !== 'object') return pick(key, one, other, -1)
  const [left, right] = [byAsset(one), byAsset(other)]
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort()
  const bounds = names.flatMap((asset): [string, Whole][] => {
    const bound = tighter(boundOf(left, asset), boundOf(right, asset), -1)
    return bound === undefined ? [] : [[asset, bound]]
  })
  return { [key]: Object.fromEntries(bounds) }
}

function byAsset(amounts: Amounts | undefined): Readonly<Record<string, Whole>> {
  if (amounts === undefined) return {}
  if (typeof amounts !== 'object') return { '*': amounts }
  const bounds: Record<string, Whole> = {}
  for (const [name, bound] of Object.entries(amounts)) {
    const key = assetKey(name)
    // Two spellings of one address are one asset.
    bounds[key] = tighter(bounds[key], bound, -1) ?? bound
  }
  return bounds
}

function pickRecipients(
  one: readonly Recipient[] | undefined,
  other: readonly Recipient[] | undefined
): Pick<Constraints, 'allowed_recipients'> {
  if (one === undefined && other === undefined) return {}
  const [left, right] = [one, other].map((list) =>
    list === undefined ? undefined : new Map(list.map((each) => [recipientKey(each), each]))
  )
  const kept = left ?? right ?? new Map<string, Recipient>()
  const keys = [...kept.keys()].filter((key) => right?.has(key) !== false).sort()
  return { allowed_recipients: keys.flatMap((key) => recipientOf(kept.get(key))) }
}

function recipientOf(recipient: Recipient | undefined): readonly Recipient[] {
  if (recipient === undefined) return []
  const { chain, address } = recipient
  return [{ chain, address: chain.startsWith('eip155:') ? address.toLowerCase() : address }]
}

function recipientKey({ chain, address }: Recipient): string {
  return `${chain} ${chain.startsWith('eip155:') ? address.toLowerCase() : address}`
}

/** Whether assets may be given to an address, and be taken by it. */
export function isAllowed(recipients: readonly Recipient[], recipient: Recipient): boolean {
  const key = recipientKey(recipient)
  return recipients.some((one) => recipientKey(one) === key)
}

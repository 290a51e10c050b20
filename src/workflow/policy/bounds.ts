import { compareDecimals } from '../type/check.js'
import { boundOf, isAllowed, type Recipient } from './constraints.js'
import {
  type Judged,
  multiplierHits,
  said,
  saysUnlimited,
  tighteningHits,
  unlimitedHit
} from './declared.js'
import { type CallEffect, HIGHEST_RISK, type Measured, nativeAsset, unnamedIn } from './effect.js'

/** Holds a write to the bounds of its policy by what its call does (W15). */
export function measuredHits(
  judged: Judged,
  measured: Measured,
  { times, sentType, holdsSolana }: Execution
): void {
  const { constraints, hits } = judged
  const { effects, undecoded } = measured
  const block = (message: string) => hits.push({ reason: 'constraint', message, isHard: true })
  for (const [asset, spent] of spentIn(effects)) {
    const amount = (spent * BigInt(times)).toString()
    for (const bounds of [constraints.max_spend, constraints.max_spend_per_run]) {
      const bound = boundOf(bounds, asset)
      if (bound === undefined || compareDecimals(amount, bound) !== 1) continue
      block(`it spends ${amount} of ${asset}, beyond ${String(bound)}`)
    }
  }
  for (const [asset, amount] of approvedIn(effects)) {
    const bound = boundOf(constraints.max_approval, asset)
    if (bound === undefined || compareDecimals(amount.toString(), bound) !== 1) continue
    block(`it approves ${amount} of ${asset}, beyond ${String(bound)}`)
  }
  const amounts = [...approvedIn(effects).values()].map(String)
  if (judged.saysApproval && amounts.length === 0) amounts.push(String(said(judged, 'approval')))
  for (const amount of amounts) multiplierHits(judged, amount)
  const isUnlimited = effects.some((one) => one.kind === 'approval' && one.unlimited)
  if (constraints.allow_unlimited_approval === false && (isUnlimited || saysUnlimited(judged))) {
    hits.push(unlimitedHit)
  }
  recipientHits(judged, effects)
  const type = sentType ?? judged.node.execution.type
  const isHeld = feeBound.has(type) || (holdsSolana && type === 'solana_instruction')
  if (maxFeeOf(judged, measured) !== undefined && !isHeld) {
    block(`fees are bounded, which ${type} cannot hold`)
  }
  const swaps = effects.filter((one) => one.kind === 'swap')
  const { max_slippage_bps: slippage } = constraints
  if (slippage !== undefined && swaps.some(({ minimum }) => minimum === '0')) {
    block(`slippage is bounded by ${slippage}, but a swap takes whatever is paid out`)
  }
  const isDecoded = undecoded.length === 0
  tighteningHits(judged, { isDecoded, isSwap: swaps.length > 0 })
  const needed = neededMeasure(judged, measured)
  if (needed !== undefined) {
    const message = `${needed} is bounded, but ${undecodedText(measured) ?? ''}`
    hits.push({ reason: 'undecoded', message, isHard: true })
  }
}

/** How a write that is judged is executed. */
interface Execution {
  /** How often, this time included. */
  readonly times: number
  /** Type of the call that is sent for it, where that is another. */
  readonly sentType: string | undefined
  /** Whether transactions of Solana are held to what they may cost. */
  readonly holdsSolana: boolean
}

/** Amounts of one execution that its run may spend only so much of; plain JSON. */
export interface Budget {
  readonly amounts: Readonly<Record<string, string>>
  readonly bounds: Readonly<Record<string, string>>
}

/** What an execution takes from what its run may spend; undefined: nothing that is bounded. */
export function budgetOf({ constraints }: Judged, { effects }: Measured): Budget | undefined {
  const amounts: Record<string, string> = {}
  const bounds: Record<string, string> = {}
  for (const [asset, amount] of spentIn(effects)) {
    const bound = boundOf(constraints.max_spend_per_run, asset)
    if (bound === undefined) continue
    amounts[asset] = amount.toString()
    bounds[asset] = String(bound)
  }
  return Object.keys(amounts).length === 0 ? undefined : { amounts, bounds }
}

/** The most that the transaction of a write may cost; undefined: whatever it costs. */
export function maxFeeOf({ node, constraints }: Judged, { effects }: Measured): string | undefined {
  const asset = nativeAsset(node.chain)
  const plain = boundOf(constraints.max_fee, asset)
  const value = spentIn(effects).get(asset) ?? 0n
  const { max_fee_bps: bps } = constraints
  const share = bps === undefined || value === 0n ? undefined : (value * BigInt(bps)) / 10_000n
  const bounds = [plain, share].filter((one) => one !== undefined).map(BigInt)
  const [least] = bounds.sort((one, other) => (one < other ? -1 : 1))
  return least?.toString()
}

/** Executions that are held to their fee, under every version of their block. */
const feeBound: ReadonlySet<string> = new Set(['evm_call', 'evm_multicall'])

/** What is bounded and not known of the calls, so that they cannot be let go. */
function neededMeasure({ constraints }: Judged, measured: Measured): string | undefined {
  const { max_spend, max_spend_per_run, max_approval, allowed_recipients } = constraints
  const isDecoded = measured.undecoded.length === 0
  const unnamed = unnamedIn(measured.effects)
  const isSpent = !isDecoded || unnamed.some(({ kind }) => kind !== 'approval')
  const isApproved = unnamed.some(({ kind }) => kind === 'approval')
  if (isSpent && (max_spend !== undefined || max_spend_per_run !== undefined)) {
    return 'what is spent'
  }
  if (isApproved && typeof max_approval === 'object') return 'what is approved'
  return isDecoded || allowed_recipients === undefined ? undefined : 'who is given assets'
}

/** For people: of which calls nothing is known, or not of what; undefined: all is known. */
export function undecodedText({ effects, undecoded }: Measured): string | undefined {
  const calls = undecoded.slice(0, 3).join(', ')
  const more = undecoded.length > 3 ? ` and ${undecoded.length - 3} more` : ''
  const unnamed = unnamedIn(effects).map(({ kind, asset }) => {
    const account = asset.slice(asset.indexOf(':', asset.indexOf('/')) + 1)
    return `the ${kind} names no token, only the account ${account} that holds it`
  })
  const problems = [
    ...(undecoded.length === 0 ? [] : [`${calls}${more} could not be decoded`]),
    ...unnamed
  ]
  if (problems.length === 0) return undefined
  return `${problems.join(', and ')}, which counts as risk ${HIGHEST_RISK}`
}

/** What is given away of each asset. */
export function spentIn(effects: readonly CallEffect[]): ReadonlyMap<string, bigint> {
  return sums(effects.flatMap((one) => ('to' in one || one.kind === 'burn' ? [one] : [])))
}

// An approval takes the place of the one before, or is added to it: the sum is the worst of both.
function approvedIn(effects: readonly CallEffect[]): ReadonlyMap<string, bigint> {
  return sums(effects.flatMap((one) => (one.kind === 'approval' ? [one] : [])))
}

function sums(
  amounts: readonly { readonly asset: string; readonly amount: string }[]
): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>()
  for (const { asset, amount } of amounts) {
    found.set(asset, (found.get(asset) ?? 0n) + BigInt(amount))
  }
  return found
}

function recipientHits({ node, constraints, hits }: Judged, effects: readonly CallEffect[]): void {
  const { allowed_recipients: allowed } = constraints
  if (allowed === undefined) return
  const told = new Set<string>()
  for (const { address, chain } of effects.flatMap((one) => recipientsOf(one, node.chain))) {
    const message = `${address} is none of those who may be given assets on ${chain}`
    if (told.has(message) || isAllowed(allowed, { chain, address })) continue
    told.add(message)
    hits.push({ reason: 'recipient_not_listed', message, isHard: true })
  }
}

function recipientsOf(effect: CallEffect, usual: string): readonly Recipient[] {
  const chain = effect.kind === 'payout' ? (effect.chain ?? usual) : usual
  return recipientsIn(effect).map((address) => ({ chain, address }))
}

function recipientsIn(effect: CallEffect): readonly string[] {
  switch (effect.kind) {
    case 'transfer':
      return [effect.to]
    case 'swap':
      return [effect.to, effect.receiver]
    case 'approval':
      return [effect.spender]
    case 'burn':
      return []
    case 'payout':
      return [effect.receiver]
  }
}

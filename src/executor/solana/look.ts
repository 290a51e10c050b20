import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { LookRequest, Revert, TransactionStatus } from '../port.js'
import { RpcError } from '../rpc/rpc-error.js'
import { answered, count } from './answers.js'
import type { SolanaChain } from './chain.js'
import { confirmationsOf } from './config.js'
import { noncesCall, noncesIn } from './durable-nonce.js'
import type { Kit } from './kit.js'
import { type LandedTransaction, landedTransaction } from './landed.js'
import { isAdvance, isBudget } from './message.js'
import { revertOf } from './program-errors.js'
import { type Status, seenIn, statusCall, statusOf } from './status.js'

/** What the chain says about a transaction now. */
export async function lookSolana(
  kit: Kit,
  chain: SolanaChain,
  request: LookRequest,
  signal: AbortSignal
): Promise<TransactionStatus> {
  const about = { phase: 'confirm', executionType: request.execution.type, sent: true } as const
  return chain.guarded(about, async () => {
    const { hash, validUntil } = request
    // Newer ones are in the memory of every node; its disk is asked when nothing else is left.
    const isOld = validUntil === null || request.execution.type === 'recheck'
    const seen = await statusOf(chain, { hash, isOld }, signal)
    if (seen.status !== null) return included(kit, chain, { request, status: seen.status, signal })
    const since = await overSince(kit, chain, request, signal)
    return since === undefined
      ? { status: 'unknown' }
      : missing(kit, chain, { request, slot: since, signal })
  })
}

/**
 * Slot of a finalized state in which the transaction can never land any more: a block stands above
 * the last height at which it was valid, or its nonce account has another value. Undefined: it may
 * land yet, or that cannot be told.
 */
async function overSince(
  kit: Kit,
  chain: SolanaChain,
  { validUntil, lifetime = {} }: LookRequest,
  signal: AbortSignal
): Promise<number | undefined> {
  const finalized = { commitment: 'finalized' }
  const { nonce_account: account, nonce, slot: since } = lifetime
  if (typeof account === 'string') {
    const { method, params } = noncesCall([account], 'finalized')
    const { slot, nonces } = noncesIn(kit, [account], await chain.call(method, params, signal))
    // A state from before it was signed says nothing.
    const isUsed = Number(since) <= slot && nonces.every(({ value }) => value !== nonce)
    return isUsed ? slot : undefined
  }
  if (validUntil === null) return undefined
  const calls = [
    { method: 'getBlockHeight', params: [finalized] },
    { method: 'getSlot', params: [finalized] }
  ]
  const [height, top] = await chain.rpc.settle(calls, signal)
  if (count(answered(height), 'getBlockHeight') <= validUntil) return undefined
  return count(answered(top), 'getSlot')
}

interface Missing {
  readonly request: LookRequest
  /** As {@link overSince} has it. */
  readonly slot: number
  readonly signal: AbortSignal
}

/**
 * No node has it in memory, and it can land no more. An endpoint that has replayed the blocks up to
 * there, and keeps what was in them, does not know it: that is the proof. One that knows it has the
 * last word.
 */
async function missing(kit: Kit, chain: SolanaChain, given: Missing): Promise<TransactionStatus> {
  const { request, slot, signal } = given
  const proof = [
    statusCall({ hash: request.hash, isOld: true }),
    { method: 'getFirstAvailableBlock', params: [] }
  ]
  let isProven = false
  for (const answers of await chain.rpc.settleEach(proof, signal)) {
    const [statuses, first] = answers instanceof RpcError ? [answers, answers] : answers
    if (statuses instanceof RpcError) continue
    const seen = seenIn(answered(statuses))
    if (seen.status !== null) return included(kit, chain, { request, status: seen.status, signal })
    if (first instanceof RpcError) continue
    const since = request.lifetime?.['slot']
    const keeps =
      typeof since === 'number' && count(answered(first), 'getFirstAvailableBlock') <= since
    if (keeps && seen.slot >= slot) isProven = true
  }
  return isProven ? { status: 'displaced', cause: 'expired', by: null } : { status: 'unknown' }
}

interface Included {
  readonly request: LookRequest
  readonly status: Status
  readonly signal: AbortSignal
}

async function included(
  kit: Kit,
  chain: SolanaChain,
  { request, status, signal }: Included
): Promise<TransactionStatus> {
  const { hash, expected } = request
  const { slot, error, commitment } = status
  const isNeeded = expected !== null || error !== null
  const landed = isNeeded ? await landedTransaction(kit, chain, hash, signal) : undefined
  if (expected !== null) {
    // Until the transaction can be read, nothing is known of what the wallet has sent.
    if (landed === undefined) return { status: 'pending' }
    const fields = differences(expected, landed)
    if (fields.length > 0) return { status: 'mismatch', fields }
  }
  return {
    status: 'included',
    success: error === null,
    blockNumber: slot,
    // A status names no block by its hash; a slot has one block on a fork.
    blockHash: `slot:${slot}`,
    confirmations: confirmationsIn(status),
    outputs: {
      signature: hash,
      confirmation: {
        status: error === null ? 'success' : 'failed',
        commitment,
        slot: String(slot)
      }
    },
    revert: error === null ? null : reverted(request, error, landed)
  }
}

/** Votes count from the block after it; none makes up for a commitment that is not reached. */
function confirmationsIn({ commitment, votes }: Status): number {
  const least = confirmationsOf[commitment]
  if (commitment === 'finalized' || votes === null) return confirmationsOf.finalized
  if (commitment === 'processed') return least
  return Math.max(least, Math.min(votes + 1, confirmationsOf.finalized - 1))
}

function reverted(
  { execution }: LookRequest,
  error: Json,
  landed: LandedTransaction | undefined
): Revert {
  const program = execution['program']
  const own = typeof program === 'string' ? program : null
  const isOwn = (one: LandedTransaction['instructions'][number], at: number) =>
    one.program === own && !(at === 0 && isAdvance(one))
  const before = landed?.instructions.findIndex(isOwn) ?? -1
  return revertOf(error, landed?.logs ?? [], { program: own, before: Math.max(0, before) })
}

/** In what the wallet's transaction is not what it was asked for; fees are its own matter. */
function differences(expected: JsonObject, landed: LandedTransaction): readonly string[] {
  const wanted = expected['instructions']
  const own = landed.instructions.filter(({ program }) => !isBudget(program))
  const [first, ...others] = own
  // A wallet may let it begin with its nonce account.
  const behind = first !== undefined && isAdvance(first) ? others : own
  const isSame =
    Array.isArray(wanted) && (sameInstructions(wanted, own) || sameInstructions(wanted, behind))
  return isSame ? [] : ['instructions']
}

function sameInstructions(
  wanted: readonly Json[],
  sent: LandedTransaction['instructions']
): boolean {
  if (wanted.length !== sent.length) return false
  return wanted.every((one, index) => {
    if (!isJsonObject(one)) return false
    const { program, accounts, data } = one
    const other = sent[index]
    const listed = Array.isArray(accounts) ? accounts : []
    return (
      other !== undefined &&
      other.program === program &&
      other.data === data &&
      other.accounts.length === listed.length &&
      other.accounts.every((account, at) => account === listed[at])
    )
  })
}

import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import type { LookRequest, Revert, Standing } from '../port.js'
import { RpcError } from '../rpc/rpc-error.js'
import { answered, count } from './answers.js'
import type { SolanaChain } from './chain.js'
import { confirmationsOf } from './config.js'
import type { Kit } from './kit.js'
import { type LandedTransaction, landedTransaction } from './landed.js'
import { isBudget } from './message.js'
import { revertOf } from './program-errors.js'
import { type Status, seenIn, statusCall, statusOf } from './status.js'

/** What the chain says about a transaction now. */
export async function lookSolana(
  kit: Kit,
  chain: SolanaChain,
  request: LookRequest,
  signal: AbortSignal
): Promise<Standing> {
  const about = { phase: 'confirm', executionType: request.execution.type, sent: true } as const
  return chain.guarded(about, async () => {
    const { hash, validUntil } = request
    // Newer ones are in the memory of every node; its disk is asked when nothing else is left.
    const isOld = validUntil === null || request.execution.type === 'recheck'
    const seen = await statusOf(chain, { hash, isOld }, signal)
    if (seen.status !== null) return included(kit, chain, { request, status: seen.status, signal })
    if (validUntil === null) return { status: 'unknown' }
    return missing(kit, chain, { request, validUntil, signal })
  })
}

interface Missing {
  readonly request: LookRequest
  readonly validUntil: number
  readonly signal: AbortSignal
}

/**
 * No node has it in memory. It can never land when a finalized block stands above the last height
 * at which it was valid, and after that an endpoint that has replayed those blocks, and keeps what
 * was in them, does not know it. One that knows it has the last word.
 */
async function missing(kit: Kit, chain: SolanaChain, given: Missing): Promise<Standing> {
  const { request, validUntil, signal } = given
  const finalized = { commitment: 'finalized' }
  const calls = [
    { method: 'getBlockHeight', params: [finalized] },
    { method: 'getSlot', params: [finalized] }
  ]
  const [height, top] = await chain.rpc.settle(calls, signal)
  if (count(answered(height), 'getBlockHeight') <= validUntil) return { status: 'unknown' }
  const slot = count(answered(top), 'getSlot')
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
): Promise<Standing> {
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
  const before = landed?.instructions.findIndex((one) => one.program === own) ?? -1
  return revertOf(error, landed?.logs ?? [], { program: own, before: Math.max(0, before) })
}

/** In what the wallet's transaction is not what it was asked for; fees are its own matter. */
function differences(expected: JsonObject, landed: LandedTransaction): readonly string[] {
  const wanted = expected['instructions']
  const own = landed.instructions.filter(({ program }) => !isBudget(program))
  const isSame = Array.isArray(wanted) && sameInstructions(wanted, own)
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

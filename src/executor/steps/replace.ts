import type { BlockContext } from '../../code/index.js'
import { limits } from '../../core/index.js'
import { type ChainFailure, chainFailure, chainFailureOf } from '../failure.js'
import type { Broadcast, SignedTransaction, WriteRequest } from '../port.js'
import { broadcastTransaction, prepareTransaction } from './effects.js'
import { ChainStepFailure } from './outcome.js'

/** By the hash of a transaction that was sent: what the one in its place pays more, in percent. */
export type Replacing = Readonly<Record<string, number>>

/** What was sent for one write: the newest transaction, and those in whose place it is. */
export interface SentForWrite {
  readonly transaction: SignedTransaction
  /** All have one nonce, so at most one of them takes effect; the newest first. */
  readonly others: readonly SignedTransaction[]
  /** Whether the chain has said that it has one of them. */
  readonly wasAccepted: boolean
}

/**
 * Sends others in the place of a transaction that is stuck, as far as a person has decided so: each
 * has its nonce and is sealed before it is sent. Those of earlier attempts are among the recorded
 * results, since they come before the first look.
 *
 * Whatever happens here, the transactions before may still be included. So a failure says that the
 * outcome is unknown, whichever way a replacement was refused.
 */
export async function replaceStuck(
  ctx: BlockContext,
  given: {
    readonly transaction: SignedTransaction
    readonly answer: Broadcast['answer']
    readonly options: WriteRequest & { readonly replacing?: Replacing }
  }
): Promise<SentForWrite> {
  const { options } = given
  const { replacing = {} } = options
  let { transaction } = given
  let wasAccepted = given.answer !== 'unanswered'
  const others: SignedTransaction[] = []
  while (others.length < limits.CHAIN_REPLACEMENTS_MAX) {
    const raisePercent = raiseOf(replacing, transaction)
    if (raisePercent === undefined) break
    const next = await prepareInstead(ctx, options, { transaction, raisePercent })
    // Another look says which one has used the nonce.
    if (next === undefined) break
    others.unshift(transaction)
    transaction = next
    const { chain, hash, from, nonce, replaces = null } = next
    ctx.log('tx_prepared', { chain, hash, from, nonce, replaces })
    try {
      const { answer } = await broadcastTransaction(ctx, next)
      ctx.log('tx_sent', { chain, hash, answer })
      wasAccepted ||= answer !== 'unanswered'
    } catch (error) {
      const isLast = raiseOf(replacing, next) === undefined
      if (isLast) unlessUsed(error, next, options)
    }
  }
  return { transaction, others, wasAccepted }
}

function raiseOf(replacing: Replacing, { hash }: SignedTransaction): number | undefined {
  return Object.hasOwn(replacing, hash) ? replacing[hash] : undefined
}

/** Undefined: the nonce is used, and nothing was signed. */
async function prepareInstead(
  ctx: BlockContext,
  request: WriteRequest,
  replaces: NonNullable<WriteRequest['replaces']>
): Promise<SignedTransaction | undefined> {
  const { transaction: before } = replaces
  try {
    const prepared = await prepareTransaction(ctx, { ...request, replaces })
    if (prepared.kind === 'signed' && isInPlace(prepared.transaction, before)) {
      return prepared.transaction
    }
  } catch (error) {
    unlessUsed(error, before, request)
    return undefined
  }
  const message = 'its executor replaces no transactions'
  throw new ChainStepFailure(stillOpen(before, request, { message, code: null }))
}

/** An executor that does not know of replacing would prepare a second payment. */
function isInPlace(next: SignedTransaction, before: SignedTransaction): boolean {
  const { chain, from, nonce, replaces } = next
  const isSame = chain === before.chain && from === before.from && nonce === before.nonce
  return isSame && replaces === before.hash
}

function unlessUsed(error: unknown, last: SignedTransaction, request: WriteRequest): void {
  const failure = chainFailureOf(error)
  if (failure === undefined) throw error
  const { code } = failure
  if (code === 'nonce_conflict' || code === 'nonce_superseded') return
  throw new ChainStepFailure(stillOpen(last, request, failure))
}

function stillOpen(
  { chain, hash, from, nonce, fee }: SignedTransaction,
  { execution }: WriteRequest,
  {
    code,
    message,
    rpc
  }: Pick<ChainFailure, 'message' | 'rpc'> & {
    readonly code: ChainFailure['code'] | null
  }
): ChainFailure {
  return chainFailure('timed_out', {
    phase: 'confirm',
    chain,
    executionType: execution.type,
    message: `it may still be included, and was not replaced: ${message}`,
    sent: true,
    transaction: { hash, from, nonce, fee: fee ?? null, refused: code },
    ...(rpc === undefined ? {} : { rpc })
  })
}

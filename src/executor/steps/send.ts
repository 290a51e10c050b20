import type { BlockContext } from '../../block/index.js'
import { isJsonObject, type Json, limits } from '../../core/index.js'
import { chainFailure, hadNoEffect } from '../failure.js'
import type { Prepared, SignedTransaction, Terms, WriteRequest } from '../port.js'
import { reorgedFailure } from '../reconfirm.js'
import { confirmTransaction } from './confirm.js'
import { broadcastTransaction, lookRequest, prepareTransaction } from './effects.js'
import { ChainStepFailure, rethrow, type TransactionOutcome } from './outcome.js'
import { type Replacing, replaceStuck } from './replace.js'

/** A write, and how it is waited for; what is absent is as the chain is configured. */
export interface SendOptions extends WriteRequest, Partial<Terms> {
  /** How long the person with the wallet has, in unsigned mode. Default: for ever. */
  readonly walletTimeoutMs?: number
  /** Transactions to be replaced by hash, and what is paid more for each, in percent. */
  readonly replacing?: Replacing
}

/**
 * Carries out a write for a leaf block: prepare and sign, seal, send, wait for confirmations
 * (architecture.md L7, semantics.md W11). Without a signer it waits for a message `external` that
 * gives the hash of the transaction as its value: `{hash}`.
 *
 * At most one transaction of a step takes effect, whatever crashes or is tried again: a new one is
 * prepared only after the one before certainly had no effect and never can have one. The block has
 * to be of class `idempotent` or higher. Throws {@link ChainStepFailure}.
 */
export async function sendTransaction(
  ctx: BlockContext,
  options: SendOptions
): Promise<TransactionOutcome> {
  let superseded = 0
  let expired = 0
  // A try of the step that ended for certain frees the next try to send anew.
  let ended = 0
  for (let generation = 0; ; generation += 1) {
    try {
      return await oneTransaction(ctx, options, generation)
    } catch (error) {
      if (!(error instanceof ChainStepFailure)) throw error
      const { code, phase } = error.failure
      if (code === 'nonce_superseded') superseded += 1
      // It certainly had no effect and asks for nothing but to be signed anew.
      else if (phase !== 'prepare' && code === 'expired') expired += 1
      else if (phase !== 'prepare' && hadNoEffect(code)) ended += 1
      else throw error
      if (superseded >= limits.CHAIN_PREPARES_MAX || ended >= ctx.attempt) throw error
      // Those of earlier attempts are among the recorded results.
      if (expired >= limits.CHAIN_PREPARES_MAX * ctx.attempt) throw error
    }
  }
}

async function oneTransaction(
  ctx: BlockContext,
  options: SendOptions,
  generation: number
): Promise<TransactionOutcome> {
  try {
    const prepared = await prepareTransaction(ctx, options, generation)
    if (prepared.kind === 'signed') tellReorged(ctx, prepared)
    const terms = termsOf(options, prepared.terms)
    return prepared.kind === 'signed'
      ? await carryOut(ctx, { transaction: prepared.transaction, options, terms })
      : await handOver(ctx, { transaction: prepared.transaction, options, terms })
  } catch (error) {
    return rethrow(error)
  }
}

/** The next write of the account reports what it has lost: the run that sent it may be over. */
function tellReorged(
  ctx: BlockContext,
  { transaction, reorged = [] }: Prepared & { readonly kind: 'signed' }
): void {
  const { chain, from } = transaction
  for (const { found: status, ...lost } of reorged) {
    const failure = reorgedFailure({ ...lost, chain, from }, { status })
    ctx.log('tx_reorged_out', failure as unknown as Json)
  }
}

async function carryOut(
  ctx: BlockContext,
  given: {
    readonly transaction: SignedTransaction
    readonly options: SendOptions
    readonly terms: Terms
  }
): Promise<TransactionOutcome> {
  const { transaction, options, terms } = given
  const { chain, hash, from, nonce } = transaction
  ctx.log('tx_prepared', { chain, hash, from, nonce })
  const { answer } = await broadcastTransaction(ctx, transaction)
  ctx.log('tx_sent', { chain, hash, answer })
  const replaced = await replaceStuck(ctx, { transaction, answer, options })
  return confirmTransaction(ctx, {
    look: lookRequest(replaced.transaction, options.execution),
    terms,
    ...replaced
  })
}

/** Unsigned mode: the wallet of a person signs and sends, and its answer is sealed. */
async function handOver(
  ctx: BlockContext,
  given: {
    readonly transaction: Extract<Prepared, { readonly kind: 'unsigned' }>['transaction']
    readonly options: SendOptions
    readonly terms: Terms
  }
): Promise<TransactionOutcome> {
  const { transaction, options, terms } = given
  const { chain, from, payload, maxFee } = transaction
  const { execution, walletTimeoutMs: timeoutMs } = options
  const about = { phase: 'send', chain, executionType: execution.type } as const
  const answer = await ctx.wait({
    reason: 'external',
    request: {
      kind: 'sign_and_send',
      chain,
      from,
      transaction: payload,
      ...(maxFee === undefined ? {} : { max_fee: maxFee })
    },
    ...(timeoutMs === undefined ? {} : { timeoutMs })
  })
  if (answer.action === 'deny') {
    throw new ChainStepFailure(
      chainFailure('denied', { ...about, message: 'its signer refused it' })
    )
  }
  if (answer.action === 'timeout') {
    const message = 'no wallet has answered in time'
    throw new ChainStepFailure(chainFailure('timed_out', { ...about, message }))
  }
  const hash = hashIn(answer.value)
  if (hash === undefined) {
    const message = 'the answer of the wallet holds no transaction hash'
    throw new ChainStepFailure(chainFailure('wallet_mismatch', { ...about, message, sent: true }))
  }
  const look = { chain, hash, from, nonce: null, validUntil: null, execution, expected: payload }
  return confirmTransaction(ctx, { look, terms, wasAccepted: true })
}

const hashForm = /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/

function hashIn(value: Json): string | undefined {
  const given = isJsonObject(value)
    ? (value['hash'] ?? value['tx_hash'] ?? value['signature'] ?? null)
    : value
  return typeof given === 'string' && hashForm.test(given) ? given : undefined
}

function termsOf(options: SendOptions, configured: Terms): Terms {
  return {
    confirmations: options.confirmations ?? configured.confirmations,
    pollMs: options.pollMs ?? configured.pollMs,
    timeoutMs: options.timeoutMs ?? configured.timeoutMs
  }
}

import type { BlockContext } from '../../code/index.js'
import { type Json, limits } from '../../core/index.js'
import { chainFailure, hadNoEffect } from '../failure.js'
import type { Prepared, SignedTransaction, Terms, WriteRequest } from '../port.js'
import { reorgedFailure } from '../reconfirm.js'
import { confirmTransaction } from './confirm.js'
import { broadcastTransaction, lookRequest, prepareTransaction } from './effects.js'
import { ChainStepFailure, rethrow, type TransactionOutcome } from './outcome.js'
import { type Replacing, replaceStuck } from './replace.js'
import { type Corrected, correctedHash, handedHash, handOverKind } from './wallet-answer.js'

/** A write, and how it is waited for; what is absent is as the chain is configured. */
export interface SendOptions extends WriteRequest, Partial<Terms> {
  /** How long the person with the wallet has, in unsigned mode. Default: for ever. */
  readonly walletTimeoutMs?: number
  /** Transactions to be replaced by hash, and what is paid more for each, in percent. */
  readonly replacing?: Replacing
  /** What wallets outside have sent instead, by the hash that they gave. */
  readonly corrected?: Corrected
}

/**
 * Carries out a write for a leaf block: prepare and sign, seal, send, wait for confirmations
 * (L7, W11). Without a signer it waits for a message `external` that
 * gives the hash of the transaction as its value: `{hash}`.
 *
 * At most one transaction of a step takes effect, whatever crashes or is tried again, as long as
 * each attempt asks for the same: a new one is prepared only after the one before certainly had no
 * effect and never can have one. The block has to be of class `idempotent` or higher. Throws
 * {@link ChainStepFailure}.
 */
export async function sendTransaction(
  ctx: BlockContext,
  options: SendOptions
): Promise<TransactionOutcome> {
  return sendEach(ctx, { ...options, from: 0, isAnew: false })
}

/** A write of which earlier attempts of the step have told what was sent. */
export interface NumberedSend extends SendOptions {
  /** Number of its first transaction among all of the step. */
  readonly from: number
  /** What wallets outside have said to have sent before, by the number of the transaction. */
  readonly handed?: HandedOver
  /** Hash of the transaction that was sent; nothing else is. */
  readonly only?: string
}

export type HandedOver = readonly { readonly generation: number; readonly hash: string }[]

interface Numbered extends SendOptions {
  readonly from: number
  readonly isAnew: boolean
  readonly only?: string
  /** By number; taken from here one after the other. */
  readonly handed?: Map<number, string[]>
}

/** {@link sendTransaction} of a write that is carried out more than once, with numbers. */
export function sendRepeated(ctx: BlockContext, options: NumberedSend) {
  return sendEach(ctx, numbered(options))
}

async function sendEach(ctx: BlockContext, options: Numbered): Promise<TransactionOutcome> {
  let superseded = 0
  let expired = 0
  // A try of the step that ended for certain frees the next try to send anew.
  let ended = 0
  for (let generation = options.from; ; generation += 1) {
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

/**
 * Carries out a write of which nothing was sent: it is signed anew only where it certainly had no
 * effect and asks for nothing else.
 */
export async function sendNew(
  ctx: BlockContext,
  options: NumberedSend
): Promise<TransactionOutcome> {
  const own = numbered(options)
  for (let generation = own.from; ; generation += 1) {
    try {
      return await oneTransaction(ctx, own, generation)
    } catch (error) {
      const isLast = generation + 1 >= own.from + limits.CHAIN_PREPARES_MAX
      if (isLast || !asksToBeSigned(error)) throw error
    }
  }
}

function asksToBeSigned(error: unknown): boolean {
  if (!(error instanceof ChainStepFailure)) return false
  const { code, phase } = error.failure
  return phase !== 'prepare' && (code === 'nonce_superseded' || code === 'expired')
}

/**
 * Finds out what became of a transaction that an earlier attempt has sent, or may have sent, and
 * prepares none. Undefined: it certainly had no effect and never can have one.
 */
export async function finishSent(
  ctx: BlockContext,
  options: NumberedSend
): Promise<TransactionOutcome | undefined> {
  try {
    return await oneTransaction(ctx, numbered(options), options.from)
  } catch (error) {
    if (error instanceof ChainStepFailure && hadNoEffect(error.failure.code)) return undefined
    throw error
  }
}

function numbered({ handed = [], ...options }: NumberedSend): Numbered {
  const known = new Map<number, string[]>()
  for (const { generation, hash } of handed) {
    const hashes = known.get(generation)
    if (hashes === undefined) known.set(generation, [hash])
    else hashes.push(hash)
  }
  return { ...options, handed: known, isAnew: true }
}

async function oneTransaction(
  ctx: BlockContext,
  options: Numbered,
  generation: number
): Promise<TransactionOutcome> {
  try {
    const prepared = await prepareTransaction(ctx, options, generation)
    if (prepared.kind === 'signed') tellReorged(ctx, prepared)
    const terms = termsOf(options, prepared.terms)
    if (prepared.kind === 'signed') {
      return await carryOut(ctx, { transaction: prepared.transaction, options, terms })
    }
    const known = options.handed?.get(generation)?.shift()
    return await handOver(ctx, { transaction: prepared.transaction, options, terms, known })
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
    readonly options: Numbered
    readonly terms: Terms
  }
): Promise<TransactionOutcome> {
  const { transaction, options, terms } = given
  const { chain, hash, from, nonce } = transaction
  if (options.only !== undefined && options.only !== hash) throw notFound(transaction, options)
  ctx.log('tx_prepared', { chain, hash, from, nonce })
  const { answer } = await broadcastTransaction(ctx, transaction)
  ctx.log('tx_sent', { chain, hash, answer })
  const replaced = await replaceStuck(ctx, { transaction, answer, options })
  return confirmTransaction(ctx, {
    look: lookRequest(replaced.transaction, options.execution),
    terms,
    isAnew: options.isAnew,
    ...replaced
  })
}

/** What was sent is in the recorded results; another transaction would be sent beside it. */
function notFound({ chain, from }: SignedTransaction, { only = '', execution }: Numbered) {
  const failure = chainFailure('timed_out', {
    phase: 'confirm',
    chain,
    executionType: execution.type,
    message: 'it was sent, and its bytes are not found any more',
    sent: true,
    transaction: { hash: only, from }
  })
  return new ChainStepFailure(failure)
}

/** Unsigned mode: the wallet of a person signs and sends, and its answer is sealed. */
async function handOver(
  ctx: BlockContext,
  given: {
    readonly transaction: Extract<Prepared, { readonly kind: 'unsigned' }>['transaction']
    readonly options: Numbered
    readonly terms: Terms
    /** What the wallet has sent in an earlier attempt. */
    readonly known: string | undefined
  }
): Promise<TransactionOutcome> {
  const { transaction, options, terms, known } = given
  const { chain, from, payload } = transaction
  const { execution, isAnew, corrected = {} } = options
  const named = known ?? (await sentByWallet(ctx, transaction, options))
  const hash = correctedHash(corrected, named)
  const look = { chain, hash, from, nonce: null, validUntil: null, execution, expected: payload }
  return confirmTransaction(ctx, { look, terms, wasAccepted: true, isAnew })
}

async function sentByWallet(
  ctx: BlockContext,
  transaction: Extract<Prepared, { readonly kind: 'unsigned' }>['transaction'],
  { execution, walletTimeoutMs: timeoutMs }: SendOptions
): Promise<string> {
  const { chain, from, payload, maxFee } = transaction
  const about = { phase: 'send', chain, executionType: execution.type } as const
  const answer = await ctx.wait({
    reason: 'external',
    request: {
      kind: handOverKind,
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
  const hash = handedHash(answer.value)
  if (hash !== undefined) return hash
  const message = 'the answer of the wallet holds no transaction hash'
  throw new ChainStepFailure(chainFailure('wallet_mismatch', { ...about, message, sent: true }))
}

function termsOf(options: SendOptions, configured: Terms): Terms {
  return {
    confirmations: options.confirmations ?? configured.confirmations,
    pollMs: options.pollMs ?? configured.pollMs,
    timeoutMs: options.timeoutMs ?? configured.timeoutMs
  }
}

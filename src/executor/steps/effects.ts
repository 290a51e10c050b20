import { type BlockContext, EffectFailure } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import type {
  Account,
  AccountRequest,
  Broadcast,
  ChainCall,
  Execution,
  LookRequest,
  Prepared,
  ReadRequest,
  SignedTransaction,
  Simulation,
  TransactionStatus,
  WriteRequest,
  WrittenCall
} from '../port.js'
import type { ReadinessReport, ReadinessRequest } from '../readiness.js'

/**
 * Effects by which leaf blocks reach a chain; providers answer them (`chainProviders`). A block
 * that declares capabilities declares the ones it uses.
 */
export const chainEffects = {
  account: 'chain.account',
  ready: 'chain.ready',
  read: 'chain.read',
  simulate: 'chain.simulate',
  call: 'chain.call',
  prepare: 'chain.prepare',
  broadcast: 'chain.broadcast',
  look: 'chain.look'
} as const

/** Which account would sign, and whether it can. The answer is sealed, like all of these. */
export function resolveAccount(ctx: BlockContext, request: AccountRequest): Promise<Account> {
  return ask<Account>(ctx, chainEffects.account, request)
}

/** What a chain lacks for what a run will do on it (W15). */
export function askReadiness(
  ctx: BlockContext,
  request: ReadinessRequest
): Promise<ReadinessReport> {
  return ask<ReadinessReport>(ctx, chainEffects.ready, request)
}

/** Reads from a chain: the outputs by their names (W11). */
export function readChain(ctx: BlockContext, request: ReadRequest): Promise<JsonObject> {
  return ask<JsonObject>(ctx, chainEffects.read, request)
}

/** What a write would do now, without signing or sending anything. */
export function simulateTransaction(ctx: BlockContext, request: WriteRequest): Promise<Simulation> {
  return ask<Simulation>(ctx, chainEffects.simulate, request)
}

/** The call as which a write of a type beside its chain's own is carried out; null: not known. */
export function askCall(ctx: BlockContext, request: WrittenCall): Promise<ChainCall | null> {
  return ask<ChainCall | null>(ctx, chainEffects.call, request)
}

/**
 * Builds and signs; nothing leaves the process but questions. The sealed bytes are durable before
 * they are sent (L7). `generation` tells one transaction of a step from the next.
 */
export function prepareTransaction(
  ctx: BlockContext,
  request: WriteRequest,
  generation = 0
): Promise<Prepared> {
  const asked = ctx.effect(chainEffects.prepare, {
    request: prepareRequest(request, generation),
    // Not `none`: a retry must keep these bytes even when something failed before them, or it
    // would send others beside those that are on their way.
    sideEffects: 'idempotent'
  })
  return asked as Promise<unknown> as Promise<Prepared>
}

/** What is asked for by {@link prepareTransaction}: its hash tells transactions of a step apart. */
export function prepareRequest(
  { chain, execution, call, account, maxFee, replaces }: WriteRequest,
  generation: number
): JsonObject {
  return {
    chain,
    execution,
    ...(call === undefined ? {} : { call }),
    ...(account === undefined ? {} : { account }),
    ...(maxFee === undefined ? {} : { maxFee }),
    ...(replaces === undefined ? {} : { replaces: replaces as unknown as Json }),
    generation
  }
}

/**
 * Sends the sealed bytes, or sends them again. Rejects only when nothing was sent and nothing of
 * these bytes can happen any more, or when the step is being abandoned.
 */
export async function broadcastTransaction(
  ctx: BlockContext,
  transaction: SignedTransaction
): Promise<Broadcast> {
  try {
    return await ctx.effect<Json & Broadcast>(chainEffects.broadcast, {
      request: { transaction: transaction as unknown as Json },
      sideEffects: 'idempotent'
    })
  } catch (error) {
    if (error instanceof EffectFailure && !error.definite) {
      return { hash: transaction.hash, answer: 'unanswered' }
    }
    throw error
  }
}

/** What the chain says about a transaction now. */
export function lookAtTransaction(
  ctx: BlockContext,
  request: LookRequest
): Promise<TransactionStatus> {
  return ask<TransactionStatus>(ctx, chainEffects.look, request)
}

function ask<Answer>(ctx: BlockContext, effect: string, request: object): Promise<Answer> {
  const asked = ctx.effect(effect, { request: request as Json, sideEffects: 'none' })
  return asked as Promise<unknown> as Promise<Answer>
}

/** How the chain is asked for a transaction that was prepared here. */
export function lookRequest(transaction: SignedTransaction, execution: Execution): LookRequest {
  const { chain, hash, from, nonce, validUntil, lifetime } = transaction
  const life = lifetime === undefined ? {} : { lifetime }
  return { chain, hash, from, nonce, validUntil, ...life, execution, expected: null }
}

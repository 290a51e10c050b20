import { EffectFailure } from '../code/index.js'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  limits,
  withoutAddresses
} from '../core/index.js'
import type { ProgramError, Revert } from './port.js'

/**
 * Every way in which a step on a chain fails, and whether doing it again may help. `hadNoEffect`:
 * it says of what was sent that it had no effect and cannot have one any more. Not `replaced` and
 * `nonce_conflict`: what took the nonce may be the same payment, sent faster by a wallet.
 */
export const chainFailureCodes = {
  /** The execution cannot be carried out as it is written. */
  invalid_execution: { retryable: false },
  /** No executor is configured for the chain. */
  unknown_chain: { retryable: false },
  unknown_account: { retryable: false },
  /** A secret that is referred to is not there. */
  missing_secret: { retryable: false },
  /** The endpoint serves another chain than the configuration says. */
  chain_mismatch: { retryable: false },
  rpc_down: { retryable: true },
  rpc_timeout: { retryable: true },
  rpc_rate_limited: { retryable: true },
  /** The answer is not JSON-RPC, or not what the method gives. */
  rpc_malformed: { retryable: true },
  /** The endpoint refused: the answer has its code and message. */
  rpc_error: { retryable: true },
  insufficient_funds: { retryable: true, hadNoEffect: true },
  /** It could cost more than it may; nothing was signed. Fees may fall. */
  fee_too_high: { retryable: true },
  /** The contract refuses; found before sending, or after it was included. */
  reverted: { retryable: false, hadNoEffect: true },
  /** The node refuses the transaction, for example for its fee; nothing was sent. */
  rejected: { retryable: true, hadNoEffect: true },
  /** A transaction of ours took its nonce before it was sent; nothing was sent. */
  nonce_superseded: { retryable: true, hadNoEffect: true },
  /** Another transaction has used its nonce. */
  nonce_conflict: { retryable: false },
  /** It was known to the network, and another with its nonce was included instead. */
  replaced: { retryable: false },
  /** It was included, its block is gone, and it did not come back in time. */
  reorged_out: { retryable: true },
  /** Its blockhash is too old: it can never be included. */
  expired: { retryable: true, hadNoEffect: true },
  /** It may still be included: ask by its hash. */
  timed_out: { retryable: true },
  /** The person with the wallet refused. */
  denied: { retryable: false },
  /** The wallet has sent something else than what it was asked to. */
  wallet_mismatch: { retryable: false }
} as const satisfies Readonly<Record<string, FailureKind>>

interface FailureKind {
  readonly retryable: boolean
  readonly hadNoEffect?: true
}

/** Whether a code says of what was sent that it had no effect and cannot have one any more. */
export function hadNoEffect(code: string): boolean {
  if (!Object.hasOwn(chainFailureCodes, code)) return false
  const kind: FailureKind = chainFailureCodes[code as ChainFailureCode]
  return kind.hadNoEffect === true
}

/** What can go wrong with a chain; each code says whether something was sent. */
export type ChainFailureCode = keyof typeof chainFailureCodes

/** What an execution was doing when something happened. */
export type ChainPhase = 'check' | 'read' | 'simulate' | 'prepare' | 'send' | 'confirm'

/** What went wrong on a chain: only these fields, never an error object (W10). */
export interface ChainFailure {
  readonly code: ChainFailureCode
  readonly phase: ChainPhase
  readonly chain: string
  readonly executionType: string | null
  readonly retryable: boolean
  /** Whether a transaction may have reached the chain. */
  readonly sent: boolean
  /** For people; without addresses of endpoints and without secrets. */
  readonly message: string
  readonly rpc?: RpcExchange
  readonly revert?: Revert
  /** How a program has failed, on chains where it says so by number. */
  readonly programError?: ProgramError
  /** What programs have logged. */
  readonly logs?: readonly string[]
  readonly transaction?: JsonObject
}

/** One exchange with an endpoint, cut and without its address. */
export interface RpcExchange {
  /** Place of the endpoint in the configuration, from 0; null when it is not known any more. */
  readonly endpoint: number | null
  readonly method: string
  readonly request: Json
  readonly response: Json
}

export interface FailureFields {
  readonly phase: ChainPhase
  readonly chain: string
  readonly executionType?: string | null
  readonly message: string
  readonly sent?: boolean
  readonly rpc?: RpcExchange
  readonly revert?: Revert
  readonly transaction?: JsonObject
}

/** An effect's failure with a {@link ChainFailure} for details. */
export function chainFailed(
  code: ChainFailureCode,
  fields: FailureFields & { readonly definite?: boolean }
): EffectFailure {
  const failure = chainFailure(code, fields)
  const definite = fields.definite ?? !failure.sent
  return new EffectFailure(code, { definite, details: failure as unknown as Json })
}

/** The same as data. Texts are cut, and addresses of endpoints taken out of them. */
export function chainFailure(code: ChainFailureCode, fields: FailureFields): ChainFailure {
  const { phase, chain, executionType = null, message, sent = false } = fields
  const { rpc, revert, transaction } = fields
  return {
    code,
    phase,
    chain,
    executionType,
    retryable: chainFailureCodes[code].retryable,
    sent,
    message: cleanText(message),
    ...(rpc === undefined ? {} : { rpc: cleanExchange(rpc) }),
    ...(revert === undefined ? {} : { revert: cleanRevert(revert), ...saidByPrograms(revert) }),
    ...(transaction === undefined ? {} : { transaction })
  }
}

/** The chain failure in an error or in a response's details; undefined when it is another one. */
export function chainFailureOf(error: unknown): ChainFailure | undefined {
  const details = error instanceof EffectFailure ? error.details : error
  if (!isJsonObject(details as Json)) return undefined
  const { code, phase, chain } = details as JsonObject
  const isOne = typeof code === 'string' && Object.hasOwn(chainFailureCodes, code)
  if (!isOne || typeof phase !== 'string' || typeof chain !== 'string') return undefined
  return details as unknown as ChainFailure
}

/** A text cut to what a diagnostic may hold, without URLs. */
export function cleanText(text: string): string {
  return withoutAddresses(text.slice(0, limits.CHAIN_TEXT_LENGTH_MAX).toWellFormed())
}

/** JSON cut to what a diagnostic may hold: long texts, lists and deep values are shortened. */
export function cleanJson(value: Json, depth = 0): Json {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) {
    if (depth >= DEPTH_MAX) return '[cut]'
    return value.slice(0, limits.CHAIN_LIST_LENGTH_MAX).map((item) => cleanJson(item, depth + 1))
  }
  if (!isJsonObject(value)) return value
  if (depth >= DEPTH_MAX) return '[cut]'
  const entries = Object.entries(value).slice(0, limits.CHAIN_LIST_LENGTH_MAX)
  return Object.fromEntries(
    entries.map(([key, item]) => [cleanText(key), cleanJson(item, depth + 1)])
  )
}

const DEPTH_MAX = 4

function cleanExchange({ endpoint, method, request, response }: RpcExchange): RpcExchange {
  return { endpoint, method, request: cleanJson(request), response: cleanJson(response) }
}

/** Once in a failure, beside its revert. */
function saidByPrograms({ programError, logs }: Revert): Partial<ChainFailure> {
  return {
    ...(programError === undefined ? {} : { programError }),
    ...(logs === undefined ? {} : { logs: logs.slice(0, limits.CHAIN_LOGS_MAX).map(cleanText) })
  }
}

function cleanRevert({ name, args, reason, data }: Revert): Revert {
  return {
    name: name === null ? null : cleanText(name),
    args: args === null ? null : (cleanJson(args) as JsonObject),
    reason: reason === null ? null : cleanText(reason),
    data: data === null ? null : cleanText(data)
  }
}

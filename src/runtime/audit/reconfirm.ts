import type { EventEmitter } from 'eventemitter3'
import type { JournalEntry, RunStarted } from '../../block/index.js'
import {
  blockError,
  hashJson,
  isJsonObject,
  type Json,
  type RunId,
  shownText,
  systemClock
} from '../../core/index.js'
import type {
  BlockPlace,
  ConfirmedTransaction,
  FoundLater,
  SentTransaction,
  SignedTransaction,
  TransactionStatus
} from '../../executor/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { NodeDiagnostic, RunDocuments } from '../../workflow/index.js'
import type { Registry } from '../code/registry.js'
import type { DeliveredEvent } from '../run/channel.js'

/** How chains are asked about the transactions of a run. */
export interface RecheckOptions {
  /** Sends the bytes of what the chain does not know any more again. Default false. */
  readonly sendAgain?: boolean
  /** How long the chains are asked altogether, milliseconds; then what has not answered is null. */
  readonly withinMs?: number
}

/** How a transaction that a run has as confirmed, or only as sent, stands on its chain now. */
export interface TransactionCheck {
  readonly path: string
  readonly chain: string
  readonly hash: string
  /** Null: the run has not seen it in a block. */
  readonly recorded: BlockPlace | null
  /** Null: no endpoint could say. */
  readonly found: FoundLater | null
  /** Null: it stands where the run has it. */
  readonly diagnostic: NodeDiagnostic | null
  /** What became of sending the same bytes again; null: they were not sent. */
  readonly sentAgain: string | null
}

export interface ReconfirmParts {
  readonly ledger: Pick<Ledger, 'journals' | 'run'>
  readonly registry: Pick<Registry, 'provider' | 'composite'>
  /** Where what was found is reported. */
  readonly events: EventEmitter<{ event: (event: DeliveredEvent) => void }>
}

/**
 * Asks the chains about the transactions that a run has as confirmed (semantics.md W10): a reorg
 * deeper than the confirmations that were asked for takes one away, and no run looks back.
 *
 * The run, its journal and its receipts stay as they are, whatever is found. Bytes that are sent
 * again were recorded before they were sent first, and have one nonce (L7). Throws
 * `run.not_found`; what endpoints cannot say is data.
 */
export async function reconfirmRun(
  runId: RunId,
  options: RecheckOptions,
  parts: ReconfirmParts
): Promise<readonly TransactionCheck[]> {
  const { ledger, registry } = parts
  const record = ledger.run(runId)
  if (record === undefined) throw blockError('run.not_found', { runId })
  const { transactionTexts } = await import('../../executor/index.js')
  const started = record.started as unknown as RunStarted
  const used = (name: string) => (registry.composite(name) ?? null) as unknown as Json
  // Definitions are plain JSON by construction.
  const run = { definition: started.definition as Json, used }
  const checks: TransactionCheck[] = []
  for await (const found of ledger.journals([runId], transactionTexts)) {
    // The journal gives back what the pump has written.
    const entries = found.map(({ value }) => value as unknown as JournalEntry)
    for (const check of await askChains(entries, options, { run, registry })) {
      checks.push(check)
      const { path, diagnostic, recorded } = check
      if (diagnostic === null || recorded === null) continue
      const data = { diagnostic } as unknown as Json
      const at = record.updatedAt
      parts.events.emit('event', { type: 'log', runId, at, path, message: 'tx_reorged_out', data })
    }
  }
  return checks
}

export interface AskedChains {
  readonly run: RunDocuments
  readonly registry: Pick<Registry, 'provider'>
}

/** What chains say now of the transactions of one run's journal. Reports and changes nothing. */
export async function askChains(
  entries: readonly JournalEntry[],
  { sendAgain = false, withinMs }: RecheckOptions,
  parts: AskedChains
): Promise<readonly TransactionCheck[]> {
  const { transactionsIn } = await import('../../executor/index.js')
  const { confirmed, unconfirmed } = transactionsIn(entries)
  const late = new AbortController()
  const callOff =
    withinMs === undefined
      ? undefined
      : systemClock.schedule(systemClock.now() + withinMs, () => late.abort())
  const checks: TransactionCheck[] = []
  try {
    // What is unknown first: it is what a person waits for.
    for (const one of [...unconfirmed, ...confirmed]) {
      checks.push(await checked(one, { ...parts, sendAgain, signal: late.signal }))
    }
  } finally {
    callOff?.()
  }
  return checks
}

interface Around {
  readonly run: RunDocuments
  readonly registry: Pick<Registry, 'provider'>
  readonly sendAgain: boolean
  readonly signal: AbortSignal
}

async function checked(
  one: ConfirmedTransaction | SentTransaction,
  { run, registry, sendAgain, signal }: Around
): Promise<TransactionCheck> {
  const executor = await import('../../executor/index.js')
  const { reorgDiagnostic } = await import('../../workflow/index.js')
  const { path, chain, hash, transaction } = one
  const recorded =
    'blockHash' in one ? { blockNumber: one.blockNumber, blockHash: one.blockHash } : null
  const about = { path, chain, hash, recorded, sentAgain: null }
  try {
    const request = executor.lookFor(one) as unknown as Json
    const status = await asked(registry, executor.chainEffects.look, { chain, request, signal })
    const found = executor.foundLater(recorded, status as unknown as TransactionStatus)
    if (found.status === 'in_place') return { ...about, found, diagnostic: null }
    const isUnknown = found.status === 'included' || found.status === 'mismatch'
    if (!('blockHash' in one) || isUnknown) {
      const failure = executor.unknownFailure(one, found)
      const unknown = { failure, path, mayRetry: false, code: 'unknown_outcome' } as const
      return { ...about, found, diagnostic: reorgDiagnostic(unknown, run) }
    }
    const failure = executor.reorgedFailure(one, found)
    const bytes = found.status === 'gone' ? transaction : null
    const diagnostic = reorgDiagnostic({ failure, path, mayRetry: bytes !== null }, run)
    const sentAgain = sendAgain && bytes !== null ? await sent(registry, bytes, signal) : null
    return { ...about, found, diagnostic, sentAgain }
  } catch (error) {
    const failure = executor.chainFailureOf(error)
    if (failure === undefined) throw error
    const mayRetry = failure.retryable
    return { ...about, found: null, diagnostic: reorgDiagnostic({ failure, path, mayRetry }, run) }
  }
}

async function sent(
  registry: Around['registry'],
  transaction: SignedTransaction,
  signal: AbortSignal
): Promise<string> {
  const { chainEffects, chainFailureOf } = await import('../../executor/index.js')
  const { chain } = transaction
  const request = { transaction } as unknown as Json
  try {
    const answer = await asked(registry, chainEffects.broadcast, { chain, request, signal })
    return isJsonObject(answer) ? shownText(answer['answer']) : 'unanswered'
  } catch (error) {
    const failure = chainFailureOf(error)
    if (failure === undefined) throw error
    return failure.code
  }
}

async function asked(
  registry: Around['registry'],
  effect: string,
  call: { readonly chain: string; readonly request: Json; readonly signal: AbortSignal }
): Promise<Json> {
  const { chain, request, signal } = call
  const { chainFailed } = await import('../../executor/index.js')
  const provider = registry.provider(effect)
  if (provider === undefined) {
    const message = 'no executor of chains is configured'
    throw chainFailed('unknown_chain', { phase: 'check', chain, message })
  }
  const late = () =>
    chainFailed('rpc_timeout', { phase: 'check', chain, message: 'no answer in the time given' })
  if (signal.aborted) throw late()
  let leave: () => void = () => undefined
  const isLate = new Promise<never>((_, reject) => {
    leave = () => reject(late())
    signal.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([
      isLate,
      provider.perform({ key: hashJson(request), request, signal })
    ])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

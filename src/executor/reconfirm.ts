import type { JournalEntry } from '../block/index.js'
import { isJsonObject, type Json, unreachable } from '../core/index.js'
import { type ChainFailure, chainFailure } from './failure.js'
import type {
  BlockPlace,
  LookRequest,
  ReorgedTransaction,
  SignedTransaction,
  Standing
} from './port.js'
import { chainEffects } from './steps/effects.js'

/** A transaction that a journal has as confirmed: its node has succeeded. */
export interface ConfirmedTransaction extends BlockPlace {
  /** Of the node that sent it. */
  readonly path: string
  readonly chain: string
  readonly hash: string
  readonly from: string | null
  /** Its bytes; null: a wallet outside has sent it. */
  readonly transaction: SignedTransaction | null
}

/** What the chain says of a confirmed transaction later. Receipts are final whatever it says. */
export type FoundLater =
  | { readonly status: 'in_place'; readonly confirmations: number }
  | ({ readonly status: 'elsewhere'; readonly success: boolean } & BlockPlace)
  | { readonly status: 'pending' }
  /** The node does not know it; its bytes may be sent again. */
  | { readonly status: 'gone' }
  | { readonly status: 'replaced'; readonly by: string | null }

/** Texts of which one is in each entry that {@link confirmedIn} needs. */
export const confirmedTexts = [
  `"effect":"${chainEffects.prepare}"`,
  `"effect":"${chainEffects.look}"`,
  '"k":"settled"'
] as const

type Seen = Omit<ConfirmedTransaction, 'path'>

/** What one visit of a node has prepared, and what it saw included, by hash. */
interface NodeExecution {
  readonly signed: Map<string, SignedTransaction>
  chain: string
  from: string | null
  last: string | undefined
  readonly seen: Map<string, Seen>
}

/** The confirmed transactions of one run's journal, in the order in which their nodes ended. */
export function confirmedIn(entries: readonly JournalEntry[]): readonly ConfirmedTransaction[] {
  const executions = new Map<string, NodeExecution>()
  const confirmed: ConfirmedTransaction[] = []
  for (const entry of entries) {
    if (entry.k !== 'sealed' && entry.k !== 'settled') continue
    const { path } = entry
    const place = `${entry.step} ${path}`
    const execution = executions.get(place)
    if (entry.k === 'settled') {
      if (!entry.response.success || execution === undefined) continue
      for (const one of execution.seen.values()) confirmed.push({ path, ...one })
      executions.delete(place)
    } else if (entry.ok && entry.effect === chainEffects.prepare) {
      executions.set(place, withPrepared(execution, entry.body))
    } else if (entry.ok && entry.effect === chainEffects.look && execution !== undefined) {
      noteLook(execution, entry.body)
    }
  }
  return confirmed
}

function withPrepared(execution: NodeExecution | undefined, body: Json): NodeExecution {
  const { transaction = null } = isJsonObject(body) ? body : {}
  const { chain, from, hash, raw } = isJsonObject(transaction)
    ? (transaction as Partial<SignedTransaction>)
    : {}
  const { signed, seen } = execution ?? { signed: new Map(), seen: new Map<string, Seen>() }
  if (hash !== undefined && raw !== undefined) {
    signed.set(hash, transaction as unknown as SignedTransaction)
  }
  return { signed, seen, chain: chain ?? '', from: from ?? null, last: hash ?? execution?.last }
}

function noteLook(execution: NodeExecution, body: Json): void {
  const status = body as unknown as Standing
  if (status.status !== 'included') return
  const { blockNumber, blockHash, outputs } = status
  const told = outputs['tx_hash']
  // A look does not say what it was for where an executor gives no hash.
  const hash = typeof told === 'string' ? told : execution.last
  if (hash === undefined) return
  const transaction = execution.signed.get(hash) ?? null
  const { chain, from } = transaction ?? execution
  execution.seen.set(hash, { chain, from, hash, blockNumber, blockHash, transaction })
}

/** How the chain is asked for it. */
export function lookFor({ chain, hash, from, transaction }: ConfirmedTransaction): LookRequest {
  const { nonce = null, validUntil = null } = transaction ?? {}
  return { chain, hash, from, nonce, validUntil, execution: { type: 'recheck' }, expected: null }
}

export function foundLater({ blockHash }: ConfirmedTransaction, status: Standing): FoundLater {
  switch (status.status) {
    case 'included': {
      const { blockNumber, blockHash: now, success, confirmations } = status
      if (now === blockHash) return { status: 'in_place', confirmations }
      return { status: 'elsewhere', blockNumber, blockHash: now, success }
    }
    case 'pending':
      return { status: 'pending' }
    case 'displaced':
      return { status: 'replaced', by: status.by }
    case 'unknown':
    case 'mismatch':
      return { status: 'gone' }
    default:
      return unreachable(status)
  }
}

type Lost = Exclude<FoundLater['status'], 'in_place'> | ReorgedTransaction['found']

const words: Readonly<Record<Lost, string>> = {
  elsewhere: 'it stands in another one',
  pending: 'it waits for a block again',
  gone: 'the node does not know it',
  replaced: 'another transaction has used its nonce',
  sent_again: 'its bytes were sent again',
  refused: 'its bytes are not taken any more'
}

/** What is said of a transaction that had been included, and whose block is gone. */
export function reorgedFailure(
  lost: Pick<ConfirmedTransaction, 'chain' | 'hash' | 'from'> & BlockPlace,
  found: { readonly status: Lost } & Partial<BlockPlace> & { readonly by?: string | null }
): ChainFailure {
  const { chain, hash, from, blockNumber: block, blockHash } = lost
  const { status, ...now } = found
  return chainFailure('reorged_out', {
    phase: 'confirm',
    chain,
    message: `the block in which it was is not part of the chain any more: ${words[status]}`,
    sent: true,
    transaction: { hash, from, block, blockHash, found: { status, ...now } }
  })
}

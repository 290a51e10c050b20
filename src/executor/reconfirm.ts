import type { JournalEntry } from '../block/index.js'
import { isJsonObject, type Json, type JsonObject, unreachable } from '../core/index.js'
import { type ChainFailure, chainFailure } from './failure.js'
import { correction, HandedHashes, isMessage, placeOf } from './handed-hashes.js'
import type {
  BlockPlace,
  LookRequest,
  ReorgedTransaction,
  SignedTransaction,
  TransactionStatus
} from './port.js'
import { chainEffects, lookRequest } from './steps/effects.js'
import { handOverKind } from './steps/wallet-answer.js'

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
  /** Its outcome was unknown, and is this now. */
  | ({
      readonly status: 'included'
      readonly success: boolean
      readonly confirmations: number
    } & BlockPlace)
  | ({ readonly status: 'elsewhere'; readonly success: boolean } & BlockPlace)
  | { readonly status: 'pending' }
  /** The node does not know it; its bytes may be sent again. */
  | { readonly status: 'gone' }
  | { readonly status: 'replaced'; readonly by: string | null }
  /** Its blockhash is too old: it can never be included. */
  | { readonly status: 'expired' }
  /** The hash that a wallet outside gave is that of something else. */
  | { readonly status: 'mismatch'; readonly fields: readonly string[] }

/** A transaction that a run has sent, and of whose outcome its journal does not tell. */
export interface SentTransaction extends Omit<ConfirmedTransaction, keyof BlockPlace> {
  /** The hash that a wallet outside gave; a person may have put another in its place. */
  readonly handed?: string
  /** What the wallet was asked to send. */
  readonly expected?: JsonObject
}

const effectsOfTransactions: readonly string[] = [
  chainEffects.prepare,
  chainEffects.look,
  chainEffects.broadcast
]

/** Texts of which one is in each entry that {@link transactionsIn} needs. */
export const transactionTexts: readonly string[] = [
  ...effectsOfTransactions.map((effect) => `"effect":"${effect}"`),
  `"kind":"${handOverKind}"`,
  '"action":"resume"',
  `"${correction}":{`,
  '"k":"settled"'
]

/** Whether {@link transactionsIn} needs an entry. */
export function tellsOfTransactions(entry: Json): boolean {
  if (!isJsonObject(entry)) return false
  const { k, effect, body = null } = entry
  if (k === 'settled' || k === 'wait' || k === 'decision') return true
  const isOfChain = typeof effect === 'string' && effectsOfTransactions.includes(effect)
  return isOfChain || (k === 'sealed' && isMessage(body))
}

type Seen = Omit<ConfirmedTransaction, 'path'>

/** What one visit of a node has prepared, and what it saw included, by hash. */
interface NodeExecution {
  readonly signed: Map<string, SignedTransaction>
  chain: string
  from: string | null
  last: string | undefined
  readonly seen: Map<string, Seen>
  /** Of those that were sent. */
  sent: string | undefined
}

/**
 * The transactions of one run's journal by whether it has them as confirmed, in the order in which
 * their nodes ended, or only as sent.
 */
export function transactionsIn(entries: readonly JournalEntry[]): {
  readonly confirmed: readonly ConfirmedTransaction[]
  readonly unconfirmed: readonly SentTransaction[]
} {
  const executions = new Map<string, NodeExecution>()
  const handed = new HandedHashes()
  const confirmed: ConfirmedTransaction[] = []
  for (const entry of entries) {
    handed.take(entry)
    if (entry.k !== 'sealed' && entry.k !== 'settled' && entry.k !== 'requested') continue
    const { path } = entry
    const place = placeOf(entry)
    const execution = executions.get(place)
    if (entry.k === 'requested') {
      // The bytes are on their way once the request is on disk, whatever came back.
      if (entry.effect === chainEffects.broadcast && execution !== undefined) {
        execution.sent = execution.last
      }
      continue
    }
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
  const pathOf = (place: string) => place.slice(place.indexOf(' ') + 1)
  const sent = [...executions].flatMap(([place, execution]) => {
    const { seen, signed, chain, from } = execution
    const hashes = openIn(execution)
    if (hashes.some((hash) => seen.has(hash))) return []
    return hashes.map((hash) => {
      return { path: pathOf(place), chain, from, hash, transaction: signed.get(hash) ?? null }
    })
  })
  const outside = [...handed.open()].map(([place, one]) => {
    return { path: pathOf(place), ...one, transaction: null }
  })
  return { confirmed, unconfirmed: [...sent, ...outside] }
}

/** What was sent last and those in whose place it was sent, the oldest first. */
function openIn({ sent, signed }: NodeExecution): readonly string[] {
  const hashes = new Set<string>()
  for (let hash = sent; hash !== undefined && !hashes.has(hash); ) {
    hashes.add(hash)
    hash = signed.get(hash)?.replaces
  }
  return [...hashes].reverse()
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
  const last = hash ?? execution?.last
  const sent = execution?.sent
  return { signed, seen, sent, chain: chain ?? '', from: from ?? null, last }
}

function noteLook(execution: NodeExecution, body: Json): void {
  const status = body as unknown as TransactionStatus
  if (status.status !== 'included') return
  const { blockNumber, blockHash, outputs } = status
  const told = outputs['tx_hash'] ?? outputs['signature']
  // A look does not say what it was for where an executor gives no hash.
  const hash = typeof told === 'string' ? told : execution.last
  if (hash === undefined) return
  const transaction = execution.signed.get(hash) ?? null
  const { chain, from } = transaction ?? execution
  execution.seen.set(hash, { chain, from, hash, blockNumber, blockHash, transaction })
}

/** How the chain is asked for it. */
export function lookFor(sent: SentTransaction): LookRequest {
  const { chain, hash, from, transaction, expected = null } = sent
  const execution = { type: 'recheck' }
  if (transaction === null) {
    return { chain, hash, from, nonce: null, validUntil: null, execution, expected }
  }
  const { executionType } = transaction
  const by = executionType === undefined ? {} : { executionType }
  return { ...lookRequest(transaction, execution), ...by }
}

/** `recorded`: where the run has it; null: the run does not know whether it is in a block. */
export function foundLater(recorded: BlockPlace | null, status: TransactionStatus): FoundLater {
  switch (status.status) {
    case 'included': {
      const { blockNumber, blockHash: now, success, confirmations } = status
      if (recorded === null) {
        return { status: 'included', success, confirmations, blockNumber, blockHash: now }
      }
      const { blockHash } = recorded
      if (now === blockHash) return { status: 'in_place', confirmations }
      return { status: 'elsewhere', blockNumber, blockHash: now, success }
    }
    case 'pending':
      return { status: 'pending' }
    case 'displaced':
      return status.cause === 'expired'
        ? { status: 'expired' }
        : { status: 'replaced', by: status.by }
    case 'mismatch':
      return recorded === null ? { status: 'mismatch', fields: status.fields } : { status: 'gone' }
    case 'unknown':
      return { status: 'gone' }
    default:
      return unreachable(status)
  }
}

type Lost =
  | Exclude<FoundLater['status'], 'in_place' | 'included' | 'mismatch'>
  | ReorgedTransaction['found']

const words: Readonly<Record<Lost, string>> = {
  elsewhere: 'it stands in another one',
  pending: 'it waits for a block again',
  gone: 'the node does not know it',
  replaced: 'another transaction has used its nonce',
  expired: 'it can never be included again',
  sent_again: 'its bytes were sent again',
  refused: 'its bytes are not taken any more'
}

const outcomes: Readonly<Record<Exclude<FoundLater['status'], 'in_place' | 'elsewhere'>, string>> =
  {
    included: 'it is in a block now',
    pending: 'it waits for a block',
    gone: 'the node does not know it, and its bytes may still arrive',
    replaced: 'another transaction has used its nonce',
    expired: 'it can never be included, and had no effect',
    mismatch: 'its hash is that of something else than the wallet was asked to send'
  }

/** What is said of a transaction that was sent, and whose outcome the run does not know. */
export function unknownFailure(
  { chain, hash, from, transaction }: SentTransaction,
  found: FoundLater
): ChainFailure {
  const word = found.status in outcomes ? outcomes[found.status as keyof typeof outcomes] : ''
  const about = { hash, from, nonce: transaction?.nonce ?? null, found: { ...found } }
  return chainFailure('timed_out', {
    phase: 'confirm',
    chain,
    message: `it was sent, and what became of it was not known when its time was over: ${word}`,
    sent: true,
    transaction: about as unknown as JsonObject
  })
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

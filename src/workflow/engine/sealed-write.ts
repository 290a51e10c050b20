import { type JournalEntry, type Provider, unitIdOf } from '../../block/index.js'
import { type BlockContext, type EffectCall, requestHashOf } from '../../code/index.js'
import { canonicalString, coreError, type Hash, isJsonObject, type Json } from '../../core/index.js'
import {
  type ChainCall,
  chainEffects,
  type HandedOver,
  handedHash,
  handOverKind,
  prepareRequest,
  type WriteRequest
} from '../../executor/index.js'
import type { HardConstraints } from '../document/protocol.js'
import { parsePatches, pathText, type RuntimePatch } from '../readiness/patch.js'
import type { ReadyNode } from '../readiness/readiness.js'
import type { ReadJournal } from './budget.js'
import { shown } from './diagnose.js'

/**
 * Effect by which a node seals what it is about to write, and by which a later attempt of it gets
 * what was written.
 */
export const EXECUTION_EFFECT = 'ais.execution'

/** What the values of a node were given besides what its run has. */
export interface GivenValues {
  readonly patches: readonly RuntimePatch[]
  readonly choices: Readonly<Record<string, Json>>
}

export const nothingGiven: GivenValues = { patches: [], choices: {} }

/** A write with all its values resolved, as an attempt has sealed it before preparing anything. */
export interface SealedWrite extends Pick<ReadyNode, 'calculated' | 'amounts'> {
  readonly kind: 'execution'
  readonly request: Pick<WriteRequest, 'chain' | 'execution' | 'call' | 'account' | 'maxFee'>
  /** Number of its first transaction among all of the step. */
  readonly generation: number
  /** What the policy judges again each time; of actions that poll. */
  readonly judged?: Pick<ReadyNode, 'params'> & {
    readonly constraints?: HardConstraints
    readonly call?: ChainCall
  }
  /** By persons. */
  readonly given: GivenValues
  /** By executors and providers. */
  readonly found: GivenValues
}

/** What the attempts before this one have written. */
export interface EarlierWrite {
  readonly kind: 'earlier'
  /** Number of the next transaction of the step. */
  readonly next: number
  /** The last write of which something was sent, or may have been; null: of none. */
  readonly sent: {
    readonly write: SealedWrite
    /** Number and hash of its last transaction; without a hash a wallet outside was asked. */
    readonly generation: number
    readonly hash: string | null
    /** False: that one was certainly not sent; another of the same write was. */
    readonly isLast: boolean
    readonly handed: HandedOver
    /** What persons have changed since; absent of answers of before, and for nothing. */
    readonly patched?: readonly string[]
  } | null
}

/** Seals what is about to be written; null: that is not known yet. Gives what was sealed. */
export function sealWrite(ctx: BlockContext, write: SealedWrite | null) {
  const { attempt } = ctx
  const asked = ctx.effect(EXECUTION_EFFECT, {
    request: write === null ? { attempt } : { attempt, generation: write.generation },
    sideEffects: 'none',
    perform: () => write as unknown as Json
  })
  return asked as Promise<unknown> as Promise<SealedWrite | null>
}

/** What earlier attempts have written; null: nothing was prepared. The answer is sealed. */
export function earlierWrite(ctx: BlockContext) {
  const { attempt, path, unitId } = ctx
  const asked = ctx.effect(EXECUTION_EFFECT, {
    request: { attempt, path, unit: unitId },
    sideEffects: 'none',
    // What led here is in the journal then.
    durable: true
  })
  return asked as Promise<unknown> as Promise<EarlierWrite | null>
}

/**
 * Tells later attempts of nodes what earlier ones have written, by the journals of their runs.
 * Owns nothing: the answers are sealed, so that a run replays without it.
 */
export class SentWrites {
  readonly provider: Provider
  #read: ReadJournal | undefined

  constructor() {
    this.provider = { name: EXECUTION_EFFECT, perform: (call) => this.#earlier(call) }
  }

  useJournals(read: ReadJournal): void {
    this.#read = read
  }

  async #earlier({ request, runId }: EffectCall): Promise<Json> {
    const { attempt = 0, path = null, unit = null } = isJsonObject(request) ? request : {}
    if (runId === undefined || typeof path !== 'string' || this.#read === undefined) {
      throw coreError('core.internal', { problem: 'no journal tells what was sent' })
    }
    const entries = await this.#read(runId, `"path":${canonicalString(path)}`)
    const isOfNode = (entry: NodeEntry) =>
      entry.path === path &&
      (entry.k === 'decision' || entry.attempt < Number(attempt)) &&
      unitIdOf(runId, path, entry.step) === unit
    return writtenIn(entries.filter(isNodeEntry).filter(isOfNode)) as unknown as Json
  }
}

type NodeEntry = JournalEntry & { readonly k: 'sealed' | 'requested' | 'wait' | 'decision' }

const nodeEntries: readonly string[] = ['sealed', 'requested', 'wait', 'decision']

function isNodeEntry(entry: JournalEntry): entry is NodeEntry {
  return nodeEntries.includes(entry.k)
}

/** What the attempts of one step have written, by their entries in the order of the journal. */
export function writtenIn(entries: readonly NodeEntry[]): EarlierWrite | null {
  const writes = new Writes()
  for (const entry of entries) writes.take(entry)
  return writes.earlier()
}

interface Transaction {
  readonly generation: number
  readonly hash: string | null
  /** It was sent, or nothing says that it was not. */
  wasSent: boolean
  /** Sendings that were asked for and not answered. */
  readonly open: Set<string>
}

/** One write, and what was prepared for it. */
interface Written {
  readonly write: SealedWrite
  readonly transactions: Transaction[]
  /** Of the requests for these transactions and the next one. */
  readonly hashes: Hash[]
  readonly handed: { readonly generation: number; readonly hash: string }[]
  /** Paths that persons have changed since it was sealed. */
  readonly patched: string[]
}

/** Owns: what a sequence of entries says of the writes of one step. */
class Writes {
  readonly #all: Written[] = []
  /** What was prepared last. */
  #at: { readonly written: Written; readonly transaction: Transaction } | undefined
  /** Questions to wallets outside, by place. */
  readonly #asked = new Map<string, { readonly written: Written; readonly generation: number }>()

  take(entry: NodeEntry): void {
    if (entry.k === 'sealed') this.#sealed(entry)
    else if (entry.k === 'wait') this.#asks(entry)
    else if (entry.k === 'decision') this.#decided(entry.patch)
    else if (entry.effect === chainEffects.broadcast) {
      this.#at?.transaction.open.add(placeOf(entry))
    }
  }

  /** Null: nothing was prepared. */
  earlier(): EarlierWrite | null {
    const last = this.#all.findLast(({ transactions }) => transactions.length > 0)
    const newest = last?.transactions.at(-1)
    if (last === undefined || newest === undefined) return null
    const next = newest.generation + 1
    const { write, transactions, handed, patched } = last
    if (!transactions.some(mayBeSent)) return { kind: 'earlier', next, sent: null }
    const { generation, hash } = newest
    const sent = { write, generation, hash, isLast: mayBeSent(newest), handed }
    if (patched.length === 0) return { kind: 'earlier', next, sent }
    return { kind: 'earlier', next, sent: { ...sent, patched: [...new Set(patched)] } }
  }

  #sealed(entry: NodeEntry & { readonly k: 'sealed' }): void {
    const { effect, ok, body } = entry
    if (effect === EXECUTION_EFFECT) {
      if (!ok || !isJsonObject(body) || body['kind'] !== 'execution') return
      // What this block has sealed itself.
      const write = body as unknown as SealedWrite
      this.#all.push({ write, transactions: [], hashes: [], handed: [], patched: [] })
    } else if (effect === chainEffects.prepare && ok) this.#prepared(entry)
    else if (effect === chainEffects.broadcast) this.#broadcast(entry)
    else this.#answered(entry)
  }

  /** A retry seals again what it keeps; what replaces a transaction is not told as a new one. */
  #prepared({ requestHash, body }: NodeEntry & { readonly k: 'sealed' }): void {
    for (const written of this.#all) {
      const { write, transactions } = written
      for (let place = 0; place <= transactions.length; place += 1) {
        const generation = write.generation + place
        written.hashes[place] ??= prepareHash(write, generation)
        if (written.hashes[place] !== requestHash) continue
        const transaction = transactions[place] ?? {
          generation,
          hash: hashIn(body),
          wasSent: false,
          open: new Set<string>()
        }
        transactions[place] = transaction
        this.#at = { written, transaction }
        return
      }
    }
  }

  #broadcast(entry: NodeEntry & { readonly k: 'sealed' }): void {
    const transaction = this.#at?.transaction
    if (transaction === undefined) return
    transaction.open.delete(placeOf(entry))
    const { ok, body } = entry
    if (ok || !isJsonObject(body) || body['definite'] !== true) transaction.wasSent = true
  }

  #decided(patch: Json): void {
    const given = isJsonObject(patch) ? parsePatches(patch['patches'] ?? null) : []
    if (typeof given === 'string') return
    for (const { patched } of this.#all) patched.push(...given.map(({ path }) => pathText(path)))
  }

  #asks({ request, ...entry }: NodeEntry & { readonly k: 'wait' }): void {
    const asked = shown(request)
    if (this.#at === undefined || !isJsonObject(asked) || asked['kind'] !== handOverKind) return
    const { written, transaction } = this.#at
    transaction.wasSent = true
    this.#asked.set(placeOf(entry), { written, generation: transaction.generation })
  }

  #answered(entry: NodeEntry & { readonly k: 'sealed' }): void {
    const asked = this.#asked.get(placeOf(entry))
    const { body } = entry
    if (asked === undefined || !isJsonObject(body) || body['action'] !== 'resume') return
    const { written, generation } = asked
    const hash = handedHash(body['value'] ?? null)
    if (hash !== undefined) written.handed.push({ generation, hash })
  }
}

function mayBeSent({ wasSent, open }: Transaction): boolean {
  return wasSent || open.size > 0
}

type Place = { readonly attempt: number; readonly seq: number | null }

function placeOf({ attempt, seq }: Place): string {
  return `${attempt} ${seq}`
}

function prepareHash({ request }: SealedWrite, generation: number): Hash {
  return requestHashOf(chainEffects.prepare, prepareRequest(request, generation))
}

function hashIn(body: Json): string | null {
  const transaction = isJsonObject(body) ? (body['transaction'] ?? null) : null
  const hash = isJsonObject(transaction) ? transaction['hash'] : null
  return typeof hash === 'string' ? hash : null
}

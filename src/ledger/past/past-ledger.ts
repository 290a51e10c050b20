import {
  type Hash,
  type IdentityId,
  isTallyError,
  ledgerError,
  type RunId
} from '../../core/index.js'
import type { ChainHead } from '../chain/chain-head.js'
import { codesOf } from '../derived/codes.js'
import type { StoreKeys } from '../keys.js'
import {
  encodeLogProof,
  inclusionProof,
  LogFrontier,
  leafHash,
  type ReadHash,
  verifyInclusion
} from '../log/index.js'
import { InMemoryDerived } from '../open/in-memory-derived.js'
import type { Reader } from '../read/reader.js'
import { storedState } from '../read/stored-state.js'
import type { Head } from '../record/head.js'
import { corrupt } from '../record/record.js'
import { receiptHashIn } from '../record/slice.js'
import type { Store } from '../stores/port.js'
import { isLogged, linesOf } from './commit-lines.js'
import { PastState } from './past-state.js'
import type {
  LoggedLine,
  PastChange,
  PastCommit,
  PastInclusion,
  PastLedger,
  PastProof,
  PastValues
} from './past-types.js'
import { WriteIndex } from './write-index.js'

export interface PastParts {
  readonly store: Store
  readonly keys: StoreKeys
  /** Without it the index of writes is kept in memory (L12). */
  readonly blobKey: Uint8Array | undefined
  /** Whether the index of writes may be put into the store. */
  readonly canWrite: boolean
  /** Does a write that is no commit. */
  behind(write: () => Promise<unknown>): Promise<void>
  readonly identity: IdentityId
  readonly reader: Reader
  logHashes(): Promise<{ readonly size: number; readonly readHash: ReadHash }>
  /** The durable head, and chain and state at a durable commit of it or before it. */
  durable(): { readonly head: Head; readonly chainHead: ChainHead }
}

export function openPast(parts: PastParts): PastLedger {
  return new OpenPast(parts)
}

/** {@link PastLedger} of an open ledger. Owns nothing that cannot be made again. */
class OpenPast implements PastLedger {
  readonly #parts: PastParts
  readonly #index: WriteIndex
  readonly #state: PastState

  constructor(parts: PastParts) {
    const { store, keys, blobKey, identity, reader } = parts
    const isKept = blobKey !== undefined && parts.canWrite
    this.#parts = parts
    this.#index = new WriteIndex({
      store: isKept ? store : new InMemoryDerived(store, keys),
      keys,
      codes: codesOf(blobKey),
      behind: isKept ? (write) => parts.behind(write) : async (write) => void (await write()),
      records: (from, to) => reader.records(from, to),
      receiptHashAt: (index) => {
        const text = reader.writingReceipt(index)?.text
        return text === undefined ? undefined : receiptHashIn(text)
      },
      history: () => reader.archived,
      state: () => storedState(store, keys),
      durable: () => {
        const { head, chainHead } = parts.durable()
        return { commits: head.seq, tree: chainHead.tree }
      },
      settled: () => parts.logHashes()
    })
    const receiptAt = (index: number) => reader.writingReceipt(index)
    this.#state = new PastState({ store, keys, identity, index: this.#index, receiptAt })
  }

  get commits(): number {
    return this.#parts.durable().head.seq
  }

  get logSize(): number {
    return this.#parts.durable().head.logSize
  }

  get receipts(): number {
    return this.#parts.durable().chainHead.receipts
  }

  commit(seq: number): PastCommit {
    return { seq, lines: linesOf(this.#parts.reader.record(seq)) }
  }

  commitsOf(runId: RunId, from: number): readonly number[] {
    return [...this.#parts.reader.commitsOf(runId, from)]
  }

  async log(from: number, to: number): Promise<readonly LoggedLine[]> {
    const end = Math.min(to, this.logSize)
    const found: LoggedLine[] = []
    if (from >= end) return found
    const { reader } = this.#parts
    for await (const record of reader.records(reader.commitOfLeaf(from), this.commits)) {
      for (const line of linesOf(record).filter(isLogged)) {
        if (line.leaf >= end) return found
        if (line.leaf >= from) found.push(line)
      }
    }
    return found
  }

  async inclusion(leaf: number): Promise<PastInclusion> {
    const { size, readHash } = await this.#parts.logHashes()
    const [line] = await this.log(leaf, leaf + 1)
    if (line === undefined || leaf >= size) throw ledgerError('receipt.not_found', { which: leaf })
    const hashes = inclusionProof(leaf, size, readHash)
    const root = LogFrontier.fromHashes(size, readHash).root()
    const hash = leafHash(line.text)
    if (!verifyInclusion({ index: leaf, size, leaf: hash, proof: hashes, root })) {
      throw corrupt(this.#parts.keys.commit(line.commitSeq), `leaf ${leaf} is not that of the log`)
    }
    return {
      text: line.text,
      leafHash: Buffer.from(hash).toString('hex') as Hash,
      root,
      proof: encodeLogProof({ version: 1, type: 'inclusion', index: leaf, size, hashes })
    }
  }

  values(options: Parameters<PastLedger['values']>[0]): Promise<PastValues> {
    return this.#asked(() => this.#state.values(options))
  }

  changes(options: Parameters<PastLedger['changes']>[0]): Promise<readonly PastChange[]> {
    return this.#asked(() => this.#state.changes(options))
  }

  proof(key: string, asOf: number): Promise<PastProof> {
    const { chainHead } = this.#parts.durable()
    return this.#asked(() => this.#state.proof(key, asOf, chainHead))
  }

  cover(): Promise<void> {
    return this.#index.cover(this.commits)
  }

  /** An index that is damaged is made anew once: the commit records have all of it. */
  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    await this.#index.cover(this.commits)
    try {
      return await ask()
    } catch (error) {
      const { writes } = this.#parts.keys
      const isOfIndex = isTallyError(error, 'ledger.corrupt')
        ? String(error.context['key']).startsWith(writes)
        : false
      if (!isOfIndex) throw error
    }
    await this.#index.forget()
    await this.#index.cover(this.commits)
    return ask()
  }
}

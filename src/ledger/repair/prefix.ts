import { type Hash, type IdentityId, isTallyError } from '../../core/index.js'
import { type ChainHead, genesisHead, headAfter } from '../chain/chain-head.js'
import { isRotation, rotatedKey } from '../chain/keys-in-force.js'
import { applyWriteSet, parseWriteSet, type StoredChange } from '../chain/stored-write-set.js'
import { unwrapText, unwrapValue, wrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { LogFrontier, leafHash } from '../log/index.js'
import { PutBatch } from '../put-batch.js'
import { ItemBodies } from '../read/bodies.js'
import type { Receipt } from '../receipt/receipt.js'
import { encodeHead, type Head, parseHead } from '../record/head.js'
import { corrupt, parseRecord, type RecordItem } from '../record/record.js'
import { hashKey, hashValue } from '../state/index.js'
import type { Store } from '../stores/port.js'
import { SubjectCipher } from '../subject/cipher.js'
import type { SubjectKeys } from '../subject/subject-keys.js'

/** The first commits of a store, which were verified. */
export interface Prefix {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly subjects: SubjectKeys | undefined
  readonly commits: number
}

/**
 * How many of the commits can be kept. A value whose body was erased, or withheld, is the state's
 * alone; where that has it no more, what is kept ends before the value was written.
 */
export async function keptCommits(prefix: Prefix): Promise<number> {
  let { commits } = prefix
  for (;;) {
    const fold = new PrefixFold(prefix)
    for await (const [key, value] of commitsOf(prefix, commits)) fold.addRecord(key, value)
    const lost = [...fold.withheld].filter(([key]) => fold.valueOf(key) === undefined)
    if (lost.length === 0) return commits
    commits = Math.min(...lost.map(([, writtenIn]) => writtenIn))
  }
}

/**
 * Copies the commits with their blobs, then writes state and head as they were after them. Gives
 * how many there were, and how many were not taken or are gone.
 */
export async function copyPrefix(
  prefix: Prefix,
  target: Store
): Promise<{
  readonly commits: number
  readonly receipts: number
  readonly lostCommits: number
}> {
  const { store, keys, commits } = prefix
  const batch = new PutBatch(target)
  const fold = new PrefixFold(prefix)
  let kept = 0
  for await (const [key, value] of commitsOf(prefix, commits)) {
    kept += 1
    await batch.put(key, value)
    for (const hash of fold.addRecord(key, value)) {
      const blob = store.get(keys.blob(hash))
      if (blob !== undefined) await batch.put(keys.blob(hash), blob)
    }
  }
  for (const key of fold.keys()) {
    const storeKey = keys.state(key)
    const value = fold.valueOf(key)
    if (value === undefined) throw corrupt(storeKey, 'its value is withheld')
    await batch.put(storeKey, wrapValue(storeKey, value))
  }
  const head = headIn(store, keys)
  await batch.put(keys.head, wrapValue(keys.head, encodeHead(fold.head(kept, head.epoch + 1))))
  await batch.flush()
  const left = await count(store.entries({ ...keys.allCommits(), gte: keys.commit(kept) }))
  const lostCommits = Math.max(left, head.seq - kept)
  return { commits: kept, receipts: fold.chainHead.receipts, lostCommits }
}

function commitsOf({ store, keys }: Prefix, commits: number): ReturnType<Store['entries']> {
  const { gte, lt } = keys.allCommits()
  return store.entries({ gte, lt: Number.isFinite(commits) ? keys.commit(commits) : lt })
}

async function count(entries: AsyncIterable<unknown>): Promise<number> {
  let counted = 0
  for await (const _ of entries) counted += 1
  return counted
}

/** A head that cannot be read may have had any epoch; commit records carry the writer's. */
function headIn(store: Store, keys: StoreKeys): Pick<Head, 'epoch' | 'seq'> {
  const value = store.get(keys.head)
  try {
    if (value === undefined) return { epoch: 0, seq: 0 }
    return parseHead(keys.head, unwrapText(keys.head, value))
  } catch {
    return { epoch: 2 ** 32, seq: 0 }
  }
}

/** Folds records that were verified already: state values, chain head and log. */
class PrefixFold {
  /** In which commit a value was written that records have no body of, by its key. */
  readonly withheld = new Map<string, number>()
  chainHead: ChainHead
  readonly #values = new Map<string, string>()
  readonly #prefix: Prefix
  readonly #cipher: SubjectCipher
  #frontier = LogFrontier.empty

  constructor(prefix: Prefix) {
    this.#prefix = prefix
    this.#cipher = new SubjectCipher(prefix.identity, prefix.subjects)
    this.chainHead = genesisHead(prefix.identity)
  }

  *keys(): Generator<string> {
    yield* this.#values.keys()
    yield* this.withheld.keys()
  }

  /** A value; undefined: the records have its hash alone, and the store another value. */
  valueOf(key: string): string | undefined {
    const { store, keys } = this.#prefix
    return this.#values.get(key) ?? this.#stored(key, store.get(keys.state(key)))
  }

  /** Gives the hashes of its large bodies. */
  addRecord(key: string, value: Uint8Array): readonly Hash[] {
    const { items } = parseRecord(key, unwrapValue(key, value))
    for (const item of items) this.#add(key, this.#cipher.open(key, item))
    return items.flatMap(({ largeBlobs }) => largeBlobs)
  }

  head(seq: number, epoch: number): Head {
    return headAfter({ epoch, seq, chainHead: this.chainHead, frontier: this.#frontier })
  }

  #add(key: string, item: RecordItem): void {
    const { store, keys, identity } = this.#prefix
    if (item.receipt !== undefined) {
      const { text, writeSet } = item.receipt
      const receipt = JSON.parse(text) as Receipt
      const changes = parseWriteSet(writeSet)
      if (changes === undefined) throw corrupt(key, 'a write set is malformed')
      this.#change(changes, new ItemBodies(store, keys, item), keys.commitSeq(key))
      const publicKey = isRotation(receipt) ? rotatedKey(identity, receipt) : undefined
      this.chainHead = {
        publicKey: publicKey ?? this.chainHead.publicKey,
        receipts: this.chainHead.receipts + 1,
        receiptHash: receipt.receiptHash,
        executionRoot: receipt.nextStateRoot,
        ...applyWriteSet(this.chainHead, changes)
      }
      this.#frontier = this.#frontier.append(leafHash(text))
    }
    if (item.evidence !== undefined) {
      this.#frontier = this.#frontier.append(leafHash(item.evidence))
    }
  }

  #change(changes: readonly StoredChange[], bodies: ItemBodies, seq: number): void {
    for (const { key, text, after } of changes) {
      const value = text === undefined && after !== undefined ? bodies.resolve(after) : text
      this.#values.delete(key)
      this.withheld.delete(key)
      if (value === undefined) this.withheld.set(key, seq)
      else if (value !== null) this.#values.set(key, value)
    }
  }

  #stored(key: string, value: Uint8Array | undefined): string | undefined {
    const signed = this.chainHead.tree.get(hashKey(key))
    if (value === undefined || signed === undefined) return undefined
    try {
      const text = unwrapText(this.#prefix.keys.state(key), value)
      return hashValue(text).equals(signed) ? text : undefined
    } catch (error) {
      if (isTallyError(error, 'ledger.corrupt')) return undefined
      throw error
    }
  }
}

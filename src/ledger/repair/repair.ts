import { type IdentityId, TallyError } from '../../core/index.js'
import { sourceStore } from '../archive/asked.js'
import { type ChainHead, genesisHead, headRootOf } from '../chain/chain-head.js'
import { isRotation, rotatedKey } from '../chain/keys-in-force.js'
import { applyWriteSet, parseWriteSet, type StoredChange } from '../chain/stored-write-set.js'
import { unwrapText, unwrapValue, wrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { LogFrontier, leafHash } from '../log/index.js'
import { removeDerived } from '../open/derived-records.js'
import { copyOthers } from '../other-identities.js'
import { PutBatch } from '../put-batch.js'
import { ItemBodies } from '../read/bodies.js'
import type { Receipt } from '../receipt/receipt.js'
import { encodeHead, type Head, parseHead } from '../record/head.js'
import { corrupt, parseRecord, type RecordItem } from '../record/record.js'
import type { Store } from '../stores/port.js'
import { SubjectCipher } from '../subject/cipher.js'
import type { SubjectKeys } from '../subject/subject-keys.js'
import { VerificationKey } from '../verify/key.js'
import type { GivenNote, VerificationReport } from '../verify/report.js'
import { verifyLedger } from '../verify/verify.js'

export interface RepairOptions {
  /** The damaged store; only its derived records are ever changed. */
  readonly store: Store
  readonly identity: IdentityId
  /** Notes from outside, as for a verification. */
  readonly notes?: readonly GivenNote[]
  /** Where it is known, what is kept holds no forged journal of an open run. */
  readonly blobKey?: Uint8Array | undefined
  /** Opens what is under keys of subjects. */
  readonly subjects?: SubjectKeys | undefined
  /** The store holds what a damaged database still had: it is made again, whatever it says. */
  readonly isSalvaged?: boolean
  /** Paths of all archives of the ledger: what is kept has their history, and none is archived. */
  readonly archives?: readonly string[]
  /**
   * Allows the chain to be cut: an empty store, which gets the longest verified prefix and all
   * other identities byte for byte. The caller then switches the location to it (L9) and keeps the
   * old one.
   */
  readonly target?: Store
  /** Continues although a note from outside proves that records beyond the prefix existed. */
  readonly acknowledgeNotes?: boolean
}

export type RepairOutcome =
  /** Everything verifies; open the ledger again. */
  | { readonly kind: 'clean'; readonly report: VerificationReport }
  /** Only derived records were wrong; they are removed and made again by the next open. */
  | { readonly kind: 'derived'; readonly report: VerificationReport }
  /** The target holds the verified prefix; with archives it may be all there was. */
  | {
      readonly kind: 'cut'
      readonly report: VerificationReport
      readonly commits: number
      readonly receipts: number
      /** Commit records left behind in the old store, or that its head has and that are gone. */
      readonly lostCommits: number
    }

/**
 * Gets a ledger out of safe mode (K2): by a clean full verification, by making derived records
 * again, or, where a target is given, by keeping the longest verified prefix. A ledger of which
 * history is archived is only made again in a target, of what it and its archives have.
 * Throws `archive.*`, and `ledger.not_recoverable` when something would be lost that was not
 * acknowledged.
 */
export async function repairLedger(options: RepairOptions): Promise<RepairOutcome> {
  const { store, identity, notes = [], target, blobKey, subjects } = options
  const { archives = [], isSalvaged = false } = options
  const key = blobKey && new VerificationKey(blobKey)
  const given = { identity, notes, key, subjects }
  const report = await verifyLedger({ store, ...given })
  const { failure } = report
  const keys = new StoreKeys(identity)
  if (failure === undefined && !isSalvaged) return { kind: 'clean', report }
  const at = failure === undefined ? 'its database' : `receipt ${failure.index}, ${failure.field}`
  if (archives.length === 0 && (await hasArchived(store, keys))) {
    throw refused(`${at} is wrong, and history is archived: ${withArchives}`)
  }
  if (archives.length === 0 && !isSalvaged && isOfDerived(failure, keys)) {
    await removeDerived(store, keys, { checkpoints: true })
    return { kind: 'derived', report }
  }
  if (target === undefined) throw refused(`verification failed at ${at}`)
  const source = await sourceStore(store, identity, archives)
  const kept = await verifyLedger({ store: source, ...given })
  checkNotes(kept, notes, options.acknowledgeNotes ?? false)
  const commits = kept.failure?.commit ?? Number.POSITIVE_INFINITY
  const prefix = await copyPrefix({ store: source, target, keys, identity, subjects, commits })
  await copyOthers(store, target, keys)
  return { kind: 'cut', report: kept, ...prefix }
}

function isOfDerived(failure: VerificationReport['failure'], keys: StoreKeys): boolean {
  const { field = '', key = '' } = failure ?? {}
  return field.startsWith('derived') || (field === 'store' && keys.isDerived(key))
}

const withArchives =
  'give all archives, to make the ledger again in a new directory (--cut --archive FILE)'

function refused(problem: string): TallyError {
  return new TallyError('ledger.not_recoverable', { problem })
}

/** Whether history is archived; where the record of it is lost, those of archived runs say so. */
async function hasArchived(store: Store, keys: StoreKeys): Promise<boolean> {
  if (store.get(keys.archived) !== undefined) return true
  for (const range of [keys.archivedRuns(), keys.archivedRunsPages()]) {
    for await (const _ of store.entries(range)) return true
  }
  return false
}

function checkNotes(
  report: VerificationReport,
  notes: readonly GivenNote[],
  acknowledged: boolean
): void {
  if (acknowledged || notes.length === 0) return
  const covered = report.anchored.notes.filter(({ ok }) => ok).length
  if (covered === notes.length) return
  throw refused(`${notes.length - covered} notes are not covered by what would be kept`)
}

/**
 * Copies the first commits with their blobs, then writes state and head as they were after them.
 */
async function copyPrefix(options: {
  readonly store: Store
  readonly target: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly subjects: SubjectKeys | undefined
  readonly commits: number
}): Promise<{
  readonly commits: number
  readonly receipts: number
  readonly lostCommits: number
}> {
  const { store, target, keys, identity, subjects, commits } = options
  const cipher = new SubjectCipher(identity, subjects)
  const batch = new PutBatch(target)
  const fold = new PrefixFold(store, keys, identity)
  let [kept, lostCommits] = [0, 0]
  for await (const [key, value] of store.entries(keys.allCommits())) {
    if (keys.commitSeq(key) >= commits) {
      lostCommits += 1
      continue
    }
    kept += 1
    await batch.put(key, value)
    for (const item of parseRecord(key, unwrapValue(key, value)).items) {
      fold.add(key, cipher.open(key, item))
      for (const hash of item.largeBlobs) {
        const blob = store.get(keys.blob(hash))
        if (blob !== undefined) await batch.put(keys.blob(hash), blob)
      }
    }
  }
  for (const [key, text] of fold.values) {
    const storeKey = keys.state(key)
    await batch.put(storeKey, wrapValue(storeKey, text))
  }
  const head = headIn(store, keys)
  await batch.put(keys.head, wrapValue(keys.head, encodeHead(fold.head(kept, head.epoch + 1))))
  await batch.flush()
  const lost = Math.max(lostCommits, head.seq - kept)
  return { commits: kept, receipts: fold.chainHead.receipts, lostCommits: lost }
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
  readonly values = new Map<string, string>()
  chainHead: ChainHead
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #identity: IdentityId
  #frontier = LogFrontier.empty

  constructor(store: Store, keys: StoreKeys, identity: IdentityId) {
    this.#store = store
    this.#keys = keys
    this.#identity = identity
    this.chainHead = genesisHead(identity)
  }

  add(key: string, item: RecordItem): void {
    if (item.receipt !== undefined) {
      const { text, writeSet } = item.receipt
      const receipt = JSON.parse(text) as Receipt
      const changes = parseWriteSet(writeSet)
      if (changes === undefined) throw corrupt(key, 'a write set is malformed')
      this.#change(changes, new ItemBodies(this.#store, this.#keys, item))
      const publicKey = isRotation(receipt) ? rotatedKey(this.#identity, receipt) : undefined
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

  head(seq: number, epoch: number): Head {
    const { receiptHash, receipts, tree } = this.chainHead
    return {
      epoch,
      headRoot: headRootOf(this.chainHead),
      logRoot: this.#frontier.root(),
      logSize: this.#frontier.size,
      receiptHash,
      receipts,
      seq,
      storageRoot: tree.root()
    }
  }

  #change(changes: readonly StoredChange[], bodies: ItemBodies): void {
    for (const { key, text, after } of changes) {
      const value = text === undefined && after !== undefined ? bodies.resolve(after) : text
      if (value === null) this.values.delete(key)
      else if (value !== undefined) this.values.set(key, value)
      else throw refused(`the value of ${key} is withheld`)
    }
  }
}

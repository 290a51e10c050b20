import {
  type Hash,
  isTallyError,
  ledgerError,
  type PublicKey,
  type RunId,
  sha256Hex
} from '../../core/index.js'
import { wrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { ChainScan } from '../open/scan.js'
import { PutBatch } from '../put-batch.js'
import { encodeHead } from '../record/head.js'
import { parseRecord } from '../record/record.js'
import type { Store } from '../stores/port.js'
import { type GivenNote, noNoteGiven, type VerificationReport } from '../verify/report.js'
import { verifyLedger } from '../verify/verify.js'
import { watchedStore } from '../verify/watched-store.js'
import type { SnapshotLine } from './format.js'
import { History, type SnapshotRelation } from './history.js'
import { OpenRuns } from './open-runs.js'
import type { SnapshotReader } from './read.js'

export interface BuiltSnapshot {
  /** How it stands to the ledger that is there, as that is now. Throws `snapshot.diverges`. */
  relation(): Promise<SnapshotRelation>
  readonly report: VerificationReport
  readonly openRuns: readonly RunId[]
}

/**
 * How far an import is: lines of the snapshot that were taken in, then commits that were verified.
 */
export interface ImportProgress {
  readonly phase: 'reading' | 'verifying'
  readonly done: number
  readonly total: number
}

/** Called often: with each line, and each commit. */
export type OnImportProgress = (progress: ImportProgress) => void

/**
 * Builds a ledger in an empty store from a snapshot, and verifies all of it: every record, the
 * state, the head root, the notes. The ledger that is there is only read.
 * Throws `snapshot.malformed`, `snapshot.not_verified`, `snapshot.diverges`.
 */
export async function buildFromSnapshot(options: {
  readonly snapshot: SnapshotReader
  readonly target: Store
  /** The ledger that the snapshot is to take the place of. */
  readonly existing: Store | undefined
  readonly notes: readonly GivenNote[]
  /** Asked between lines; throws when the work is not wanted any more. */
  readonly goOn?: (() => void) | undefined
  readonly onProgress?: OnImportProgress | undefined
}): Promise<BuiltSnapshot> {
  const { snapshot, target, existing, goOn, onProgress } = options
  const { identity } = snapshot.header
  const history = await History.of(existing, new StoreKeys(identity), identity)
  const filling = new Filling(snapshot, target, history)
  const { counts } = snapshot.header
  const lines = counts.commits + counts.stateEntries + counts.blobs + counts.openRuns
  let read = 0
  for await (const line of snapshot.body()) {
    goOn?.()
    await filling.add(line)
    read += 1
    onProgress?.({ phase: 'reading', done: read, total: lines })
  }
  const openRuns = await filling.finish()
  const { commits } = counts
  // What cannot take its place need not be verified.
  history.relation(commits)
  await history.check(identity, commits)
  const { note } = snapshot.footer
  const own = note === null ? [] : [{ source: `the footer of ${snapshot.path}`, text: note }]
  const notes = [...own, ...options.notes]
  let verifiedCommits = 0
  const store = watchedStore(target, identity, () => {
    verifiedCommits += 1
    const done = Math.min(verifiedCommits, commits)
    onProgress?.({ phase: 'verifying', done, total: commits })
  })
  const verified = await verifyLedger({ store, identity, notes })
  // The program that made the file wrote the footer's note, so it is no note from outside.
  const without = options.notes.length === 0 ? [noNoteGiven] : []
  const report = { ...verified, notChecked: [...verified.notChecked, ...without] }
  const problem = problemIn(report)
  const relation = () => history.again(target, commits)
  if (problem === undefined) return { relation, report, openRuns }
  throw ledgerError('snapshot.not_verified', { path: snapshot.path, problem })
}

/** Takes lines in, each checked as far as it can be alone. */
class Filling {
  readonly #snapshot: SnapshotReader
  readonly #keys: StoreKeys
  readonly #batch: PutBatch
  readonly #history: History
  readonly #scan: ChainScan
  readonly #publicKeys: PublicKey[]
  readonly #open = new OpenRuns()
  readonly #listed: string[] = []
  /** Hashes of bodies that records say are values of their own, and that did not come yet. */
  readonly #named = new Set<Hash>()
  #lastKey: Buffer | undefined

  constructor(snapshot: SnapshotReader, target: Store, history: History) {
    const { identity } = snapshot.header
    this.#snapshot = snapshot
    this.#keys = new StoreKeys(identity)
    this.#batch = new PutBatch(target)
    this.#history = history
    this.#scan = new ChainScan(identity)
    this.#publicKeys = [this.#scan.chain.publicKey]
  }

  async add(line: SnapshotLine): Promise<void> {
    switch (line.kind) {
      case 'commits':
        return this.#commit(line.text)
      case 'stateEntries':
        return this.#stateEntry(line.key, line.text)
      case 'blobs':
        return this.#blob(line.text)
      case 'openRuns':
        this.#listed.push(JSON.stringify([line.runId, line.status]))
    }
  }

  /** Writes the head; gives the runs that have not ended. */
  async finish(): Promise<readonly RunId[]> {
    const { header } = this.#snapshot
    const open = this.#open.list()
    if (open.map((run) => JSON.stringify(run)).join() !== this.#listed.join()) {
      this.#snapshot.refuse('the open runs that are listed are not those of the records')
    }
    if (this.#publicKeys.join() !== header.publicKeys.join()) {
      this.#snapshot.refuse('the keys of the header are not those of the records')
    }
    const { head } = this.#keys
    await this.#put(head, encodeHead(header.head))
    await this.#batch.flush()
    return open.map(([runId]) => runId)
  }

  async #commit(text: string): Promise<void> {
    const { seq } = this.#scan.chain
    const key = this.#keys.commit(seq)
    try {
      const body = Buffer.from(text)
      this.#scan.next(key, body)
      for (const item of parseRecord(key, body).items) {
        this.#open.add(item)
        for (const hash of item.largeBlobs) this.#named.add(hash)
      }
    } catch (error) {
      // What a record says is not plain JSON either, now and then.
      if (!isTallyError(error) && !(error instanceof SyntaxError)) throw error
      this.#snapshot.refuse(isTallyError(error) ? String(error.message) : 'it is no JSON')
    }
    const { publicKey } = this.#scan.chain
    if (publicKey !== this.#publicKeys.at(-1)) this.#publicKeys.push(publicKey)
    this.#history.compare(seq, text)
    await this.#put(key, text)
  }

  async #stateEntry(key: string, text: string): Promise<void> {
    const bytes = Buffer.from(key)
    if (this.#lastKey !== undefined && Buffer.compare(this.#lastKey, bytes) >= 0) {
      this.#snapshot.refuse('the keys of the state do not ascend')
    }
    this.#lastKey = bytes
    await this.#put(this.#keys.state(key), text)
  }

  async #blob(text: string): Promise<void> {
    const hash = sha256Hex(text)
    if (!this.#named.delete(hash)) this.#snapshot.refuse('no record names it, or it came before')
    await this.#put(this.#keys.blob(hash), text)
  }

  #put(key: string, text: string): Promise<void> {
    return this.#batch.put(key, wrapValue(key, text))
  }
}

function problemIn({ failure, anchored }: VerificationReport): string | undefined {
  if (failure !== undefined) {
    const { index, field, signed, computed } = failure
    return `receipt ${index}, ${field}: signed ${signed}, computed ${computed}`
  }
  const bad = anchored.notes.find(({ ok }) => !ok)
  return bad === undefined ? undefined : `${bad.source}: ${bad.problem ?? 'it does not hold'}`
}

import {
  type Hash,
  isTallyError,
  ledgerError,
  type PublicKey,
  sha256Hex
} from '../../core/index.js'
import { publicKeyBytes, verify } from '../../identity/index.js'
import { parseWriteSet } from '../chain/stored-write-set.js'
import { wrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { parseEvidence, parseReceipt } from '../receipt/parse.js'
import type { Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'
import { openMemoryStore } from '../stores/memory.js'
import type { Store } from '../stores/port.js'
import type { ReadItem } from '../subject/cipher.js'
import { ClosedRuns } from '../verify/closed-runs.js'
import { CheckedBodies } from '../verify/item-bodies.js'
import { JournalHashes, signedJournal } from '../verify/journal-hashes.js'
import { different } from '../verify/receipt-check.js'
import { RunCheck } from '../verify/run-check.js'
import { SignatureWindow } from '../verify/signature-window.js'
import type { ArchiveReport } from './archiving-api.js'
import { isSameBoundary, keysAt } from './boundary.js'
import { archiveMessage } from './format.js'
import { ArchiveReader } from './read.js'
import { BoundaryWalk } from './walk.js'

/** A problem that was found, thrown on the way. */
class Found extends Error {}

/**
 * Checks an archive alone: form, declared counts, hash and signature of the file; the chain from
 * where it begins to where it ends, with every link, hash and signature; the log; bodies; and the
 * journals of runs that began in it. Throws `archive.unreadable`, `archive.malformed`,
 * `archive.unknown_version`, `archive.not_verified`.
 */
export async function checkArchive(
  path: string,
  onCommit?: (done: number, total: number) => void
): Promise<ArchiveReport> {
  const reader = await ArchiveReader.open(path)
  let calledOff: unknown
  const told = (done: number, total: number) => {
    try {
      onCommit?.(done, total)
    } catch (error) {
      calledOff = error
      throw error
    }
  }
  try {
    const check = new ArchiveCheck(reader, told)
    return await check.run().finally(() => check.signatures.close())
  } catch (error) {
    // The caller's own, which says nothing of the archive.
    if (calledOff !== undefined) throw calledOff
    const isOfArchive = isTallyError(error) && error.code.startsWith('archive.')
    const isMet = error instanceof Found || isTallyError(error) || error instanceof SyntaxError
    if (isOfArchive || !isMet) throw error
    throw ledgerError('archive.not_verified', { path, problem: error.message })
  } finally {
    reader.close()
  }
}

class ArchiveCheck {
  readonly #reader: ArchiveReader
  readonly #keys: StoreKeys
  readonly #walk: BoundaryWalk
  readonly signatures = new SignatureWindow<string>()
  readonly #runs: RunCheck
  readonly #journals = new JournalHashes(undefined)
  /** Runs of which the beginning stands in an earlier archive. */
  readonly #begunBefore = new Set<string>()
  readonly #blobs: { readonly hash: Hash; readonly text: string }[] = []
  /** Keys that were in force so far, and the rotations that led to them. */
  #inForce: { readonly rotations: readonly string[]; readonly keys: ReadonlySet<PublicKey> }
  /** An archive is checked by whoever has it: keys of subjects are elsewhere. */
  readonly #closed: ClosedRuns
  #evidence = 0
  #withheld = 0

  constructor(
    reader: ArchiveReader,
    readonly onCommit: (done: number, total: number) => void
  ) {
    const { identity, from } = reader.header
    const keys = keysAt(identity, from.rotations)
    const publicKey = keys?.at(-1)
    if (publicKey === undefined) throw new Found('the keys before it are not proved')
    this.#inForce = { rotations: from.rotations, keys: new Set(keys) }
    this.#reader = reader
    this.#keys = new StoreKeys(identity)
    this.#walk = new BoundaryWalk(identity, from, publicKey)
    this.#runs = new RunCheck(identity)
    this.#closed = new ClosedRuns(identity)
  }

  async run(): Promise<ArchiveReport> {
    const { header, path } = this.#reader
    const { identity, from, to, bytes } = header
    for await (const line of this.#reader.body()) {
      if (line.kind === 'commit') {
        await this.#commit(line.text)
        this.onCommit(this.#walk.boundary.commits - from.commits, to.commits - from.commits)
      } else this.#blobs.push({ hash: sha256Hex(line.text), text: line.text })
    }
    if (this.#blobs.length > 0) throw new Found('a body stands behind the last commit')
    const bad = await this.signatures.finish()
    if (bad !== undefined) throw new Found(bad)
    if (!isSameBoundary(this.#walk.boundary, to)) {
      throw new Found('it ends at another place than it says')
    }
    const { footer } = this.#reader
    this.#checkFooter()
    return {
      path,
      identity,
      from,
      to,
      commits: to.commits - from.commits,
      receipts: to.receipts - from.receipts,
      evidence: this.#evidence,
      signatures: this.signatures.checked,
      sha256: footer.sha256,
      bytes,
      notChecked: this.#notChecked()
    }
  }

  #notChecked(): readonly string[] {
    const said = ['state roots, seeds and unit ids: give it to a verification of its ledger']
    if (this.#withheld > 0) said.push(`${this.#withheld} bodies withheld`)
    said.push(...this.#closed.notChecked())
    const before = this.#begunBefore.size
    if (before > 0) said.push(`journals of ${before} runs that began in an earlier archive`)
    return said
  }

  #checkFooter(): void {
    const { header, footer } = this.#reader
    const { identity, to } = header
    const keys = keysAt(identity, [...to.rotations, ...footer.rotations])
    if (keys?.at(-1) !== footer.publicKey) throw new Found('its signer is no key of the identity')
    const message = archiveMessage(identity, footer.sha256)
    const signature = Buffer.from(footer.signature, 'hex')
    if (!verify(signature, message, publicKeyBytes(footer.publicKey))) {
      throw new Found('its signature does not hold')
    }
  }

  async #commit(text: string): Promise<void> {
    const key = this.#keys.commit(this.#walk.boundary.commits)
    const items = this.#walk.next(key, Buffer.from(text))
    const store = await this.#blobStore(items)
    for (const item of items) await this.#item(this.#closed.open(key, item), store)
  }

  /** The bodies before a commit, each named by it. */
  async #blobStore(items: readonly RecordItem[]): Promise<Store> {
    const store = openMemoryStore()
    const named = new Set(items.flatMap(({ largeBlobs }) => largeBlobs))
    const puts = this.#blobs.splice(0).map(({ hash, text }) => {
      if (!named.has(hash)) throw new Found('a body stands before a commit that does not name it')
      const key = this.#keys.blob(hash)
      return [key, wrapValue(key, text)] as const
    })
    if (puts.length > 0) await store.commit([{ puts, deletes: [] }])
    return store
  }

  async #item(item: ReadItem, store: Store): Promise<void> {
    const { commits: commit, receipts: index } = this.#walk.boundary
    const bodies = new CheckedBodies(store, this.#keys, item)
    const isWhole = this.#hasBegun(item)
    const kinds = isWhole ? this.#entries(item) : []
    const lines = isWhole ? this.#journals.take(item, kinds, { commit, index }) : undefined
    const { receipt: stored, evidence } = item
    const resultText = stored && bodies.resolve(stored.result)
    if (stored !== undefined) {
      const parsed = parseReceipt(stored.text)
      if (!parsed.ok) throw new Found(`${parsed.problem.field} of a receipt is malformed`)
      const { record, inputHash } = parsed
      this.#require(
        different('inputHash', record.inputHash, inputHash) ??
          different('resultHash', record.resultHash, sha256Hex(stored.result)) ??
          different('identity', record.identity, this.#reader.header.identity) ??
          lines?.problem(signedJournal(record))
      )
      const { payload, raw } = record.inputPayload
      bodies.checkValue(payload)
      if (raw !== undefined) bodies.checkValue(raw as never)
      this.#writes(stored.writeSet, bodies)
      await this.#signed(record.receiptHash, record)
    }
    const said = evidence === undefined ? undefined : await this.#evidenceOf(evidence, bodies)
    const beside = { hasReceipt: stored !== undefined, resultText, evidence: said }
    this.#require(lines?.endProblem(beside) ?? bodies.problem())
    this.#withheld += bodies.withheld
  }

  #writes(writeSet: string, bodies: CheckedBodies): void {
    const changes = parseWriteSet(writeSet)
    if (changes === undefined) throw new Found('a write set is malformed')
    for (const { after, text } of changes) {
      if (text === undefined && after !== undefined) bodies.resolve(after)
    }
  }

  async #evidenceOf(text: string, bodies: CheckedBodies) {
    const parsed = parseEvidence(text)
    if (!parsed.ok) throw new Found(`${parsed.problem.field} of evidence is malformed`)
    const { record, computedHash, textOf } = parsed
    this.#require(different('evidenceHash', record.evidenceHash, computedHash))
    this.#evidence += 1
    bodies.checkValue(record.inputPayload.payload)
    await this.#signed(record.evidenceHash, record)
    return { code: record.code, details: bodies.resolveValue(record.details, textOf) }
  }

  /** Whether the journal of an item's run is in this archive from its first entry on. */
  #hasBegun({ runId, entries }: RecordItem): boolean {
    if (this.#begunBefore.has(runId)) return false
    const [first] = entries
    if (first === undefined) return true
    const { n } = JSON.parse(first) as { readonly n?: unknown }
    const { runs } = this.#runs
    if (runs.next(runs.row(runId)) > 0 || n === 0) return true
    if (this.#reader.header.from.commits === 0) throw new Found(`run ${runId} has no beginning`)
    this.#begunBefore.add(runId)
    return false
  }

  #entries(item: ReadItem): readonly string[] {
    const { runId, entries } = item
    return entries.map((text) => {
      const checked = this.#runs.add(runId, text, undefined)
      if (checked.ok) {
        this.#closed.met(item, checked.kind)
        return checked.kind
      }
      const { field, signed, computed } = checked.problem
      throw new Found(`${field} of run ${runId}: ${signed} and ${computed}`)
    })
  }

  async #signed(
    hash: string,
    { signature, publicKey }: Pick<Receipt, 'signature' | 'publicKey'>
  ): Promise<void> {
    const { rotations } = this.#walk.boundary
    if (rotations !== this.#inForce.rotations) {
      const keys = new Set(keysAt(this.#reader.header.identity, rotations))
      this.#inForce = { rotations, keys }
    }
    if (!this.#inForce.keys.has(publicKey)) throw new Found('a record is signed by another key')
    const place = `the signature of ${hash} does not hold`
    const bad = await this.signatures.add(place, { signature, hash, publicKey })
    if (bad !== undefined) throw new Found(bad)
  }

  #require(problem: ReturnType<typeof different>): void {
    if (problem === undefined) return
    throw new Found(`${problem.field}: signed ${problem.signed}, computed ${problem.computed}`)
  }
}

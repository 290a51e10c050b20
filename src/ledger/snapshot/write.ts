import { createHash } from 'node:crypto'
import type { Hash, IdentityId } from '../../core/index.js'
import type { Store } from '../stores/port.js'
import { SnapshotContents } from './contents.js'
import { encodeFooter, encodeHeader, type SnapshotHeader } from './format.js'
import { createWhole } from './whole-file.js'

/** The snapshot that was written. */
export interface SnapshotReport {
  readonly path: string
  readonly identity: IdentityId
  readonly receipts: number
  readonly commits: number
  readonly openRuns: number
  readonly headRoot: Hash
  /** Of everything before the footer, before it is packed. */
  readonly bytes: number
  readonly sha256: Hash
  /** Whether it ends with a signed note. */
  readonly isNoted: boolean
}

/**
 * Writes a snapshot of one identity, packed with gzip when the name ends in `.gz`. The file appears
 * whole or not at all, and replaces none: written under another name, fsync, link. Needs memory for
 * the largest line and the ids of runs that have not ended.
 * Throws `snapshot.unwritable`, `ledger.corrupt`.
 */
export async function writeSnapshot(options: {
  readonly store: Store
  readonly identity: IdentityId
  readonly path: string
  /** Made just before; null where there is no key. */
  readonly note: string | null
  /** Called with each line: how many there were so far, and how many there will be. */
  readonly onLine?: ((done: number, total: number) => void) | undefined
}): Promise<SnapshotReport> {
  const { path, note, onLine = () => undefined } = options
  const contents = await SnapshotContents.take(options.store, options.identity)
  try {
    const header = await contents.header()
    const written = new SnapshotText(header, contents, { note, onLine })
    await createWhole(path, () => written.chunks(), 'snapshot')
    const { head, identity, counts } = header
    return {
      path,
      identity,
      receipts: head.receipts,
      commits: counts.commits,
      openRuns: counts.openRuns,
      headRoot: head.headRoot,
      bytes: written.bytes,
      sha256: written.sha256(),
      isNoted: note !== null
    }
  } finally {
    await contents.close()
  }
}

const CHUNK_LENGTH = 256 * 1024

/** The text of a snapshot in pieces, hashed as it goes by. */
class SnapshotText {
  bytes = 0
  readonly #hash = createHash('sha256')
  #sha256: Hash | undefined

  constructor(
    readonly header: SnapshotHeader,
    readonly contents: SnapshotContents,
    readonly rest: {
      readonly note: string | null
      readonly onLine: (done: number, total: number) => void
    }
  ) {}

  async *chunks(): AsyncGenerator<Buffer> {
    let waiting = `${encodeHeader(this.header)}\n`
    const { note, onLine } = this.rest
    const { commits, stateEntries, blobs, openRuns } = this.header.counts
    const total = commits + stateEntries + blobs + openRuns
    let done = 0
    for await (const line of this.contents.lines()) {
      done += 1
      onLine(done, total)
      waiting += `${line}\n`
      if (waiting.length < CHUNK_LENGTH) continue
      yield this.#hashed(waiting)
      waiting = ''
    }
    yield this.#hashed(waiting)
    yield Buffer.from(`${encodeFooter({ note, sha256: this.sha256() })}\n`)
  }

  /** Once everything before the footer went by. */
  sha256(): Hash {
    this.#sha256 ??= this.#hash.digest('hex') as Hash
    return this.#sha256
  }

  #hashed(text: string): Buffer {
    const chunk = Buffer.from(text)
    this.#hash.update(chunk)
    this.bytes += chunk.length
    return chunk
  }
}

import { createHash } from 'node:crypto'
import { type FileHandle, link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import {
  errorNumber,
  type Hash,
  type IdentityId,
  isTallyError,
  systemRandom,
  TallyError
} from '../../core/index.js'
import { syncDirectory } from '../location/durable-file.js'
import type { Store } from '../stores/port.js'
import { SnapshotContents } from './contents.js'
import { encodeFooter, encodeHeader, type SnapshotHeader } from './format.js'

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
 * Throws `snapshot.unwritable`, `ledger.corrupt`, `ledger.identity_missing`.
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
    await createWhole(path, written)
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

async function createWhole(path: string, written: SnapshotText): Promise<void> {
  const temporary = `${path}.${systemRandom.uuid()}.part`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await fill(file, path, written)
      await file.sync()
    } finally {
      await file.close()
    }
    // A rename would replace what is there.
    await link(temporary, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    if (isTallyError(error)) throw error
    const problem = errorNumber(error) === 'EEXIST' ? 'it is there already' : messageOf(error)
    throw new TallyError('snapshot.unwritable', { path, problem }, { cause: error })
  } finally {
    await rm(temporary, { force: true })
  }
}

async function fill(file: FileHandle, path: string, written: SnapshotText): Promise<void> {
  const source = Readable.from(written.chunks(), { objectMode: false })
  const write = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await file.writeFile(chunk)
  }
  if (path.endsWith('.gz')) await pipeline(source, createGzip(), write)
  else await pipeline(source, write)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

import { createHash } from 'node:crypto'
import {
  coreError,
  type Hash,
  type IdentityId,
  limits,
  type PublicKey,
  type Signature
} from '../../core/index.js'
import { unwrapText, unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { corrupt } from '../record/record.js'
import { createWhole } from '../snapshot/whole-file.js'
import type { Store } from '../stores/port.js'
import type { Boundary } from './boundary.js'
import {
  type ArchiveHeader,
  archiveMessage,
  encodeArchiveFooter,
  encodeArchiveHeader,
  encodeArchiveLine
} from './format.js'
import { BoundaryWalk } from './walk.js'

export interface ArchiveParts {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly from: Boundary
  readonly to: Boundary
  /** In force at `from`. */
  readonly publicKey: PublicKey
  /** Key rotations behind `to`. */
  readonly rotations: readonly string[]
  readonly signer: {
    readonly publicKey: PublicKey
    sign(message: Uint8Array): Promise<Uint8Array> | Uint8Array
  }
  /** Called between commits; what it throws ends the work. */
  readonly onCommit?: ((done: number, total: number) => void) | undefined
}

const CHUNK_LENGTH = 256 * 1024

/**
 * Writes the commit records between two boundaries as a signed file, which appears whole or not at
 * all and replaces none. Gives the hash of what is before its footer: the archive's name. Throws
 * `archive.unwritable`, `ledger.corrupt`, `core.limit_exceeded`.
 */
export async function writeArchive(path: string, parts: ArchiveParts): Promise<Hash> {
  const header = await measured(parts)
  let sha256: Hash | undefined
  const chunks = async function* (): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    let waiting = `${encodeArchiveHeader(header)}\n`
    for await (const line of linesOf(parts)) {
      waiting += `${line}\n`
      if (waiting.length < CHUNK_LENGTH) continue
      const chunk = Buffer.from(waiting)
      hash.update(chunk)
      yield chunk
      waiting = ''
    }
    hash.update(waiting)
    yield Buffer.from(waiting)
    sha256 = hash.digest('hex') as Hash
    yield Buffer.from(`${await footerOf(parts, sha256)}\n`)
  }
  await createWhole(path, chunks, 'archive')
  if (sha256 === undefined) throw coreError('core.internal', { problem: 'nothing was hashed' })
  return sha256
}

async function footerOf(parts: ArchiveParts, sha256: Hash): Promise<string> {
  const { identity, signer, rotations } = parts
  const signed = await signer.sign(archiveMessage(identity, sha256))
  const signature = Buffer.from(signed).toString('hex') as Signature
  return encodeArchiveFooter({ publicKey: signer.publicKey, rotations, sha256, signature })
}

/** First pass: an archive begins with its counts, and ends where it was meant to. */
async function measured(parts: ArchiveParts): Promise<ArchiveHeader> {
  const { identity, from, to } = parts
  let [blobs, bytes, longestLine] = [0, 0, 0]
  for await (const line of linesOf({ ...parts, onCommit: undefined })) {
    const length = Buffer.byteLength(line)
    if (length > limits.SNAPSHOT_LINE_BYTES_MAX) {
      throw coreError('core.limit_exceeded', {
        what: 'line of an archive',
        limit: limits.SNAPSHOT_LINE_BYTES_MAX,
        actual: length
      })
    }
    if (line.startsWith('{"blob"')) blobs += 1
    bytes += length + 1
    longestLine = Math.max(longestLine, length)
  }
  return { identity, from, to, blobs, bytes, longestLine }
}

async function* linesOf(parts: ArchiveParts): AsyncGenerator<string> {
  const { store, keys, identity, from, to, onCommit } = parts
  const walk = new BoundaryWalk(identity, from, parts.publicKey)
  const total = to.commits - from.commits
  for await (const [key, value] of store.entries(keys.commits(from.commits, to.commits))) {
    const body = unwrapValue(key, value)
    for (const { largeBlobs } of walk.next(key, body)) {
      for (const hash of largeBlobs) {
        const blobKey = keys.blob(hash)
        const blob = store.get(blobKey)
        // One that was withheld or erased is not in the ledger either.
        if (blob === undefined) continue
        yield encodeArchiveLine({ kind: 'blob', text: unwrapText(blobKey, blob) })
      }
    }
    yield encodeArchiveLine({ kind: 'commit', text: body.toString() })
    onCommit?.(walk.boundary.commits - from.commits, total)
  }
  if (walk.boundary.commits !== to.commits) {
    throw corrupt(keys.commit(walk.boundary.commits), 'the commit record is missing')
  }
}

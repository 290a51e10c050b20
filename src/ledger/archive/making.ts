import { basename } from 'node:path'
import { coreError, ledgerError, nextTurn } from '../../core/index.js'
import { unwrapValue } from '../envelope.js'
import type { ArchiveEnd, ArchiveReport, OnArchiveProgress } from './archiving-api.js'
import type { ArchivingParts } from './archiving-parts.js'
import { type Boundary, isSameBoundary, keysAt } from './boundary.js'
import { checkArchive } from './check.js'
import { chosenEnd } from './choose.js'
import { type ArchivedHistory, type ArchiveEntry, entryHash } from './history.js'
import { BoundaryWalk } from './walk.js'
import { writeArchive } from './write.js'

const RECORDS_IN_TURN = 64

/** Where an archive from a boundary on would end. Throws `archive.nothing`. */
export async function archiveEnd(
  parts: ArchivingParts,
  from: Boundary,
  options: ArchiveEnd
): Promise<Boundary> {
  const { store, keys, identity } = parts
  const walk = walkFrom(parts, from)
  const end = await chosenEnd({ store, keys, walk, commits: parts.commits() }, options)
  if (end.commits > from.commits) return end
  const problem = `nothing of ${identity} that is not archived yet is old enough`
  throw ledgerError('archive.nothing', { problem })
}

/**
 * Writes an archive, reads it back and checks it, and gives the history that it would make. Throws
 * `archive.unwritable`, `archive.not_verified`, `ledger.corrupt`.
 */
export async function makeArchive(
  parts: ArchivingParts,
  made: {
    readonly path: string
    readonly from: Boundary
    readonly to: Boundary
    readonly earlier: readonly ArchiveEntry[]
    readonly onProgress?: OnArchiveProgress | undefined
  }
): Promise<{ readonly report: ArchiveReport; readonly history: ArchivedHistory }> {
  const { path, from, to, earlier, onProgress = () => undefined } = made
  const { store, keys, identity } = parts
  const { publicKey } = walkFrom(parts, from)
  const rotations = await rotationsBehind(parts, to)
  const sha256 = await writeArchive(path, {
    ...{ store, keys, identity, from, to, publicKey, rotations, signer: parts.signer() },
    onCommit: (done, total) => onProgress({ phase: 'writing', done, total })
  })
  const report = await checkArchive(path, (done, total) =>
    onProgress({ phase: 'checking', done, total })
  )
  if (report.sha256 !== sha256 || !isSameBoundary(report.to, to)) {
    throw ledgerError('archive.not_verified', { path, problem: 'it is not what was written' })
  }
  const last = earlier.at(-1)
  const entry = {
    bytes: report.bytes,
    commits: to.commits,
    file: basename(path),
    previous: last === undefined ? null : entryHash(last),
    receipts: to.receipts,
    sha256
  }
  return { report, history: { boundary: to, archives: [...earlier, entry], isSwept: false } }
}

function walkFrom({ identity }: ArchivingParts, boundary: Boundary): BoundaryWalk {
  const publicKey = keysAt(identity, boundary.rotations)?.at(-1)
  if (publicKey === undefined) {
    throw coreError('core.internal', { problem: 'a key rotation is not proved' })
  }
  return new BoundaryWalk(identity, boundary, publicKey)
}

/** Key rotations behind a boundary, which lead to the key that signs the archive. */
async function rotationsBehind(parts: ArchivingParts, to: Boundary): Promise<readonly string[]> {
  const { store, keys } = parts
  const walk = walkFrom(parts, to)
  let read = 0
  for await (const [key, value] of store.entries(keys.commitsFrom(to.commits))) {
    walk.next(key, unwrapValue(key, value))
    read += 1
    if (read % RECORDS_IN_TURN === 0) await nextTurn()
  }
  return walk.boundary.rotations.slice(to.rotations.length)
}

import type { ArchivedHistory } from '../archive/history.js'
import type { ArchivedPart, KeptPlace } from './report.js'

export function archivedPart({ boundary, archives }: ArchivedHistory): ArchivedPart {
  const { commits, receipts } = boundary
  return { commits, receipts, archives: archives.map(({ file, sha256 }) => ({ file, sha256 })) }
}

/** What a verification without the archives leaves out, in words. */
export function notCheckedOfArchives(
  { boundary, archives }: ArchivedHistory,
  { kept, seeds }: { readonly kept: number; readonly seeds: number }
): readonly string[] {
  const files = archives.length === 1 ? '1 archive' : `${archives.length} archives`
  const said = [
    `${boundary.receipts} receipts in ${boundary.commits} commits: archived in ${files}`
  ]
  if (kept > 0) {
    said.push(`${kept} archived commits that runs still need: what stands beside their journals`)
  }
  if (seeds > 0) said.push(`${seeds} seeds that rest on archived receipts`)
  return said
}

/**
 * Whether a ledger was closed last within history that is archived: then nothing can be compared.
 */
export function isBefore(kept: KeptPlace, archived: ArchivedHistory | undefined): boolean {
  return archived !== undefined && kept !== null && kept.receipts < archived.boundary.receipts
}

/** What a verification left out, in words. */
export function notCheckedIn(found: {
  readonly isReexecuted: boolean
  readonly withheld: number
  readonly closed: readonly string[]
  readonly archived: readonly string[]
  /** Log records after the last note from outside. */
  readonly notAnchored: number
  readonly more: readonly string[]
  readonly hasFailed: boolean
}): readonly string[] {
  const { isReexecuted, withheld, closed, archived, notAnchored, more, hasFailed } = found
  const said = isReexecuted ? [] : ['outputs: nothing was re-executed']
  if (withheld > 0) said.push(`${withheld} bodies withheld`)
  said.push(...closed)
  said.push(...archived)
  if (notAnchored > 0) said.push(`${notAnchored} log records after the last note from outside`)
  said.push(...more)
  if (hasFailed) said.push('everything after the failure')
  return said
}

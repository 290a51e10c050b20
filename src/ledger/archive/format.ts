/**
 * Archive file (docs/spec/archive.md): lines of JSON, written as JSON.stringify writes them:
 *
 *   {"format":"tally-archive","versions":{…},"identity":"…","from":{…},"to":{…},…}   header
 *   {"blob":"…"}                       a body that is a value of its own, before each commit that
 *                                      names it
 *   {"commit":"C{…}\nI\"run-1\"\n…"}   a commit record as stored; ascending, without gaps
 *   {"publicKey":"…","rotations":[…],"sha256":"…","signature":"…"}                   footer
 */

import {
  type Hash,
  type IdentityId,
  isHash,
  isIdentityId,
  isJsonObject,
  isPublicKey,
  isSignature,
  type Json,
  jsonIn,
  limits,
  type PublicKey,
  type Signature
} from '../../core/index.js'
import { RECEIPT_VERSION } from '../receipt/receipt.js'
import { RECORD_VERSION } from '../record/record.js'
import type { Parsed } from '../snapshot/format.js'
import { type Boundary, boundaryJson, parseBoundary } from './boundary.js'

const ARCHIVE_FORMAT = 'tally-archive'
const ARCHIVE_VERSION = 1

/** Versions of what an archive holds; one that this program does not know is refused. */
const archiveVersions = {
  archive: ARCHIVE_VERSION,
  receipt: RECEIPT_VERSION,
  record: RECORD_VERSION
} as const

export interface ArchiveHeader {
  readonly identity: IdentityId
  /** Where the chain stands before its first commit, and behind its last. */
  readonly from: Boundary
  readonly to: Boundary
  /** Bodies that are values of their own, each as often as it stands in the file. */
  readonly blobs: number
  /** Of the lines between header and footer, line breaks included, before they are packed. */
  readonly bytes: number
  /** Of the longest of them, without its line break. */
  readonly longestLine: number
}

export interface ArchiveFooter {
  /** That of the ledger when the archive was made. */
  readonly publicKey: PublicKey
  /** Stored texts of the key rotations behind `to` that lead to it. */
  readonly rotations: readonly string[]
  /** Of all bytes before the footer: the name of the archive. */
  readonly sha256: Hash
  readonly signature: Signature
}

export type ArchiveLine =
  | { readonly kind: 'commit'; readonly text: string }
  | { readonly kind: 'blob'; readonly text: string }

/** What the footer signs. */
export function archiveMessage(identity: IdentityId, sha256: Hash): Uint8Array {
  return Buffer.from(`tallystick/archive\n${identity}\n${sha256}\n`)
}

export function encodeArchiveHeader(header: ArchiveHeader): string {
  const { identity, from, to, blobs, bytes, longestLine } = header
  return JSON.stringify({
    format: ARCHIVE_FORMAT,
    versions: archiveVersions,
    identity,
    from: boundaryJson(from),
    to: boundaryJson(to),
    blobs,
    bytes,
    longestLine
  })
}

/** The first version in a header that this program does not know; undefined when there is none. */
export function unknownArchiveVersion(
  text: string
): { readonly part: string; readonly found: string; readonly known: number } | undefined {
  const value = jsonIn(text)
  if (!isJsonObject(value) || value['format'] !== ARCHIVE_FORMAT) return undefined
  const { versions = null } = value
  if (!isJsonObject(versions)) return undefined
  for (const [part, known] of Object.entries(archiveVersions)) {
    const found = versions[part] ?? null
    if (found === known) continue
    return { part, found: typeof found === 'number' ? `${found}` : 'unknown', known }
  }
  return undefined
}

/** Reads a header whose versions are known. */
export function parseArchiveHeader(text: string): Parsed<ArchiveHeader> {
  const value = jsonIn(text)
  if (!isJsonObject(value) || value['format'] !== ARCHIVE_FORMAT) {
    return malformed(`its format is not ${ARCHIVE_FORMAT}`)
  }
  const { identity, blobs, bytes, longestLine } = value
  const [from, to] = [parseBoundary(value['from']), parseBoundary(value['to'])]
  if (!isIdentityId(identity)) return malformed('its identity is none')
  if (from === undefined || to === undefined) return malformed('where it begins or ends is none')
  if (!isCount(blobs) || !isCount(bytes) || !isCount(longestLine)) {
    return malformed('a count is none')
  }
  if (bytes > limits.SNAPSHOT_BYTES_MAX) return malformed('it declares too many bytes')
  if (longestLine > limits.SNAPSHOT_LINE_BYTES_MAX) {
    return malformed('it declares a line that is too long')
  }
  if (to.commits <= from.commits) return malformed('it ends before it begins')
  const header = { identity, from, to, blobs, bytes, longestLine }
  if (encodeArchiveHeader(header) !== text) return malformed('its header is not as it is written')
  return { ok: true, value: header }
}

export function encodeArchiveLine({ kind, text }: ArchiveLine): string {
  return JSON.stringify({ [kind]: text })
}

/** Reads a line between header and footer. */
export function parseArchiveLine(text: string): Parsed<ArchiveLine> {
  const value = jsonIn(text)
  const { commit, blob } = isJsonObject(value) ? value : {}
  const line: ArchiveLine | undefined =
    typeof commit === 'string'
      ? { kind: 'commit', text: commit }
      : typeof blob === 'string'
        ? { kind: 'blob', text: blob }
        : undefined
  if (line === undefined) return malformed('it is of no known kind')
  if (encodeArchiveLine(line) !== text) return malformed('it is not written as such a line is')
  return { ok: true, value: line }
}

export function encodeArchiveFooter(footer: ArchiveFooter): string {
  const { publicKey, rotations, sha256, signature } = footer
  return JSON.stringify({ publicKey, rotations, sha256, signature })
}

export function parseArchiveFooter(text: string): Parsed<ArchiveFooter> {
  const value = jsonIn(text)
  const { publicKey, rotations, sha256, signature } = isJsonObject(value) ? value : {}
  if (!isPublicKey(publicKey) || !isHash(sha256) || !isSignature(signature)) {
    return malformed('it is no footer')
  }
  if (!Array.isArray(rotations)) return malformed('it is no footer')
  const texts = (rotations as readonly Json[]).filter((one) => typeof one === 'string')
  const footer = { publicKey, rotations: texts, sha256, signature }
  if (encodeArchiveFooter(footer) !== text) return malformed('it is not written as a footer is')
  return { ok: true, value: footer }
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function malformed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem }
}

/**
 * Snapshot file (formats.md §8, docs/spec/snapshot.md): lines of JSON, written as JSON.stringify
 * writes them, in this order:
 *
 *   {"format":"tally-snapshot","versions":{…},"identity":"…",…}   header
 *   {"commit":"C{…}\nI\"run-1\"\n…"}       a commit record as stored; as many as counted
 *   {"key":"wallet/…","state":"…"}          a state entry; ascending by the bytes of the keys
 *   {"blob":"…"}                            a body that is a value of its own; its name is its hash
 *   {"open":"run-1","status":"waiting"}     a run that has not ended; ascending
 *   {"note":"…","sha256":"…"}               footer: the hash of all bytes before it
 */

import {
  type Hash,
  type IdentityId,
  isHash,
  isIdentityId,
  isJsonObject,
  isPublicKey,
  isRunId,
  type Json,
  type JsonObject,
  jsonIn,
  limits,
  type PublicKey,
  type RunId
} from '../../core/index.js'
import { RECEIPT_VERSION } from '../receipt/receipt.js'
import { encodeHead, HEAD_VERSION, type Head, parseHead } from '../record/head.js'
import { RECORD_VERSION } from '../record/record.js'
import { CAPABILITY_VERSION, STATE_ROOT_VERSION } from '../state/index.js'

const SNAPSHOT_FORMAT = 'tally-snapshot'
const SNAPSHOT_VERSION = 1

/** Versions of what a snapshot holds; one that this program does not know is refused. */
export const snapshotVersions = {
  capability: CAPABILITY_VERSION,
  head: HEAD_VERSION,
  receipt: RECEIPT_VERSION,
  record: RECORD_VERSION,
  snapshot: SNAPSHOT_VERSION,
  stateRoot: STATE_ROOT_VERSION
} as const

export interface SnapshotHeader {
  readonly identity: IdentityId
  /** Keys that were in force, the identity's first one first. */
  readonly publicKeys: readonly PublicKey[]
  readonly counts: SnapshotCounts
  /** Of the lines between header and footer, line breaks included, before they are packed. */
  readonly bytes: number
  /** Of the longest of them, without its line break. */
  readonly longestLine: number
  readonly head: Head
}

export interface SnapshotCounts {
  readonly commits: number
  readonly stateEntries: number
  readonly blobs: number
  readonly openRuns: number
}

export type OpenStatus = 'running' | 'waiting'

export type SnapshotLine =
  | { readonly kind: 'commits'; readonly text: string }
  | { readonly kind: 'stateEntries'; readonly key: string; readonly text: string }
  | { readonly kind: 'blobs'; readonly text: string }
  | { readonly kind: 'openRuns'; readonly runId: RunId; readonly status: OpenStatus }

export interface SnapshotFooter {
  /** Signed note over the log when the export began; null where no key was at hand. */
  readonly note: string | null
  readonly sha256: Hash
}

/** What is read, or the reason why it is none. */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string }

export function encodeHeader(header: SnapshotHeader): string {
  const { identity, publicKeys, counts, bytes, longestLine, head } = header
  const { commits, stateEntries, blobs, openRuns } = counts
  return JSON.stringify({
    format: SNAPSHOT_FORMAT,
    versions: snapshotVersions,
    identity,
    publicKeys,
    counts: { commits, stateEntries, blobs, openRuns },
    bytes,
    longestLine,
    head: JSON.parse(encodeHead(head)) as Json
  })
}

/** The first version in a header that this program does not know; undefined when there is none. */
export function unknownVersion(
  text: string
): { readonly part: string; readonly found: string; readonly known: number } | undefined {
  const value = jsonIn(text)
  const versions = isJsonObject(value) ? (value['versions'] ?? null) : null
  if (!isJsonObject(value) || value['format'] !== SNAPSHOT_FORMAT) return undefined
  if (!isJsonObject(versions)) return undefined
  for (const [part, known] of Object.entries(snapshotVersions)) {
    const found = versions[part] ?? null
    if (found === known) continue
    return { part, found: typeof found === 'number' ? `${found}` : 'unknown', known }
  }
  return undefined
}

/** Reads a header whose versions are known. */
export function parseHeader(text: string): Parsed<SnapshotHeader> {
  const value = jsonIn(text)
  if (!isJsonObject(value) || value['format'] !== SNAPSHOT_FORMAT) {
    return malformed(`its format is not ${SNAPSHOT_FORMAT}`)
  }
  const { identity, publicKeys, counts = null, bytes, longestLine, head = null } = value
  if (!isIdentityId(identity)) return malformed('its identity is none')
  if (!Array.isArray(publicKeys) || !publicKeys.every(isPublicKey)) {
    return malformed('its public keys are none')
  }
  if (!isJsonObject(counts)) return malformed('it has no counts')
  const { commits, stateEntries, blobs, openRuns } = counts
  const numbers = [commits, stateEntries, blobs, openRuns, bytes, longestLine]
  if (!numbers.every(isCount)) return malformed('a count is none')
  if (Number(bytes) > limits.SNAPSHOT_BYTES_MAX) return malformed('it declares too many bytes')
  if (Number(longestLine) > limits.SNAPSHOT_LINE_BYTES_MAX) {
    return malformed('it declares a line that is too long')
  }
  const parsedHead = headIn(head)
  if (parsedHead === undefined) return malformed('its head is none')
  const header = { ...value, head: parsedHead } as unknown as SnapshotHeader
  if (encodeHeader(header) !== text) return malformed('its header is not as it is written')
  return { ok: true, value: header }
}

export function encodeLine(line: SnapshotLine): string {
  switch (line.kind) {
    case 'commits':
      return JSON.stringify({ commit: line.text })
    case 'stateEntries':
      return JSON.stringify({ key: line.key, state: line.text })
    case 'blobs':
      return JSON.stringify({ blob: line.text })
    case 'openRuns':
      return JSON.stringify({ open: line.runId, status: line.status })
  }
}

/** Reads a line of what a snapshot holds; a footer is none. */
export function parseLine(text: string): Parsed<SnapshotLine> {
  const value = jsonIn(text)
  const line = isJsonObject(value) ? lineOf(value) : undefined
  if (line === undefined) return malformed('it is of no known kind')
  if (encodeLine(line) !== text) return malformed('it is not written as such a line is')
  return { ok: true, value: line }
}

function lineOf(value: JsonObject): SnapshotLine | undefined {
  const { commit, key, state, blob, open, status } = value
  if (typeof commit === 'string') return { kind: 'commits', text: commit }
  if (typeof key === 'string' && typeof state === 'string') {
    return { kind: 'stateEntries', key, text: state }
  }
  if (typeof blob === 'string') return { kind: 'blobs', text: blob }
  if (isRunId(open) && (status === 'running' || status === 'waiting')) {
    return { kind: 'openRuns', runId: open, status }
  }
  return undefined
}

export function encodeFooter({ note, sha256 }: SnapshotFooter): string {
  return JSON.stringify({ note, sha256 })
}

export function parseFooter(text: string): Parsed<SnapshotFooter> {
  const value = jsonIn(text)
  const { note = null, sha256 = null } = isJsonObject(value) ? value : {}
  if ((note !== null && typeof note !== 'string') || !isHash(sha256)) {
    return malformed('it is no footer')
  }
  const footer = { note, sha256 }
  if (encodeFooter(footer) !== text) return malformed('it is not written as a footer is')
  return { ok: true, value: footer }
}

function headIn(value: Json): Head | undefined {
  try {
    return parseHead('head', JSON.stringify(value))
  } catch {
    return undefined
  }
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function malformed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem }
}

import {
  canonicalize,
  type Hash,
  type IdentityId,
  isHash,
  isJsonObject,
  type Json,
  type PublicKey
} from '../../core/index.js'
import { publicKeyBytes, verify } from '../../identity/index.js'
import { isRotation, rotatedKey } from '../chain/keys-in-force.js'
import { LogFrontier } from '../log/index.js'
import type { ScannedChain } from '../open/scan.js'
import { parseReceipt } from '../receipt/parse.js'

/**
 * Where a chain stands between two commit records: what an archive goes from and to, and what a
 * ledger whose history is archived goes on from (docs/spec/archive.md).
 */
export interface Boundary {
  /** Commit records before it. */
  readonly commits: number
  readonly receipts: number
  /** Of the last receipt before it, and of the one before that. */
  readonly receiptHash: Hash | null
  readonly previousReceiptHash: Hash | null
  /** Right edge of the log. */
  readonly frontier: LogFrontier
  /** Stored texts of the key rotations before it, in order: they say which key is in force. */
  readonly rotations: readonly string[]
}

/** Before the first commit. */
export const firstBoundary: Boundary = {
  commits: 0,
  receipts: 0,
  receiptHash: null,
  previousReceiptHash: null,
  frontier: LogFrontier.empty,
  rotations: []
}

/** A boundary as plain JSON; `leaves` counts the log. */
export function boundaryJson(boundary: Boundary) {
  const { commits, frontier, previousReceiptHash, receiptHash, receipts, rotations } = boundary
  return {
    commits,
    frontier: Buffer.from(frontier.encode()).toString('hex'),
    leaves: frontier.size,
    previousReceiptHash,
    receiptHash,
    receipts,
    rotations: [...rotations]
  }
}

/** Reads {@link boundaryJson}; undefined for anything that it would not have written. */
export function parseBoundary(value: Json | undefined): Boundary | undefined {
  if (!isJsonObject(value)) return undefined
  const { commits, frontier, leaves, previousReceiptHash, receiptHash, receipts, rotations } = value
  const edge =
    typeof frontier === 'string' && isCount(leaves)
      ? LogFrontier.decode(leaves, Buffer.from(frontier, 'hex'))
      : undefined
  if (edge === undefined || !isCount(commits) || !isCount(receipts)) return undefined
  if (!isHashOrNull(receiptHash) || !isHashOrNull(previousReceiptHash)) return undefined
  if (!Array.isArray(rotations)) return undefined
  const texts = (rotations as readonly Json[]).filter((text) => typeof text === 'string')
  const boundary: Boundary = {
    commits,
    receipts,
    receiptHash,
    previousReceiptHash,
    frontier: edge,
    rotations: texts
  }
  return canonicalize(boundaryJson(boundary)) === canonicalize(value) ? boundary : undefined
}

/** Whether two boundaries are one. */
export function isSameBoundary(one: Boundary, other: Boundary): boolean {
  return canonicalize(boundaryJson(one)) === canonicalize(boundaryJson(other))
}

/**
 * The keys that were in force up to a boundary, the identity's first one first; undefined where a
 * rotation is not signed by the key before it, or not proved.
 */
export function keysAt(
  identity: IdentityId,
  rotations: readonly string[]
): readonly PublicKey[] | undefined {
  let inForce = identity as string as PublicKey
  const keys = [inForce]
  for (const text of rotations) {
    const parsed = parseReceipt(text)
    if (!parsed.ok) return undefined
    const { record, computedHash } = parsed
    const isOurs = record.identity === identity && record.publicKey === inForce
    if (!isOurs || !isRotation(record) || record.receiptHash !== computedHash) return undefined
    const signed = Buffer.from(record.receiptHash, 'hex')
    const signature = Buffer.from(record.signature, 'hex')
    if (!verify(signature, signed, publicKeyBytes(inForce))) return undefined
    const next = rotatedKey(identity, record)
    if (next === undefined) return undefined
    inForce = next
    keys.push(next)
  }
  return keys
}

/** Where a scan goes on from a boundary whose last key is known. */
export function scannedTo(boundary: Boundary, publicKey: PublicKey): ScannedChain {
  return {
    seq: boundary.commits,
    receipts: boundary.receipts,
    receiptHash: boundary.receiptHash,
    previousReceiptHash: boundary.previousReceiptHash,
    beforePreviousHash: null,
    publicKey,
    lastSigned: undefined
  }
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isHashOrNull(value: Json | undefined): value is Hash | null {
  return value === null || isHash(value)
}

import {
  type Hash,
  isHash,
  isJsonObject,
  type Json,
  jsonIn,
  ledgerError
} from '../../core/index.js'
import { corrupt } from './record.js'

export const HEAD_VERSION = 1

/** Where an identity's chain, state and log stand after a commit (formats.md §6). */
export interface Head {
  /**
   * Grows by one with each opening of the ledger for writing: it fences off earlier writers.
   */
  readonly epoch: number
  /** Head root (formats.md §4). */
  readonly headRoot: Hash
  /** RFC 6962 root of the log. */
  readonly logRoot: Hash
  readonly logSize: number
  /** Last receipt, or null. */
  readonly receiptHash: Hash | null
  readonly receipts: number
  /** Commit records so far: the next one has this number. */
  readonly seq: number
  readonly storageRoot: Hash
}

export function encodeHead(head: Head): string {
  const receiptHash = head.receiptHash === null ? 'null' : `"${head.receiptHash}"`
  return (
    `{"epoch":${head.epoch},"headRoot":"${head.headRoot}","logRoot":"${head.logRoot}",` +
    `"logSize":${head.logSize},"receiptHash":${receiptHash},"receipts":${head.receipts},` +
    `"seq":${head.seq},"storageRoot":"${head.storageRoot}","version":${HEAD_VERSION}}`
  )
}

/**
 * Reads a head; throws `ledger.corrupt`, or `ledger.newer_version` when it is of a later format.
 */
export function parseHead(key: string, text: string): Head {
  const value = jsonIn(text)
  if (!isJsonObject(value)) throw corrupt(key, 'the head is not an object')
  const { version } = value
  if (typeof version === 'number' && version > HEAD_VERSION) {
    throw ledgerError('ledger.newer_version', { path: key, found: version, known: HEAD_VERSION })
  }
  const head: Head = {
    epoch: count(value['epoch']),
    headRoot: hash(value['headRoot']),
    logRoot: hash(value['logRoot']),
    logSize: count(value['logSize']),
    receiptHash: value['receiptHash'] === null ? null : hash(value['receiptHash']),
    receipts: count(value['receipts']),
    seq: count(value['seq']),
    storageRoot: hash(value['storageRoot'])
  }
  if (encodeHead(head) !== text) throw corrupt(key, 'the head is not written canonically')
  return head

  function hash(field: Json | undefined): Hash {
    if (!isHash(field)) throw corrupt(key, 'a hash of the head is malformed')
    return field
  }
  function count(field: Json | undefined): number {
    if (typeof field !== 'number' || !Number.isSafeInteger(field) || field < 0) {
      throw corrupt(key, 'a count of the head is malformed')
    }
    return field
  }
}

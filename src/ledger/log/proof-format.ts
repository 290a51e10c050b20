import { canonicalize, type Hash, isHash, type Json, type JsonObject } from '../../core/index.js'
import { malformedProof, parseProof } from '../proof-text.js'

/** Hashes of one proof: two for each of 53 levels at most. */
const PROOF_HASHES_MAX = 106

/** Shows that a record stands at `index` in the log of `size` records. */
export interface InclusionProof {
  readonly version: 1
  readonly type: 'inclusion'
  readonly index: number
  readonly size: number
  /** From the leaf up (RFC 9162 §2.1.3). */
  readonly hashes: readonly Hash[]
}

/** Shows that the log of `firstSize` records is the beginning of the log of `secondSize`. */
export interface ConsistencyProof {
  readonly version: 1
  readonly type: 'consistency'
  readonly firstSize: number
  readonly secondSize: number
  /** In the order of RFC 9162 §2.1.4. */
  readonly hashes: readonly Hash[]
}

export type LogProof = InclusionProof | ConsistencyProof

/**
 * A log proof as text: canonical JSON.
 *
 * @example
 * {"hashes":["..",".."],"index":5,"size":7,"type":"inclusion","version":1}
 * {"firstSize":3,"hashes":["..",".."],"secondSize":7,"type":"consistency","version":1}
 */
export function encodeLogProof(proof: LogProof): string {
  return canonicalize(proof)
}

/** Reads what {@link encodeLogProof} wrote and nothing else; throws `ledger.malformed_proof`. */
export function parseLogProof(text: string): LogProof {
  return parseProof(text, readProof)
}

function readProof(value: JsonObject): LogProof {
  const hashes = readHashes(value['hashes'])
  switch (value['type']) {
    case 'inclusion':
      return {
        version: 1,
        type: 'inclusion',
        index: readCount(value['index']),
        size: readCount(value['size']),
        hashes
      }
    case 'consistency':
      return {
        version: 1,
        type: 'consistency',
        firstSize: readCount(value['firstSize']),
        secondSize: readCount(value['secondSize']),
        hashes
      }
    default:
      throw malformedProof('its type is unknown')
  }
}

function readHashes(value: Json | undefined): readonly Hash[] {
  if (!Array.isArray(value) || value.length > PROOF_HASHES_MAX || !value.every(isHash)) {
    throw malformedProof('its hashes are not a list of at most 106 hashes')
  }
  return value
}

function readCount(value: Json | undefined): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw malformedProof('an index or size is not a count')
  }
  return value
}

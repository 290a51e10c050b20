import {
  canonicalize,
  type Hash,
  isHash,
  isJsonObject,
  type Json,
  type JsonObject,
  limits,
  parse,
  TallyError
} from '../../core/index.js'

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
  if (text.length > limits.PROOF_BYTES_MAX) throw malformed('it is too long')
  const value = readJson(text)
  if (!isJsonObject(value)) throw malformed('it is not an object')
  if (value['version'] !== 1) throw malformed('its version is unknown')
  const proof = readProof(value)
  if (encodeLogProof(proof) !== text) throw malformed('it is not canonical')
  return proof
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
      throw malformed('its type is unknown')
  }
}

function readHashes(value: Json | undefined): readonly Hash[] {
  if (!Array.isArray(value) || value.length > PROOF_HASHES_MAX || !value.every(isHash)) {
    throw malformed('its hashes are not a list of at most 106 hashes')
  }
  return value
}

function readCount(value: Json | undefined): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw malformed('an index or size is not a count')
  }
  return value
}

function readJson(text: string): Json {
  try {
    return parse(text)
  } catch (cause) {
    throw new TallyError('ledger.malformed_proof', { problem: 'it is not strict JSON' }, { cause })
  }
}

function malformed(problem: string): TallyError {
  return new TallyError('ledger.malformed_proof', { problem })
}

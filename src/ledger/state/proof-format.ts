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
import type { LeafProof, Sibling, StateProof } from './proof.js'

/** Siblings of one leaf: at most one per bit of a key hash. */
const PATH_LENGTH_MAX = 256

/**
 * A state proof as text: canonical JSON.
 *
 * @example
 * {"leaf":{"keyHash":"..","path":[{"left":".."}],"valueHash":".."},"type":"membership","version":1}
 * {"keyHash":"..","left":null,"right":{..},"type":"absence","version":1}
 */
export function encodeStateProof(proof: StateProof): string {
  return canonicalize(proof)
}

/**
 * Reads what {@link encodeStateProof} wrote and nothing else: unknown versions, types and members,
 * and text that is not canonical, throw `ledger.malformed_proof`.
 */
export function parseStateProof(text: string): StateProof {
  if (text.length > limits.PROOF_BYTES_MAX) throw malformed('it is too long')
  const value = readJson(text)
  if (!isJsonObject(value)) throw malformed('it is not an object')
  if (value['version'] !== 1) throw malformed('its version is unknown')
  const proof = readProof(value)
  if (encodeStateProof(proof) !== text) throw malformed('it is not canonical')
  return proof
}

function readProof(value: JsonObject): StateProof {
  switch (value['type']) {
    case 'membership':
      return { version: 1, type: 'membership', leaf: readLeaf(value['leaf']) }
    case 'absence':
      return {
        version: 1,
        type: 'absence',
        keyHash: readHash(value['keyHash']),
        left: value['left'] === null ? null : readLeaf(value['left']),
        right: value['right'] === null ? null : readLeaf(value['right'])
      }
    default:
      throw malformed('its type is unknown')
  }
}

function readLeaf(value: Json | undefined): LeafProof {
  if (!isJsonObject(value)) throw malformed('a leaf is not an object')
  const path: Json | undefined = value['path']
  if (!Array.isArray(path) || path.length > PATH_LENGTH_MAX) {
    throw malformed('a path is not a list of at most 256 siblings')
  }
  return {
    keyHash: readHash(value['keyHash']),
    valueHash: readHash(value['valueHash']),
    path: path.map(readSibling)
  }
}

function readSibling(value: Json): Sibling {
  if (!isJsonObject(value)) throw malformed('a sibling is not an object')
  return 'left' in value ? { left: readHash(value['left']) } : { right: readHash(value['right']) }
}

function readHash(value: Json | undefined): Hash {
  if (!isHash(value)) throw malformed('a hash is not 64 lower-case hex digits')
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

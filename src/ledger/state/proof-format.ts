import {
  canonicalize,
  type Hash,
  isHash,
  isJsonObject,
  type Json,
  type JsonObject
} from '../../core/index.js'
import { malformedProof, parseProof } from '../proof-text.js'
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

/** Reads what {@link encodeStateProof} wrote and nothing else; throws `ledger.malformed_proof`. */
export function parseStateProof(text: string): StateProof {
  return parseProof(text, readProof)
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
      throw malformedProof('its type is unknown')
  }
}

function readLeaf(value: Json | undefined): LeafProof {
  if (!isJsonObject(value)) throw malformedProof('a leaf is not an object')
  const path: Json | undefined = value['path']
  if (!Array.isArray(path) || path.length > PATH_LENGTH_MAX) {
    throw malformedProof('a path is not a list of at most 256 siblings')
  }
  return {
    keyHash: readHash(value['keyHash']),
    valueHash: readHash(value['valueHash']),
    path: path.map(readSibling)
  }
}

function readSibling(value: Json): Sibling {
  if (!isJsonObject(value)) throw malformedProof('a sibling is not an object')
  return 'left' in value ? { left: readHash(value['left']) } : { right: readHash(value['right']) }
}

function readHash(value: Json | undefined): Hash {
  if (!isHash(value)) throw malformedProof('a hash is not 64 lower-case hex digits')
  return value
}

import {
  bytesOver,
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  ledgerError,
  limits,
  parse,
  type TallyError
} from '../core/index.js'

/**
 * Reads a proof from its canonical text and nothing else: unknown versions and members, and text
 * that is not canonical, throw `ledger.malformed_proof`.
 */
export function parseProof<Proof>(text: string, read: (value: JsonObject) => Proof): Proof {
  if (bytesOver(text, limits.PROOF_BYTES_MAX) !== undefined) {
    throw malformedProof('it is too long')
  }
  const value = readJson(text)
  if (!isJsonObject(value)) throw malformedProof('it is not an object')
  if (value['version'] !== 1) throw malformedProof('its version is unknown')
  const proof = read(value)
  if (canonicalize(proof) !== text) throw malformedProof('it is not canonical')
  return proof
}

export function malformedProof(problem: string, cause?: unknown): TallyError {
  const options = cause === undefined ? {} : { cause }
  return ledgerError('ledger.malformed_proof', { problem }, options)
}

function readJson(text: string): Json {
  try {
    return parse(text)
  } catch (cause) {
    throw malformedProof('it is not strict JSON', cause)
  }
}

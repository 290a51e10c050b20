import { ledgerError, limits, sha256, type TallyError } from '../../core/index.js'
import { bytesToHex } from '../merkle.js'
import { fromBase64, toBase64 } from './base64.js'

/** Types of note keys (C2SP signed-note). Other numbers are kept and never verified. */
export const ED25519_KEY = 0x01
/** Timestamped cosignatures of witnesses (C2SP tlog-cosignature). */
export const COSIGNATURE_V1_KEY = 0x04

/** A public key for notes: who signs, how, and with what. */
export interface VerifierKey {
  /** Key name, usually the origin of the log or the address of the witness. */
  readonly name: string
  /** Type byte: {@link ED25519_KEY}, {@link COSIGNATURE_V1_KEY}, or one that we do not know. */
  readonly algorithm: number
  readonly publicKey: Uint8Array
}

/** First 4 bytes of sha256(name || "\n" || type || key), as 8 hex digits. */
export function noteKeyId({ name, algorithm, publicKey }: VerifierKey): string {
  const label = new TextEncoder().encode(`${name}\n`)
  const preimage = new Uint8Array(label.length + 1 + publicKey.length)
  preimage.set(label)
  preimage[label.length] = algorithm
  preimage.set(publicKey, label.length + 1)
  return bytesToHex(sha256(preimage).subarray(0, 4))
}

/**
 * The text form that Go's `sumdb/note` reads.
 *
 * @example 'tallystick/ab..+5c0a1f2e+ATk..' // <name>+<key id>+<base64(type || key)>
 */
export function encodeVerifierKey(key: VerifierKey): string {
  const typed = new Uint8Array(1 + key.publicKey.length)
  typed[0] = key.algorithm
  typed.set(key.publicKey, 1)
  return `${key.name}+${noteKeyId(key)}+${toBase64(typed)}`
}

/** Reads a verifier key; throws `ledger.malformed_verifier_key`, also when the key id is wrong. */
export function parseVerifierKey(text: string): VerifierKey {
  const [name = '', keyId, ...rest] = text.split('+')
  if (!isNoteName(name)) throw malformed('its name is empty, too long or has a space in it')
  // Base64 may itself contain '+', so everything after the second one belongs to it.
  const typed = fromBase64(rest.join('+'))
  const algorithm = typed?.[0]
  if (typed === undefined || algorithm === undefined) throw malformed('its key is not base64')
  const key = { name, algorithm, publicKey: typed.slice(1) }
  if (isKnown(algorithm) && key.publicKey.length !== 32) throw malformed('its key is not 32 bytes')
  if (noteKeyId(key) !== keyId) throw malformed('its key id does not belong to its name and key')
  return key
}

/** Whether text may name a key: not empty, no white space, no plus sign, no control character. */
export function isNoteName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= limits.NOTE_NAME_LENGTH_MAX &&
    name.isWellFormed() &&
    !/[\s+\p{Cc}\p{White_Space}]/u.test(name)
  )
}

function isKnown(algorithm: number): boolean {
  return algorithm === ED25519_KEY || algorithm === COSIGNATURE_V1_KEY
}

function malformed(problem: string): TallyError {
  return ledgerError('ledger.malformed_verifier_key', { problem })
}

import { assert } from '../../core/index.js'
import {
  encodeSignedNote,
  type NoteSignature,
  parseSignedNote,
  type SignedNote,
  signaturesBy,
  type VerifySignature
} from './signed-note.js'
import { COSIGNATURE_V1_KEY, noteKeyId, type VerifierKey } from './verifier-key.js'

/**
 * Cosignatures of witnesses, C2SP tlog-cosignature: a witness states that at some time it saw this
 * note, and that its tree extends every earlier one it saw of the log. It vouches for origin, size
 * and root, not for the state root.
 */

const TIMESTAMP_BYTES = 8
const SIGNATURE_BYTES = 64

/** What a check of a witness's cosignature found. */
export type CosignatureVerdict =
  /** `time`: seconds since 1970, the earliest when the witness signed several times. */
  | { readonly ok: true; readonly time: number }
  | {
      readonly ok: false
      readonly reason: 'unsupported_key' | 'not_signed_by_key' | 'bad_signature'
    }

/**
 * The message that a witness signs.
 *
 * @example 'cosignature/v1\ntime 1700000000\n' + note text
 */
export function cosignatureMessage(text: string, time: number): Uint8Array {
  return new TextEncoder().encode(`cosignature/v1\ntime ${time}\n${text}`)
}

/**
 * Checks what a witness's key says about a note. Key types other than 0x04 are `unsupported_key`.
 */
export function verifyCosignature(options: {
  readonly note: SignedNote
  readonly witness: VerifierKey
  readonly verify: VerifySignature
}): CosignatureVerdict {
  const { note, witness, verify } = options
  if (witness.algorithm !== COSIGNATURE_V1_KEY) return { ok: false, reason: 'unsupported_key' }
  const lines = signaturesBy(note, witness)
  if (lines.length === 0) return { ok: false, reason: 'not_signed_by_key' }
  const times = lines.map((line) => cosignedAt({ text: note.text, line, witness, verify }))
  if (times.includes(undefined)) return { ok: false, reason: 'bad_signature' }
  return { ok: true, time: Math.min(...times.filter((time) => time !== undefined)) }
}

/** Adds the witness's cosignature, made over {@link cosignatureMessage}, to an encoded note. */
export function addCosignature(options: {
  readonly encoded: string
  readonly witness: VerifierKey
  /** Seconds since 1970. */
  readonly time: number
  readonly signature: Uint8Array
}): string {
  const { encoded, witness, time, signature } = options
  assert(Number.isSafeInteger(time) && time > 0, 'the time of a cosignature is not a count')
  assert(signature.length === SIGNATURE_BYTES, 'a cosignature is not 64 bytes long')
  const timed = new Uint8Array(TIMESTAMP_BYTES + SIGNATURE_BYTES)
  new DataView(timed.buffer).setBigUint64(0, BigInt(time))
  timed.set(signature, TIMESTAMP_BYTES)
  const note = parseSignedNote(encoded)
  return encodeSignedNote({
    text: note.text,
    signatures: [
      ...note.signatures,
      { name: witness.name, keyId: noteKeyId(witness), signature: timed }
    ]
  })
}

/** The time of a valid cosignature line; undefined when it is not valid. */
function cosignedAt(options: {
  readonly text: string
  readonly line: NoteSignature
  readonly witness: VerifierKey
  readonly verify: VerifySignature
}): number | undefined {
  const { text, line, witness, verify } = options
  const bytes = line.signature
  if (bytes.length !== TIMESTAMP_BYTES + SIGNATURE_BYTES) return undefined
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0))
  if (!Number.isSafeInteger(time) || time === 0) return undefined
  const signature = bytes.subarray(TIMESTAMP_BYTES)
  return verify(signature, cosignatureMessage(text, time), witness.publicKey) ? time : undefined
}

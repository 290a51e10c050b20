import { ledgerError, limits, type TallyError } from '../../core/index.js'
import { bytesToHex, hexToBytes } from '../merkle.js'
import { fromBase64, toBase64 } from './base64.js'
import { isNoteName, noteKeyId, type VerifierKey } from './verifier-key.js'

/** A text with signatures, C2SP signed-note. */
export interface SignedNote {
  /** What is signed: lines, each ended by a line break. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** One signature line; whether it is valid is not known before it is checked. */
export interface NoteSignature {
  /** Key name. */
  readonly name: string
  /** Key id, 8 hex digits: tells apart the keys of one name. */
  readonly keyId: string
  /** What follows the key id; its form depends on the type of the key. */
  readonly signature: Uint8Array
}

/** Checks one Ed25519 signature: `verify` of the identity room, the strict rule (formats.md §2). */
export type VerifySignature = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array
) => boolean

const KEY_ID_BYTES = 4
// biome-ignore lint/suspicious/noControlCharactersInRegex: C2SP signed-note refuses exactly these.
const controlCharacter = /[\u0000-\u0009\u000b-\u001f]/

/**
 * The bytes of a note as text (UTF-8 when stored).
 *
 * @example
 * tallystick/ab..
 * 7
 * <base64 of the root>
 * state-root <hex>
 *
 * — tallystick/ab.. <base64(key id || signature)>
 */
export function encodeSignedNote({ text, signatures }: SignedNote): string {
  const lines = signatures.map(({ name, keyId, signature }) => {
    const idAndSignature = new Uint8Array(KEY_ID_BYTES + signature.length)
    idAndSignature.set(hexToBytes(keyId))
    idAndSignature.set(signature, KEY_ID_BYTES)
    return `\u2014 ${name} ${toBase64(idAndSignature)}\n`
  })
  return `${text}\n${lines.join('')}`
}

/**
 * Reads a note without checking signatures. Throws `ledger.malformed_note`; what it accepts,
 * {@link encodeSignedNote} writes back to the same bytes.
 */
export function parseSignedNote(encoded: string): SignedNote {
  if (new TextEncoder().encode(encoded).length > limits.NOTE_BYTES_MAX) {
    throw malformedNote('it is too long')
  }
  if (!encoded.isWellFormed() || controlCharacter.test(encoded)) {
    throw malformedNote('it has a control character or a lone surrogate')
  }
  const end = encoded.lastIndexOf('\n\n')
  if (end <= 0) throw malformedNote('it has no text or no empty line before its signatures')
  const lines = encoded.slice(end + 2).split('\n')
  if (lines.pop() !== '' || lines.length === 0) {
    throw malformedNote('it has no signatures, or its last line is not ended')
  }
  if (lines.length > limits.NOTE_SIGNATURES_MAX) throw malformedNote('it has too many signatures')
  return { text: encoded.slice(0, end + 1), signatures: lines.map(parseSignatureLine) }
}

/**
 * The signatures of a note that claim to be by a key, by its name and key id. All of them must be
 * checked: one invalid signature of a known key spoils the note.
 */
export function signaturesBy(note: SignedNote, key: VerifierKey): readonly NoteSignature[] {
  const keyId = noteKeyId(key)
  return note.signatures.filter(
    (signature) => signature.name === key.name && signature.keyId === keyId
  )
}

export function malformedNote(problem: string): TallyError {
  return ledgerError('ledger.malformed_note', { problem })
}

function parseSignatureLine(line: string): NoteSignature {
  const [dash, name = '', base64 = '', ...rest] = line.split(' ')
  const bytes = fromBase64(base64)
  if (dash !== '\u2014' || rest.length > 0 || !isNoteName(name)) {
    throw malformedNote('a signature line is not "\u2014 name base64"')
  }
  if (bytes === undefined || bytes.length <= KEY_ID_BYTES) {
    throw malformedNote('a signature is not base64 of a key id and more')
  }
  return {
    name,
    keyId: bytesToHex(bytes.subarray(0, KEY_ID_BYTES)),
    signature: bytes.slice(KEY_ID_BYTES)
  }
}

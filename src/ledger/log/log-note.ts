import { assert, type Hash, type IdentityId, isHash } from '../../core/index.js'
import { bytesToHex, hexToBytes } from '../merkle.js'
import { fromBase64, toBase64 } from './base64.js'
import {
  encodeSignedNote,
  malformedNote,
  parseSignedNote,
  type SignedNote,
  signaturesBy,
  type VerifySignature
} from './signed-note.js'
import { ED25519_KEY, isNoteName, noteKeyId, type VerifierKey } from './verifier-key.js'

/**
 * What a log states about itself (formats.md §5): a C2SP tlog-checkpoint with one extension line.
 * Called note in code, to keep the word checkpoint for runs.
 */
export interface LogNote {
  /** Names the log: {@link noteOrigin}. */
  readonly origin: string
  /** Records in the log. */
  readonly size: number
  /** RFC 6962 root of the log. */
  readonly root: Hash
  /** Head root: the state that the log's last receipt led to. */
  readonly stateRoot: Hash
}

/** Origin of an identity's log, and the name of the keys that sign its notes. */
export function noteOrigin(identity: IdentityId): string {
  return `tallystick/${identity}`
}

/**
 * The text that is signed.
 *
 * @example 'tallystick/ab..\n7\nqqu7..=\nstate-root 5c0a..\n'
 */
export function encodeLogNote({ origin, size, root, stateRoot }: LogNote): string {
  assert(isNoteName(origin), 'the origin of a note has a space in it or is empty')
  assert(Number.isSafeInteger(size) && size >= 0, 'the size of a note is not a count')
  return `${origin}\n${size}\n${toBase64(hexToBytes(root))}\nstate-root ${stateRoot}\n`
}

/** Reads what {@link encodeLogNote} wrote and nothing else; throws `ledger.malformed_note`. */
export function parseLogNote(text: string): LogNote {
  const [origin = '', size = '', root = '', extension = '', ...rest] = text.split('\n')
  if (rest.length !== 1 || rest[0] !== '') throw malformedNote('it does not have four lines')
  if (!isNoteName(origin)) throw malformedNote('its origin has a space in it or is empty')
  if (!/^(0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw malformedNote('its size is not a count')
  }
  const rootBytes = fromBase64(root)
  if (rootBytes?.length !== 32) throw malformedNote('its root is not base64 of 32 bytes')
  const [label, stateRoot, ...words] = extension.split(' ')
  if (label !== 'state-root' || !isHash(stateRoot) || words.length > 0) {
    throw malformedNote('its fourth line is not "state-root <hex>"')
  }
  return { origin, size: Number(size), root: bytesToHex<Hash>(rootBytes), stateRoot }
}

/**
 * Signs a note with the key in force; the key's name is the origin. Gives the whole signed note.
 */
export async function signLogNote(options: {
  readonly note: LogNote
  /** 32 bytes: the key of `sign`. */
  readonly publicKey: Uint8Array
  /** `Signer.sign`: 64 bytes over the message as it is. */
  readonly sign: (message: Uint8Array) => Uint8Array | Promise<Uint8Array>
}): Promise<string> {
  const { note, publicKey, sign } = options
  const text = encodeLogNote(note)
  const signature = await sign(new TextEncoder().encode(text))
  const keyId = noteKeyId({ name: note.origin, algorithm: ED25519_KEY, publicKey })
  return encodeSignedNote({ text, signatures: [{ name: note.origin, keyId, signature }] })
}

/** What a check of a note found. */
export type NoteVerdict =
  | { readonly ok: true; readonly note: LogNote; readonly signed: SignedNote }
  | { readonly ok: false; readonly reason: NoteProblem }

export type NoteProblem =
  /** The pinned key is not an Ed25519 key for notes. */
  | 'unsupported_key'
  /** No signature line is by the pinned key. */
  | 'not_signed_by_key'
  /** A line by the pinned key does not verify. */
  | 'bad_signature'
  /** The note speaks about another log than the key's. */
  | 'other_origin'

/**
 * Reads a signed note and checks it against a pinned key, whose name must be the note's origin.
 * Throws `ledger.malformed_note` for text that is no note.
 */
export function verifyLogNote(options: {
  readonly encoded: string
  readonly key: VerifierKey
  readonly verify: VerifySignature
}): NoteVerdict {
  const { encoded, key, verify } = options
  const signed = parseSignedNote(encoded)
  const note = parseLogNote(signed.text)
  if (key.algorithm !== ED25519_KEY) return { ok: false, reason: 'unsupported_key' }
  if (note.origin !== key.name) return { ok: false, reason: 'other_origin' }
  const message = new TextEncoder().encode(signed.text)
  const lines = signaturesBy(signed, key)
  if (lines.length === 0) return { ok: false, reason: 'not_signed_by_key' }
  const isValid = lines.every(({ signature }) => verify(signature, message, key.publicKey))
  return isValid ? { ok: true, note, signed } : { ok: false, reason: 'bad_signature' }
}

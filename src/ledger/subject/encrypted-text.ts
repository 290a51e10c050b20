import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { isSubjectId, type SubjectId } from './subject-keys.js'

/**
 * Texts under the key of a subject: `<name of the key>.<base64 of nonce, ciphertext and tag>`, by
 * AES-256-GCM (docs/spec/subjects.md). The name is the subject's id and 16 digits of the key
 * itself: a second key of a subject, made where the first was missing, does not pass for it.
 *
 * The nonce is a code over place and text by a key of its own, so two texts meet in a nonce no more
 * often than two random ones, and the same text at the same place is encrypted the same way: what
 * is derived twice is the same bytes.
 */

const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'

/** The keys that follow from that of a subject. */
interface Subkeys {
  readonly encrypting: Buffer
  readonly naming: Buffer
}

function subkeysOf(key: Uint8Array): Subkeys {
  const subkey = (purpose: string) =>
    createHmac('sha256', key).update(`tallystick/subject/${purpose}`).digest()
  return { encrypting: subkey('encrypt'), naming: subkey('nonce') }
}

/** Name of a key: 32 digits of its subject, 16 of itself. */
function keyName(key: Uint8Array, id: SubjectId): string {
  const code = createHmac('sha256', key).update('tallystick/subject/name').digest('hex')
  return id + code.slice(0, 16)
}

/** The subject of a text, and whether a key is the one that it is under. */
export function keyOfText(
  encrypted: string
): { readonly id: SubjectId; isKey(key: Uint8Array): boolean } | undefined {
  const [name = ''] = encrypted.split('.', 1)
  const id = name.slice(0, 32)
  if (!isSubjectId(id) || encrypted[KEY_NAME_LENGTH] !== '.') return undefined
  return { id, isKey: (key) => keyName(key, id) === name }
}

const KEY_NAME_LENGTH = 48

export function encryptText(key: Uint8Array, id: SubjectId, place: string, text: string): string {
  const { encrypting, naming } = subkeysOf(key)
  const code = createHmac('sha256', naming).update(`${place.length}\n${place}`).update(text)
  const nonce = code.digest().subarray(0, NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, encrypting, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(place))
  const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()])
  return `${keyName(key, id)}.${Buffer.concat([body, cipher.getAuthTag()]).toString('base64')}`
}

/** The text; undefined where it was encrypted by another key, at another place, or was altered. */
export function decryptText(key: Uint8Array, place: string, encrypted: string): string | undefined {
  const { encrypting } = subkeysOf(key)
  const encoded = encrypted.slice(encrypted.indexOf('.') + 1)
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64') !== encoded) {
    return undefined
  }
  const end = bytes.length - TAG_BYTES
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, encrypting, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(bytes.subarray(end))
  try {
    const text = Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES, end)),
      decipher.final()
    ])
    return text.toString('utf8')
  } catch {
    return undefined
  }
}

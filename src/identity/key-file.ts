import * as crypto from 'node:crypto'
import { promisify } from 'node:util'
import {
  canonicalize,
  type IdentityId,
  isIdentityId,
  isPublicKey,
  type PublicKey,
  parse,
  type Random
} from '../core/index.js'
import type { IdentityKeys } from './identity-keys.js'

/**
 * The key file `tally-key/1`: canonical JSON and a newline.
 *
 *     {"box":"<96 hex digits of bytes + 16 of tag>","format":"tally-key/1","identity":"<64 hex>",
 *      "nonce":"<24 hex>","protection":"scrypt-131072-8-1+aes-256-gcm","publicKey":"<64 hex>",
 *      "salt":"<64 hex>"}
 *
 * The box holds seed || blob key (64 bytes) under AES-256-GCM, its key scrypt(passphrase in NFC,
 * salt, N = 2^17, r = 8, p = 1), its additional data the canonical JSON of all other fields.
 * The unprotected kind says so in a field: no box, nonce or salt, but
 *
 *     "protection":"none","secret":"<128 hex>","warning":"this key is stored in plain text"
 */
export type KeyFile = SealedKeyFile | PlainKeyFile

export interface SealedKeyFile {
  readonly format: typeof FORMAT
  readonly identity: IdentityId
  readonly publicKey: PublicKey
  readonly protection: typeof SEALED
  readonly salt: string
  readonly nonce: string
  readonly box: string
}

export interface PlainKeyFile {
  readonly format: typeof FORMAT
  readonly identity: IdentityId
  readonly publicKey: PublicKey
  readonly protection: 'none'
  readonly warning: typeof WARNING
  readonly secret: string
}

const FORMAT = 'tally-key/1'
const SEALED = 'scrypt-131072-8-1+aes-256-gcm'
const WARNING = 'this key is stored in plain text'
const SECRET_BYTES = 64
const TAG_BYTES = 16
// The cost takes 128 MiB, four times what Node allows unless told (T6).
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

const scrypt = promisify<string, Uint8Array, number, crypto.ScryptOptions, Buffer>(crypto.scrypt)

/** Text of a key file; `parseKeyFile` takes exactly this text and no other of the same meaning. */
export function encodeKeyFile(file: KeyFile): string {
  return `${canonicalize(file)}\n`
}

/**
 * Reads a key file strictly; undefined for anything that `encodeKeyFile` would not have written.
 */
export function parseKeyFile(text: string): KeyFile | undefined {
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return undefined
  }
  const file = isSealed(value) || isPlain(value) ? value : undefined
  return file !== undefined && encodeKeyFile(file) === text ? file : undefined
}

export async function sealKeys(
  keys: IdentityKeys,
  passphrase: string,
  random: Random
): Promise<SealedKeyFile> {
  const salt = random.bytes(32)
  const nonce = random.bytes(12)
  const open = {
    format: FORMAT,
    identity: keys.identity,
    publicKey: keys.publicKey,
    protection: SEALED,
    salt: Buffer.from(salt).toString('hex'),
    nonce: Buffer.from(nonce).toString('hex')
  } as const
  const cipher = crypto.createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt), nonce)
  cipher.setAAD(Buffer.from(canonicalize(open)))
  const secret = secretBytes(keys)
  const box = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()])
  secret.fill(0)
  return { ...open, box: box.toString('hex') }
}

/** Seed || blob key of a sealed file; undefined when passphrase or file are wrong. */
export async function openSealed(
  { box, ...open }: SealedKeyFile,
  passphrase: string
): Promise<Uint8Array | undefined> {
  const key = await deriveKey(passphrase, Buffer.from(open.salt, 'hex'))
  const bytes = Buffer.from(box, 'hex')
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, Buffer.from(open.nonce, 'hex'), {
    authTagLength: TAG_BYTES
  })
  decipher.setAAD(Buffer.from(canonicalize(open)))
  decipher.setAuthTag(bytes.subarray(SECRET_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, SECRET_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}

export function plainKeys(keys: IdentityKeys): PlainKeyFile {
  return {
    format: FORMAT,
    identity: keys.identity,
    publicKey: keys.publicKey,
    protection: 'none',
    warning: WARNING,
    secret: secretBytes(keys).toString('hex')
  }
}

function secretBytes(keys: IdentityKeys): Buffer {
  return Buffer.concat([keys.seed, keys.blobKey])
}

function deriveKey(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return scrypt(passphrase.normalize('NFC'), salt, 32, SCRYPT)
}

function isSealed(value: unknown): value is SealedKeyFile {
  return (
    hasHead(value) &&
    value['protection'] === SEALED &&
    isHex(value['salt'], 32) &&
    isHex(value['nonce'], 12) &&
    isHex(value['box'], SECRET_BYTES + TAG_BYTES) &&
    Object.keys(value).length === 7
  )
}

function isPlain(value: unknown): value is PlainKeyFile {
  return (
    hasHead(value) &&
    value['protection'] === 'none' &&
    value['warning'] === WARNING &&
    isHex(value['secret'], SECRET_BYTES) &&
    Object.keys(value).length === 6
  )
}

function hasHead(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const { format, identity, publicKey } = value as Readonly<Record<string, unknown>>
  return format === FORMAT && isIdentityId(identity) && isPublicKey(publicKey)
}

function isHex(text: unknown, bytes: number): boolean {
  return typeof text === 'string' && text.length === bytes * 2 && /^[0-9a-f]*$/.test(text)
}

import {
  type Approvers,
  canonicalize,
  isJsonObject,
  isSignature,
  type Json,
  type JsonObject,
  limits,
  type PublicKey,
  type Signature,
  sha256
} from '../core/index.js'
import { getPublicKey, sign } from './keys.js'
import { isStrictPublicKey, publicKeyBytes } from './public-key.js'
import { verify } from './verify.js'

/** An answer to a wait, as its approver signs it (K13). */
export interface SignedAnswer {
  /** Of what was shown: it covers the question, its place, and who may answer. */
  readonly digest: string
  readonly token: string
  readonly action: string
  readonly value: Json
}

/** Who signed an answer, and the signature; 64 and 128 hex digits. */
export interface KeySignature {
  readonly key: string
  readonly signature: string
}

/** A signed answer as it is kept: with all that its signature covers. */
export interface Approval extends SignedAnswer, KeySignature {}

const DOMAIN = 'tallystick/approval/2'

/**
 * The 53 bytes that an approver signs: the 21 ASCII bytes `tallystick/approval/2`, then the 32 raw
 * bytes of `sha256(JCS({action, digest, key, token, value}))`. Receipts and attestations sign 32
 * bytes and rotations 113, so none can be taken for another.
 */
export function approvalMessage(answer: SignedAnswer, key: string): Uint8Array {
  const { action, digest, token, value } = answer
  const hash = sha256(canonicalize({ action, digest, key, token, value }))
  return Buffer.concat([Buffer.from(DOMAIN, 'ascii'), hash])
}

/** Signs an answer with a 32-byte seed; throws `identity.malformed_seed`. */
export function signApproval(answer: SignedAnswer, seed: Uint8Array): KeySignature {
  const key = getPublicKey(seed)
  const signature = Buffer.from(sign(approvalMessage(answer, key), seed)).toString('hex')
  return { key, signature: signature as Signature }
}

/** Whether a value has the form of an approval; its signature is not checked. */
export function isApproval(value: unknown): value is Approval {
  if (!isJsonObject(value as Json)) return false
  const { value: said, ...texts } = value as JsonObject
  const names = Object.keys(texts).sort()
  return (
    said !== undefined &&
    names.join() === 'action,digest,key,signature,token' &&
    names.every((name) => typeof texts[name] === 'string')
  )
}

/** Whether this key has signed exactly this answer, by the strict rule; never throws. */
export function checkApproval(answer: SignedAnswer, { key, signature }: KeySignature): boolean {
  if (!isStrictPublicKey(key) || !isSignature(signature)) return false
  return verify(Buffer.from(signature, 'hex'), approvalMessage(answer, key), publicKeyBytes(key))
}

/** Who has to sign, or why that is said wrongly. Keys may come in any order, each once. */
export function approversOf(
  given: unknown
): { readonly approvers: Approvers } | { readonly problem: string } {
  const value = given as Json
  if (!isJsonObject(value)) return { problem: 'approvers are an object of threshold and keys' }
  const { threshold, keys, ...others } = value
  const [other] = Object.keys(others)
  if (other !== undefined) return { problem: `approvers have no member ${other}` }
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > limits.APPROVERS_MAX) {
    return { problem: `approvers name 1 to ${limits.APPROVERS_MAX} keys` }
  }
  const isEach = keys.every((key): key is PublicKey => isStrictPublicKey(key))
  if (!isEach) return { problem: 'the key of an approver is a strict Ed25519 key in 64 hex digits' }
  if (new Set(keys).size < keys.length) return { problem: 'each approver is named once' }
  const isWithin = Number.isInteger(threshold) && Number(threshold) >= 1
  if (!isWithin || Number(threshold) > keys.length) {
    return { problem: `the threshold is between 1 and the number of keys, ${keys.length}` }
  }
  return { approvers: { threshold: Number(threshold), keys: [...keys].sort() } }
}

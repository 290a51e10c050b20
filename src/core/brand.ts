/** Nominal types: a branded string is made only by the functions that check or compute it. */
export type Brand<Base, Name extends string> = Base & { readonly __brand: Name }

/** 64 lower-case hex digits, a SHA-256. */
export type Hash = Brand<string, 'Hash'>
/** Hash that commits to a whole state, or to a state and a chain. */
export type StateRoot = Hash
/** 64 hex digits: the first Ed25519 public key of an identity (docs/spec/identity.md). */
export type IdentityId = Brand<string, 'IdentityId'>
/** 64 hex digits: an Ed25519 public key. */
export type PublicKey = Brand<string, 'PublicKey'>
/** 128 hex digits: an Ed25519 signature. */
export type Signature = Brand<string, 'Signature'>
/** Names one execution of a root block (L6). */
export type RunId = Brand<string, 'RunId'>
/** Ids from the root block to a block, joined by `/`; the root's is `root`. */
export type ActorPath = Brand<string, 'ActorPath'>
/** Names one unit of work (L6). */
export type UnitId = Brand<string, 'UnitId'>
/** Names one wait; a message that ends a wait carries it (B3). */
export type WaitToken = Brand<string, 'WaitToken'>

/** 1 for the codes of lower-case hex digits: a third of the time of a regular expression. */
const hexDigits = new Uint8Array(128)
for (const digit of '0123456789abcdef') hexDigits[digit.charCodeAt(0)] = 1

const name = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

export function isHash(text: unknown): text is Hash {
  return isHexOf(text, 64)
}

export function isPublicKey(text: unknown): text is PublicKey {
  return isHexOf(text, 64)
}

export function isIdentityId(text: unknown): text is IdentityId {
  return isHexOf(text, 64)
}

export function isSignature(text: unknown): text is Signature {
  return isHexOf(text, 128)
}

function isHexOf(text: unknown, digits: number): boolean {
  if (typeof text !== 'string' || text.length !== digits) return false
  for (let index = 0; index < digits; index += 1) {
    if (hexDigits[text.charCodeAt(index)] !== 1) return false
  }
  return true
}

/** Run ids: letters, digits and `._:-`, at most 128, beginning with a letter or digit. */
export function isRunId(text: unknown): text is RunId {
  return typeof text === 'string' && name.test(text)
}

import type { Receipt } from '../../../ledger/index.js'
import { hashOf } from './jcs.js'
import { isSignedBy } from './signature.js'

/** What the page found of a record, computed from what it draws. */
export interface RecordCheck {
  /** What is drawn hashes to the hash that is signed; else a secret of it may be hidden. */
  readonly isHashed: boolean
  readonly isSigned: boolean
  /** Its key is the one that names the identity; else a later one, by a rotation. */
  readonly isFirstKey: boolean
}

/** Hash and signature of a receipt (docs/spec/receipt.md). */
export async function checkReceipt(receipt: Receipt): Promise<RecordCheck> {
  const { receiptHash, signature, ...signed } = receipt
  return check(signed, { hash: receiptHash, signature })
}

interface Signed {
  readonly publicKey: string
  readonly identity: string
}

/** Hash and signature of a record of evidence; undefined for what is none. */
export async function checkEvidence(record: unknown): Promise<RecordCheck | undefined> {
  if (typeof record !== 'object' || record === null) return undefined
  const { evidenceHash, signature, ...signed } = record as Readonly<Record<string, unknown>>
  const { publicKey, identity } = signed
  const texts = [evidenceHash, signature, publicKey, identity]
  if (!texts.every((text) => typeof text === 'string')) return undefined
  return check(signed as unknown as Signed, {
    hash: String(evidenceHash),
    signature: String(signature)
  })
}

async function check(
  signed: Signed,
  { hash, signature }: { readonly hash: string; readonly signature: string }
): Promise<RecordCheck> {
  const { publicKey, identity } = signed
  return {
    isHashed: (await hashOf(signed)) === hash,
    isSigned: await isSignedBy(publicKey, { signature, message: hash }),
    isFirstKey: publicKey === identity
  }
}

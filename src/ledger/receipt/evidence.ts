import { canonicalize, canonicalString, type Hash, sha256Hex } from '../../core/index.js'
import type { EvidenceDraft } from '../item.js'
import type { ReceiptPosition } from './assemble.js'
import { sealedText, type UnsignedRecord } from './assemble.js'
import { type BlobSalts, type EmbeddedText, embed } from './blob.js'

export interface AssembledEvidence extends UnsignedRecord {
  readonly blobs: readonly string[]
}

/**
 * Builds an evidence record (formats.md §3): the fields of `Evidence` in alphabetical order;
 * `evidenceHash` covers the record without itself and the signature.
 */
export function assembleEvidence(
  draft: EvidenceDraft,
  place: Pick<ReceiptPosition, 'identity' | 'publicKey'> & {
    readonly head: { readonly seq: number; readonly receiptHash: Hash | null }
  },
  salts: BlobSalts
): AssembledEvidence {
  const { unitId, isPrivate = false, areDetailsPrivate = false } = draft
  const payload = embed(draft.payloadText, isPrivate ? salts.salt(unitId, 'payload') : undefined)
  const said = canonicalize(draft.details)
  const details: EmbeddedText = areDetailsPrivate
    ? embed(said, salts.salt(unitId, 'details'))
    : { text: said }
  const input =
    `{"action":${canonicalString(draft.action)},"id":${canonicalString(unitId)},` +
    `"payload":${payload.text}}`
  const start = `{"code":${canonicalString(draft.code)},"details":${details.text},`
  const middle =
    `"head":${canonicalize(place.head)},"identity":"${place.identity}","inputPayload":${input},` +
    (draft.journalHash === undefined ? '' : `"journalHash":"${draft.journalHash}",`) +
    `"landed":${sealedText(draft.landed)},"publicKey":"${place.publicKey}",`
  const end = `"timestamp":${Math.floor(draft.at / 1000)},"type":"${draft.type}","version":1}`
  const hash = sha256Hex(start + middle + end)
  return {
    hash,
    before: `${start}"evidenceHash":"${hash}",${middle}"signature":"`,
    after: `",${end}`,
    blobs: [payload.blob, details.blob].filter((blob) => blob !== undefined)
  }
}

import {
  canonicalize,
  canonicalizeOwn,
  canonicalString,
  type Hash,
  type IdentityId,
  type Json,
  type PublicKey,
  type StateRoot,
  sha256Hex
} from '../../core/index.js'
import type { SealedReference, UnitDraft } from '../item.js'
import { type BlobSalts, type EmbeddedText, embed } from './blob.js'

/** A signed record whose signature is still to come: the texts before and after it. */
export interface UnsignedRecord {
  readonly hash: Hash
  readonly before: string
  readonly after: string
}

/** Where a receipt stands in its chain. */
export interface ReceiptPosition {
  readonly identity: IdentityId
  readonly publicKey: PublicKey
  readonly previousReceiptHash: Hash | null
  readonly previousStateRoot: StateRoot
  readonly nextStateRoot: StateRoot
}

export interface AssembledReceipt extends UnsignedRecord {
  readonly result: EmbeddedText
  /** Bodies that the receipt names by hash. */
  readonly blobs: readonly string[]
}

/**
 * Builds receipts by joining texts that are canonical already: every fragment is canonicalised once
 * in its life, and the fields are written in the order of formats.md §3.
 */
export class ReceiptAssembler {
  readonly #salts: BlobSalts
  // Profiles, principals that never change, and lists of declared capabilities are the same objects
  // many times. An object that comes once would stay here as long as itself, and cost more.
  readonly #texts = new WeakMap<object, string>()

  constructor(salts: BlobSalts) {
    this.#salts = salts
  }

  assemble(draft: UnitDraft, place: ReceiptPosition): AssembledReceipt {
    const isPrivate = draft.payloadPrivate
    const action = canonicalString(draft.action)
    const payload = embed(
      draft.payloadText,
      isPrivate ? this.#salts.salt(draft.id, 'payload') : undefined
    )
    const raw =
      draft.raw === undefined
        ? undefined
        : embed(
            canonicalString(draft.raw),
            isPrivate ? this.#salts.salt(draft.id, 'raw') : undefined
          )
    const result = embed(
      draft.resultText,
      draft.resultPrivate ? this.#salts.salt(draft.id, 'result') : undefined
    )
    const input = this.#inputText(draft, { action, payload: payload.text, raw: raw?.text })
    const start =
      `{"capabilitiesDeclared":${this.#cached(draft.capabilitiesDeclared)},` +
      `"capabilitiesUsed":${listText(draft.capabilitiesUsed)},` +
      `"dappId":${canonicalString(draft.dappId)},"identity":"${place.identity}",` +
      `"inputHash":"${sha256Hex(input)}","inputPayload":${input},` +
      `"intent":${action},"nextStateRoot":"${place.nextStateRoot}",` +
      `"previousReceiptHash":${quoted(place.previousReceiptHash)},` +
      `"previousStateRoot":"${place.previousStateRoot}","publicKey":"${place.publicKey}",`
    const middle = `"resultHash":"${sha256Hex(result.text)}",`
    const end = `"timestamp":${Math.floor(draft.at / 1000)},"version":1}`
    const hash = sha256Hex(start + middle + end)
    return {
      hash,
      before: `${start}"receiptHash":"${hash}",${middle}"signature":"`,
      after: `",${end}`,
      result,
      blobs: [payload.blob, raw?.blob, result.blob].filter((blob) => blob !== undefined)
    }
  }

  #inputText(
    draft: UnitDraft,
    {
      action,
      payload,
      raw
    }: { readonly action: string; readonly payload: string; readonly raw: string | undefined }
  ): string {
    const { run, seed } = draft
    return (
      `{"action":${action},"id":${canonicalString(draft.id)},` +
      `"payload":${payload},"principal":${this.#principalText(draft.principal)},` +
      `"provider":${this.#providerText(draft.provider)},` +
      (raw === undefined ? '' : `"raw":${raw},`) +
      (run === undefined
        ? ''
        : `"run":{"at":${run.at},"attempt":${run.attempt},` +
          (run.contextHash === undefined ? '' : `"contextHash":"${run.contextHash}",`) +
          (run.parent === undefined ? '' : `"parent":"${run.parent}",`) +
          `"path":${canonicalString(run.path)},` +
          `"runId":${canonicalString(run.runId)},"step":${run.step}` +
          (run.trace === undefined ? '},' : `,"trace":${canonicalize(run.trace)}},`)) +
      `"sealed":${sealedText(draft.sealed)},` +
      `"seed":{"base":"${seed.base}","value":"${seed.value}"},` +
      `"timestamp":${Math.floor(draft.at / 1000)}}`
    )
  }

  #providerText({ codeHash, id, kind, profile }: UnitDraft['provider']): string {
    return (
      `{"codeHash":"${codeHash}","id":${canonicalString(id)},` +
      `"kind":${canonicalString(kind)},"profile":${this.#cached(profile)}}`
    )
  }

  #principalText(principal: Json): string {
    return Object.isFrozen(principal) ? this.#cached(principal) : canonicalize(principal)
  }

  #cached(value: Json | readonly string[]): string {
    if (typeof value !== 'object' || value === null) return canonicalize(value)
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    const text = canonicalize(value)
    this.#texts.set(value, text)
    return text
  }
}

function listText(texts: readonly string[]): string {
  return texts.length === 0 ? '[]' : canonicalizeOwn(texts)
}

/** Canonical JSON of sealed references, in their order. */
export function sealedText(sealed: readonly SealedReference[]): string {
  if (sealed.length === 0) return '[]'
  const texts = sealed.map(
    ({ bytes, effect, requestHash, responseHash, seq }) =>
      `{"bytes":${bytes},"effect":${canonicalString(effect)},"requestHash":"${requestHash}",` +
      `"responseHash":"${responseHash}","seq":${seq}}`
  )
  return `[${texts.join(',')}]`
}

function quoted(hash: Hash | null): string {
  return hash === null ? 'null' : `"${hash}"`
}

import { unwrapUnchecked, wrapValue } from '../envelope.js'
import type { DerivedCodes } from './codes.js'

/** How derived records stand in the store. */
export interface RecordForm {
  wrap(key: string, body: string | Uint8Array, watermark: number): Uint8Array
  /** Throws `ledger.corrupt` with the key. */
  body(key: string, value: Uint8Array): Buffer
}

/** With codes, checked at every read (L12). */
export function codedForm(codes: DerivedCodes): RecordForm {
  return {
    wrap: (key, body, watermark) => codes.wrap(key, body, watermark),
    body: (key, value) => codes.open(key, value).body
  }
}

/** For a verification, which compares bodies with the source records and has no key. */
export const uncheckedForm: RecordForm = { wrap: wrapValue, body: unwrapUnchecked }

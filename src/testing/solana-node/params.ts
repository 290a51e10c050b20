import { isJsonObject, type Json, type JsonObject, shownText } from '../../core/index.js'
import type { Commitment } from './chain.js'
import type { SolanaLibraries } from './libraries.js'
import { bytesOf } from './sent.js'
import { invalidParam } from './solana-error.js'

/** Parameters of calls. Each function throws what a node answers to another value. */

/** An object of options; without one, all of them are as they are by default. */
export function optionsIn(given: Json | undefined): JsonObject {
  if (given === undefined || given === null) return {}
  if (isJsonObject(given)) return given
  throw invalidParam(`invalid type: ${shownText(given)}, expected options`)
}

/** Default: `finalized`, as nodes have it. */
export function commitmentIn(
  options: JsonObject,
  name: 'commitment' | 'preflightCommitment' = 'commitment'
): Commitment {
  const given = options[name] ?? 'finalized'
  if (given === 'processed' || given === 'confirmed' || given === 'finalized') return given
  throw invalidParam(`unknown variant \`${shownText(given)}\`, expected a commitment`)
}

/** Of methods that look at blocks, which have no processed ones. */
export function blockCommitmentIn(options: JsonObject): Commitment {
  const commitment = commitmentIn(options)
  if (commitment !== 'processed') return commitment
  throw invalidParam('Method does not support commitment below `confirmed`')
}

export function textIn(given: Json | undefined): string {
  if (typeof given === 'string') return given
  throw invalidParam(`invalid type: ${shownText(given ?? null)}, expected a string`)
}

export function wholeIn(given: Json | undefined): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given
  throw invalidParam(`invalid type: ${shownText(given ?? null)}, expected u64`)
}

export function textsIn(given: Json | undefined, max: number): readonly string[] {
  if (!Array.isArray(given)) throw invalidParam('invalid type, expected a sequence')
  if (given.length > max) throw invalidParam(`Too many inputs provided; max ${max}`)
  return given.map((one: Json) => textIn(one))
}

/** Encoding of a transaction; `base58` where none is named. */
export function wireEncodingIn({ encoding = 'base58' }: JsonObject): 'base58' | 'base64' {
  if (encoding === 'base58' || encoding === 'base64') return encoding
  throw invalidParam(
    `unsupported encoding: ${shownText(encoding)}. Supported encodings: base58, base64`
  )
}

/** Which accounts `getProgramAccounts` gives, by their data. */
export function filterIn(
  kit: SolanaLibraries['kit'],
  given: Json | undefined
): (data: Uint8Array) => boolean {
  if (given === undefined || given === null) return () => true
  if (!Array.isArray(given)) throw invalidParam('invalid type, expected a sequence')
  const filters = given.map((one: Json) => {
    const { dataSize, memcmp } = optionsIn(one)
    if (dataSize !== undefined) {
      const size = wholeIn(dataSize)
      return (data: Uint8Array) => data.length === size
    }
    const { offset, bytes, encoding = 'base58' } = optionsIn(memcmp)
    const wanted = bytesOf(kit, textIn(bytes), wireEncodingIn({ encoding }))
    const from = wholeIn(offset)
    return (data: Uint8Array) =>
      data.length >= from + wanted.length && wanted.every((byte, at) => data[from + at] === byte)
  })
  return (data) => filters.every((matches) => matches(data))
}

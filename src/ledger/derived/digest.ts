import { isTallyError } from '../../core/index.js'
import type { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'
import { type DerivedCodes, SHARE_AT } from './codes.js'

/**
 * What the derived records are as a set: how many, and the sum of those halves of their keyed
 * hashes that are not stored. A code of it stands in the watermark, so a record that is lost, is of
 * an older watermark, or is one too many shows when the ledger opens (L4), at the price of reading
 * them once; a process without the key does not know what must add up (L12).
 * State pages are not among them: they must give a root of their own.
 */
export interface Digest {
  readonly records: number
  /** Four numbers modulo 2^32. */
  readonly sums: readonly number[]
}

export const emptyDigest: Digest = { records: 0, sums: [0, 0, 0, 0] }

/** A digest on its way from one set of records to the next. */
export class RunningDigest {
  readonly #codes: DerivedCodes
  #records: number
  readonly #sums: Uint32Array

  constructor(codes: DerivedCodes, from: Digest = emptyDigest) {
    this.#codes = codes
    this.#records = from.records
    this.#sums = Uint32Array.from(from.sums)
  }

  get digest(): Digest {
    return { records: this.#records, sums: [...this.#sums] }
  }

  add(key: string, value: Uint8Array): void {
    this.addHash(this.#codes.hash(key, value))
  }

  /** Adds a record by its hash. */
  addHash(hash: Buffer): void {
    this.#records += 1
    for (let at = 0; at < 4; at += 1) {
      this.#sums[at] = (this.#sums[at] ?? 0) + hash.readUInt32BE(SHARE_AT + at * 4)
    }
  }

  /** Takes a stored value out; undefined when nothing was stored. */
  remove(key: string, value: Uint8Array | undefined): void {
    if (value === undefined) return
    const hash = this.#codes.hash(key, value)
    this.#records -= 1
    for (let at = 0; at < 4; at += 1) {
      this.#sums[at] = (this.#sums[at] ?? 0) - hash.readUInt32BE(SHARE_AT + at * 4)
    }
  }
}

/**
 * The digest of the records in the store; undefined when one of them has no right code. `see`: is
 * given the body of each.
 */
export async function storedDigest(
  store: Store,
  keys: StoreKeys,
  codes: DerivedCodes,
  see: (key: string, body: Buffer) => void
): Promise<Digest | undefined> {
  const running = new RunningDigest(codes)
  try {
    for (const range of keys.digestedRanges()) {
      for await (const [key, value] of store.entries(range)) {
        const { body, hash } = codes.open(key, value)
        running.addHash(hash)
        see(key, body)
      }
    }
  } catch (error) {
    if (isTallyError(error, 'ledger.corrupt')) return undefined
    throw error
  }
  return running.digest
}

/** As it stands in the watermark. */
export function digestText({ records, sums }: Digest): string {
  return JSON.stringify([records, ...sums])
}

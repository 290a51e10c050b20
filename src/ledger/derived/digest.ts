import { isTallyError } from '../../core/index.js'
import { checksumOf, unwrapValue } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'

/**
 * What the derived records are as a set: how many, and the sum of their checksums, each of which
 * covers key and value. It stands in the stamp, so a record that is lost, is of an older stamp, or
 * is one too many shows when the ledger opens (L4), at the price of reading them once.
 * State pages are not among them: they must give a root of their own.
 */
export interface Digest {
  readonly records: number
  /** Modulo 2^48. */
  readonly checksums: number
}

export const emptyDigest: Digest = { records: 0, checksums: 0 }

const MODULUS = 2 ** 48

/** A digest on its way from one set of records to the next. */
export class RunningDigest {
  #records: number
  #checksums: number

  constructor(from: Digest = emptyDigest) {
    this.#records = from.records
    this.#checksums = from.checksums
  }

  get digest(): Digest {
    return { records: this.#records, checksums: this.#checksums }
  }

  add(value: Uint8Array): void {
    this.#records += 1
    this.#checksums = (this.#checksums + checksumOf(value)) % MODULUS
  }

  /** Takes a stored value out; undefined when nothing was stored. */
  remove(value: Uint8Array | undefined): void {
    if (value === undefined) return
    this.#records -= 1
    this.#checksums = (this.#checksums + MODULUS - checksumOf(value)) % MODULUS
  }
}

/**
 * The digest of the records in the store; undefined when one of them is damaged. `onRecord` sees
 * each on the way.
 */
export async function storedDigest(
  store: Store,
  keys: StoreKeys,
  onRecord?: (key: string, body: Buffer) => void
): Promise<Digest | undefined> {
  const running = new RunningDigest()
  try {
    for (const range of keys.digestedRanges()) {
      for await (const [key, value] of store.entries(range)) {
        const body = unwrapValue(key, value)
        running.add(value)
        onRecord?.(key, body)
      }
    }
  } catch (error) {
    if (isTallyError(error, 'ledger.corrupt')) return undefined
    throw error
  }
  return running.digest
}

export function sameDigest(one: Digest, other: Digest | undefined): boolean {
  return one.records === other?.records && one.checksums === other.checksums
}

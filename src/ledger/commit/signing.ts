import type { Signature } from '../../core/index.js'
import type { Signer } from '../../identity/index.js'
import type { UnsignedRecord } from '../receipt/assemble.js'

/** A record on its way to disk; its text is complete once it is signed. */
export class SignedRecord {
  readonly unsigned: UnsignedRecord
  #signature: Signature | undefined

  constructor(unsigned: UnsignedRecord) {
    this.unsigned = unsigned
  }

  sign(signature: Signature): void {
    this.#signature = signature
  }

  get isSigned(): boolean {
    return this.#signature !== undefined
  }

  /** The canonical JSON text, with its signature. */
  text(): string {
    const { before, after } = this.unsigned
    return before + (this.#signature ?? '') + after
  }
}

/** Records of one chunk for the signer's thread (performance.md: chunks of about 32). */
const CHUNK_RECORDS = 32
/** Up to so many records are signed at once on the main thread: sooner than a thread answers. */
const INLINE_RECORDS = 2

/**
 * Signs records while later ones are still being made.
 *
 * Owns: records that wait for their signature. Does not own: the key (the `Signer` does) or the order
 * of records, which hashes already fix (formats.md §3).
 */
export class SigningQueue {
  #signer: Signer
  #waiting: SignedRecord[] = []
  readonly #chunks = new Set<Promise<void>>()

  constructor(signer: Signer) {
    this.#signer = signer
  }

  get signer(): Signer {
    return this.#signer
  }

  add(record: SignedRecord): void {
    this.#waiting.push(record)
    if (this.#waiting.length >= CHUNK_RECORDS && this.#signer.signMany !== undefined) {
      this.#dispatch()
    }
  }

  /** Records added from now on are signed by another key (a rotation, formats.md §2). */
  use(signer: Signer): void {
    if (this.#waiting.length > 0) this.#dispatch()
    this.#signer = signer
  }

  /** Resolves once every record added so far is signed; rejects when the signer fails. */
  async finish(): Promise<void> {
    if (this.#waiting.length <= INLINE_RECORDS) {
      for (const record of this.#waiting.splice(0)) {
        const signature = this.#signer.sign(Buffer.from(record.unsigned.hash, 'hex'))
        record.sign(hex(signature instanceof Uint8Array ? signature : await signature))
      }
    } else this.#dispatch()
    if (this.#chunks.size > 0) await Promise.all(this.#chunks)
  }

  #dispatch(): void {
    const chunk = signChunk(this.#signer, this.#waiting.splice(0))
    this.#chunks.add(chunk)
    chunk.then(
      () => this.#chunks.delete(chunk),
      // Kept: the next `finish` must fail with it.
      () => undefined
    )
  }
}

async function signChunk(signer: Signer, records: readonly SignedRecord[]): Promise<void> {
  if (signer.signMany === undefined) {
    for (const record of records) {
      record.sign(hex(await signer.sign(Buffer.from(record.unsigned.hash, 'hex'))))
    }
    return
  }
  const hashes = Buffer.from(records.map(({ unsigned }) => unsigned.hash).join(''), 'hex')
  const digits = hex(await signer.signMany(hashes))
  records.forEach((record, index) => {
    record.sign(digits.slice(index * 128, index * 128 + 128) as Signature)
  })
}

function hex(bytes: Uint8Array): Signature {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('hex') as Signature
}

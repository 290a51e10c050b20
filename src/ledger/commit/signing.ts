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
/** So many wake an idle thread, which costs about three signatures: it signs while steps go on. */
const FIRST_CHUNK_RECORDS = 8
/** Up to so many are signed on the main thread at the end: sooner than a thread answers. */
const INLINE_RECORDS = 4
/** The same while the thread is at work on earlier ones: both sign at once. */
const INLINE_RECORDS_BESIDE = 8

/**
 * Signs records while later ones are still being made.
 *
 * Owns: records that wait for their signature. Does not own: the key (the `Signer` does) or the
 * order of records, which hashes already fix (formats.md §3).
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
    if (this.#signer.signMany === undefined) return
    const enough = this.#chunks.size === 0 ? FIRST_CHUNK_RECORDS : CHUNK_RECORDS
    if (this.#waiting.length >= enough) this.#dispatch()
  }

  /** Records added from now on are signed by another key (a rotation, formats.md §2). */
  use(signer: Signer): void {
    if (this.#waiting.length > 0) this.#dispatch()
    this.#signer = signer
  }

  /** Resolves once every record added so far is signed; rejects when the signer fails. */
  async finish(): Promise<void> {
    const few = this.#chunks.size === 0 ? INLINE_RECORDS : INLINE_RECORDS_BESIDE
    // Nothing else can go on until all are signed: so half of them here, and half in the thread.
    const isShared = this.#waiting.length > few && this.#signer.signMany !== undefined
    const inline = isShared ? this.#waiting.splice(this.#waiting.length >> 1) : this.#waiting
    if (isShared) this.#dispatch()
    else this.#waiting = []
    for (const record of inline) {
      const signature = this.#signer.sign(Buffer.from(record.unsigned.hash, 'hex'))
      record.sign(hex(signature instanceof Uint8Array ? signature : await signature))
    }
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
  // Not from the pool of small buffers: a message to a thread would copy the pool with it.
  const hashes = Buffer.alloc(records.length * 32)
  records.forEach(({ unsigned }, index) => {
    hashes.write(unsigned.hash, index * 32, 'hex')
  })
  const digits = hex(await signer.signMany(hashes))
  records.forEach((record, index) => {
    record.sign(digits.slice(index * 128, index * 128 + 128) as Signature)
  })
}

function hex(bytes: Uint8Array): Signature {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('hex') as Signature
}

import { ledgerError, type Signature, type TallyError } from '../../core/index.js'
import { type PoolMember, publicKeyBytes, type Signer, verifyMany } from '../../identity/index.js'
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

/** Records of one call of a signer that signs many at once. */
const CHUNK_RECORDS = 32

/**
 * Signs records while later ones are still being made.
 *
 * Owns: records that wait for their signature. Does not own: the key (the `Signer` does) or the
 * order of records, which hashes already fix (formats.md §3).
 *
 * - L3: signatures that come from outside the process are counted and verified before anything is
 *   written: a wrong one poisons the ledger, whose next opening would be in safe mode otherwise.
 */
export class SigningQueue {
  #signer: Signer
  /** In the pool of the signer, once there was something to sign. */
  #member: PoolMember | undefined
  #waiting: SignedRecord[] = []
  readonly #chunks = new Set<Promise<void>>()

  constructor(signer: Signer) {
    this.#signer = signer
  }

  get signer(): Signer {
    return this.#signer
  }

  add(record: SignedRecord): void {
    this.#member ??= this.#signer.joinPool?.()
    if (this.#waiting.length >= (this.#member?.capacity ?? CHUNK_RECORDS)) this.#signRest()
    this.#member?.put(record.unsigned.hash)
    this.#waiting.push(record)
  }

  /** Records added from now on are signed by another key (a rotation, formats.md §2). */
  use(signer: Signer): void {
    this.#signRest()
    void this.#member?.close()
    this.#member = undefined
    this.#signer = signer
  }

  /**
   * Signs every record added so far; a promise when a signer has to be awaited, which rejects when
   * it fails.
   */
  finish(): Promise<unknown> | undefined {
    this.#signRest()
    return this.#chunks.size > 0 ? Promise.all(this.#chunks) : undefined
  }

  /** Leaves the signing pool; the signer is its owner's. */
  async close(): Promise<void> {
    await this.#member?.close()
  }

  #signRest(): void {
    if (this.#waiting.length === 0) return
    if (this.#member === undefined) return this.#dispatch()
    signAll(this.#waiting, hex(this.#member.collect()))
    this.#waiting = []
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

function signAll(records: readonly SignedRecord[], digits: string): void {
  for (const [index, record] of records.entries()) {
    record.sign(digits.slice(index * 128, index * 128 + 128) as Signature)
  }
}

async function signChunk(signer: Signer, records: readonly SignedRecord[]): Promise<void> {
  const hashes = records.map(({ unsigned }) => Buffer.from(unsigned.hash, 'hex'))
  const { signatures, isOurs } = await signaturesOf(signer, hashes)
  if (signatures.some(({ length }) => length !== 64)) {
    const lengths = signatures.map(({ length }) => length).join(', ')
    throw wrong(signer, `${lengths} bytes for ${hashes.length} signatures of 64 bytes`)
  }
  if (!isOurs) await checkEach(signer, hashes, signatures)
  signAll(records, hex(Buffer.concat(signatures)))
}

/** One for each hash, or what there is of them. `isOurs`: all were made in this process. */
async function signaturesOf(
  signer: Signer,
  hashes: readonly Uint8Array[]
): Promise<{ readonly signatures: readonly Uint8Array[]; readonly isOurs: boolean }> {
  const { signMany } = signer
  if (signMany === undefined) {
    const signatures: Uint8Array[] = []
    let isOurs = true
    for (const hash of hashes) {
      const made = signer.sign(hash)
      isOurs &&= made instanceof Uint8Array
      signatures.push(await made)
    }
    return { signatures, isOurs }
  }
  const all = await signMany.call(signer, Buffer.concat(hashes))
  if (all.length !== hashes.length * 64) return { signatures: [all], isOurs: false }
  const signatures = hashes.map((_, index) => all.subarray(index * 64, index * 64 + 64))
  return { signatures, isOurs: false }
}

/** Throws `ledger.wrong_signature` for the first that its key has not made of its hash. */
async function checkEach(
  signer: Signer,
  hashes: readonly Uint8Array[],
  signatures: readonly Uint8Array[]
): Promise<void> {
  const publicKey = publicKeyBytes(signer.publicKey)
  const items = signatures.map((signature, index) => {
    return { signature, message: hashes[index] ?? noBytes, publicKey }
  })
  const verdicts = await verifyMany(items)
  const first = verdicts.indexOf(false)
  if (first < 0) return
  throw wrong(signer, `one, number ${first + 1} of ${hashes.length}, that its key does not verify`)
}

const noBytes = new Uint8Array(0)

function wrong({ publicKey }: Signer, problem: string): TallyError {
  return ledgerError('ledger.wrong_signature', { publicKey, problem })
}

function hex(bytes: Uint8Array): Signature {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('hex') as Signature
}

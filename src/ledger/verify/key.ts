import type { Hash } from '../../core/index.js'
import { DerivedCodes } from '../derived/codes.js'
import { BlobSalts } from '../receipt/blob.js'
import type { SubjectCipher } from '../subject/cipher.js'

/**
 * What a verification compares with the blob key at hand (L12): codes over journals of open runs,
 * and codes of derived records and checkpoints.
 */
export class VerificationKey {
  readonly derived: DerivedCodes
  readonly #salts: BlobSalts

  constructor(
    blobKey: Uint8Array,
    /** Opens what is under keys of subjects. */
    readonly cipher?: SubjectCipher
  ) {
    this.derived = new DerivedCodes(blobKey)
    this.#salts = new BlobSalts(blobKey)
  }

  authenticate(journalHash: Hash): Hash {
    return this.#salts.authenticate(journalHash)
  }
}

import type { Hash } from '../../core/index.js'
import type { ArchiveEntry, ArchiveProgress } from '../../ledger/index.js'

/** Which history goes to which file. */
export interface ArchiveOptions {
  /** A new file; packed with gzip when its name ends in `.gz`. */
  readonly path: string
  /** History before this time: a date, its text, or milliseconds. */
  readonly before?: Date | string | number
  /** History through this receipt: its hash, or its place in the chain. In place of `before`. */
  readonly through?: Hash | number
  /** Ends the work while nothing was recorded; a file that was written stays. */
  readonly signal?: AbortSignal | undefined
  /** Hears how far it is. */
  readonly onProgress?: ((progress: ArchiveProgress) => void) | undefined
}

/** The archive that was made. */
export interface ArchiveResult extends ArchiveEntry {
  readonly path: string
  /** Of the receipt that names it. */
  readonly receiptHash: Hash | null
}

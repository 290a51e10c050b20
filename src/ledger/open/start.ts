import type { ArchivedHistory } from '../archive/history.js'
import type { Derived } from '../derived/derived.js'
import type { Watermark } from '../derived/watermark.js'
import type { Rebuild } from './rebuild.js'

/** Where opening begins to read the chain. */
export interface StartingPoint {
  readonly watermark: Watermark
  readonly derived: Derived
  readonly rebuild: Rebuild
  /** Whether derived records may be written while the chain is read. */
  readonly writes: boolean
  /** What was archived: the chain is read from there on. */
  readonly archived: ArchivedHistory | undefined
}

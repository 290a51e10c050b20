import type { Json } from '../../core/index.js'
import type { Finding } from '../finding.js'
import type { UnitDraft } from '../journal.js'
import type { Skipped } from './redo.js'

/** What is known of the unit that an entry completes. */
export interface RecordedUnit {
  /** `run.at` of its receipt. */
  readonly at: number
  readonly profile: Json
}

export type UnitAgain =
  | { readonly kind: 'unit'; readonly draft: UnitDraft }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | Skipped

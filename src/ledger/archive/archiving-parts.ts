import type { IdentityId } from '../../core/index.js'
import type { Derived } from '../derived/derived.js'
import type { RecordForm } from '../derived/record-form.js'
import type { StoreKeys } from '../keys.js'
import type { Store } from '../stores/port.js'
import type { ArchivedHistory } from './history.js'
import type { ArchiveParts } from './write.js'

/** What archiving needs of the ledger that it is of. */
export interface ArchivingParts {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly derived: Derived
  /** How records are written that carry a code; undefined without the key. */
  readonly form: RecordForm | undefined
  readonly history: ArchivedHistory | undefined
  signer(): ArchiveParts['signer']
  /** Durable commit records. */
  commits(): number
  /** Makes everything durable, and writes what is derived of it, pages of the state too. */
  settle(): Promise<unknown>
  /** Does a write that is no commit; a failure of it poisons the ledger (L3). */
  behind(write: () => Promise<unknown>): Promise<void>
  /** Begins no commit until it is released; resolves when none is under way. */
  hold(): Promise<void>
  release(): void
}

import type { IdentityId } from '../core/index.js'
import type { Signer } from '../identity/index.js'
import type { ArchivedHistory } from './archive/history.js'
import type { ChainHead } from './chain/chain-head.js'
import type { Derived } from './derived/derived.js'
import type { StoreKeys } from './keys.js'
import type { LogFrontier } from './log/index.js'
import type { Cause } from './mode.js'
import type { Head } from './record/head.js'
import type { Store } from './stores/port.js'
import type { SubjectKeys } from './subject/subject-keys.js'

/** Everything that opening found out. */
export interface LedgerParts {
  readonly store: Store
  readonly keys: StoreKeys
  readonly identity: IdentityId
  readonly signer: Signer
  readonly blobKey: Uint8Array | undefined
  readonly subjects: SubjectKeys | undefined
  readonly head: Head
  readonly headBytes: Uint8Array
  readonly frontier: LogFrontier
  readonly chainHead: ChainHead
  readonly derived: Derived
  readonly readOnly: boolean
  /** What was archived of it. */
  readonly archived?: ArchivedHistory | undefined
  /** Why the ledger is in safe mode. */
  readonly unsafe?: Cause
}

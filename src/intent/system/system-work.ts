import type { Principal } from '../../capability/index.js'
import type { IntentPort } from '../../code/index.js'
import type { IdentityId } from '../../core/index.js'
import type { Intent } from '../intent.js'

/** A change of the kernel's tables. */
export interface SystemWork {
  readonly port: IntentPort
  readonly identity: IdentityId
  readonly payload: Intent['payload']
  readonly by: Principal
  /** Integer seconds. */
  readonly at: number
  /** Those of this program. */
  readonly versions: Versions
}

/** Versions of whatever a receipt may depend on, by name (formats.md §4). */
export type Versions = Readonly<Record<string, string>>

import { stateOf } from '../../capability/index.js'
import { isJsonObject, isPublicKey } from '../../core/index.js'
import { isStrictPublicKey } from '../../identity/index.js'
import {
  doneReply,
  type IntentReply,
  KERNEL_ID,
  type SystemIntent,
  sameVersions,
  VERSIONS_KEY,
  type Versions,
  versionsIn
} from '../../intent/index.js'
import type { AskedIntent } from '../gate/asked-intent.js'
import { type GrantingParts, resolvePrincipalGrant } from '../gate/principal-grants.js'
import { publish } from '../gate/published.js'
import { refusal } from '../gate/refusal.js'
import type { Archives } from './archiving.js'
import type { Erasing } from './erasing.js'
import { finishIdentities, IdentityMaking, type IdentityMakingParts } from './identity-making.js'
import { KeyRotation, type KeyRotationParts } from './key-rotation.js'
import { type ReadOnlyReplica, TakingOver } from './taking-over.js'

/**
 * System intents that are more than a change of state (K2): keys have files, and versions are the
 * program's. Only the owner has them (K13); anybody else's is refused where all intents are, which
 * leaves evidence.
 */
export class SystemActs {
  readonly #parts: SystemActsParts
  readonly #making: IdentityMaking
  readonly #rotation: KeyRotation
  readonly #takingOver: TakingOver

  constructor(parts: SystemActsParts) {
    this.#parts = parts
    this.#making = new IdentityMaking(parts)
    this.#rotation = new KeyRotation(parts)
    this.#takingOver = new TakingOver(parts.ledger, parts.follower)
  }

  /** Undefined for what is done like any other intent. */
  act(asked: AskedIntent): Promise<IntentReply> | undefined {
    const { id, intent, principal } = asked
    if (!isJsonObject(principal) || principal['kind'] !== 'owner') return undefined
    const isEmpty = Object.keys(intent.payload).length === 0
    switch (intent.action) {
      case 'system.archive':
        return this.#parts.archives.act(asked)
      case 'system.erase':
        return this.#parts.erasing.act(asked)
      case 'system.identity.create':
        return this.#making.act(asked)
      case 'system.key.rotate':
        if (isEmpty) return this.#rotation.rotate(id, principal)
        return Promise.resolve(refusal(id, intent.action, 'invalid_input', noPayload))
      case 'system.key.revoke':
        return this.#revoke(asked)
      case 'system.approver':
        return this.#approver(asked)
      case 'system.grant':
      case 'system.revoke':
        return resolvePrincipalGrant(this.#parts, asked)
      case 'system.publish':
        return publish(this.#parts.registry, asked)
      case 'system.takeover':
        return this.#takingOver.act(asked)
      case 'system.upgrade':
        return isEmpty ? this.#upgrade(asked) : undefined
      default:
        return undefined
    }
  }

  /**
   * What comes before anything else: makes identities that were begun whole, takes an imported
   * ledger over, and has the versions of this program noted where others have used it last. Throws
   * `ledger.safe_mode` for an imported one that is in it.
   */
  async begin(ask: (action: SystemIntent) => Promise<IntentReply>): Promise<void> {
    const { ledger } = this.#parts
    await finishIdentities(this.#parts)
    await this.#takingOver.begin(() => ask('system.takeover'))
    if (ledger.state().mode !== 'safe' && this.#isOutdated()) await ask('system.upgrade')
  }

  #isOutdated(): boolean {
    return !sameVersions(this.#recorded(), this.#parts.versions)
  }

  /**
   * A key that no valid signature can come from is refused before anything is recorded. Asked here
   * and not in what is executed again: a receipt of an earlier version may have named such a key.
   */
  #approver({ id, intent }: AskedIntent): Promise<IntentReply> | undefined {
    const { publicKey, isApprover } = intent.payload
    if (isApprover !== true || typeof publicKey !== 'string') return undefined
    if (isStrictPublicKey(publicKey) || this.#parts.ledger.hasRun(id)) return undefined
    const problem = 'it is no public key: 64 hex digits of a canonical point, not of small order'
    return Promise.resolve(refusal(id, intent.action, 'invalid_subject', { problem }))
  }

  // A key that is not to be trusted is not to be kept.
  async #revoke({ intent, go }: AskedIntent): Promise<IntentReply> {
    const reply = await go(intent.payload)
    const { publicKey } = intent.payload
    if (reply.type === 'dapp' && isPublicKey(publicKey)) {
      await this.#parts.keys?.destroy(publicKey)
    }
    return reply
  }

  async #upgrade({ id, go }: AskedIntent): Promise<IntentReply> {
    const { ledger, versions: to } = this.#parts
    if (this.#isOutdated() || ledger.hasRun(id)) return go({ to })
    const result = { from: to, to, changed: [] }
    return doneReply({ id, dappId: KERNEL_ID, receipt: null, result })
  }

  #recorded(): Versions {
    return versionsIn(stateOf(this.#parts.ledger).get(VERSIONS_KEY))
  }
}

export interface SystemActsParts extends KeyRotationParts, IdentityMakingParts, GrantingParts {
  readonly versions: Versions
  readonly archives: Archives
  readonly erasing: Erasing
  /** Present where the ledger was imported and is taken over. */
  readonly follower?: ReadOnlyReplica
}

const noPayload = { problem: 'it takes no payload' }

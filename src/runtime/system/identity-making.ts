import { join } from 'node:path'
import {
  isRunId,
  limits,
  type Random,
  type RunId,
  shownText,
  TallyError
} from '../../core/index.js'
import { begunIdentities, finishIdentity } from '../../identity/index.js'
import {
  type IntentReply,
  identityAsked,
  identityNamed,
  madeIdentityKey
} from '../../intent/index.js'
import { beginLedger, type Ledger, type Location, type Store } from '../../ledger/index.js'
import type { AskedIntent } from '../gate/asked-intent.js'
import { refusal } from '../gate/refusal.js'
import type { OwnKeys } from './own-keys.js'

export interface IdentityMakingParts {
  readonly ledger: Ledger
  readonly store: Store
  /** Absent in memory. */
  readonly location?: Location
  readonly keys?: OwnKeys
  readonly random: Random
}

const ACTION = 'system.identity.create'

/**
 * `system.identity.create`: another identity at the same location (formats.md §6), with a chain and
 * a state of its own.
 *
 * Owns: the turn, since of two with the same id the second is the first. Does not own: the receipt,
 * which is that of any intent and stands in the chain that was asked.
 *
 * - K2 First the new key is durable, under a name that no opening reads; then the receipt decides;
 *   then come the identity's first head, the marker, and the key file's own name. The next opening
 *   of the chain after a death does what is left ({@link finishIdentities}).
 */
export class IdentityMaking {
  readonly #parts: IdentityMakingParts
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: IdentityMakingParts) {
    this.#parts = parts
  }

  act(asked: AskedIntent): Promise<IntentReply> {
    const turn = this.#turn.then(() => this.#act(asked))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #act(asked: AskedIntent): Promise<IntentReply> {
    const { id, intent, go } = asked
    if (!isRunId(id)) throw new TallyError('run.invalid_id', { runId: shownText(id) })
    const about = identityAsked(intent.payload)
    if (about === undefined) {
      const problem = 'it takes { label } or nothing'
      return refusal(id, ACTION, 'invalid_input', { problem })
    }
    const earlier = this.#earlier(id)
    if (earlier !== undefined) return this.#finished(await go({ identity: earlier, ...about }))
    const { keys, location, random } = this.#parts
    const files = location === undefined ? undefined : keys?.files
    if (files === undefined) return refusal(id, ACTION, 'no_key_file', noFile)
    if ((location?.marker.identities.length ?? 0) >= limits.LOCATION_IDENTITIES_MAX) {
      const problem = `${limits.LOCATION_IDENTITIES_MAX} identities are there already`
      return refusal(id, ACTION, 'too_many_identities', { problem })
    }
    const identity = await files.beginIdentity(random)
    const reply = await go({ identity, ...about })
    // Nothing names it, so this key is never asked for.
    if (reply.type !== 'dapp') await files.dropIdentity(identity)
    return this.#finished(reply)
  }

  /** The identity that the run of this id has named (L6); its receipt may be yet to come. */
  #earlier(id: RunId): string | undefined {
    const { input } = this.#parts.ledger.run(id)?.started ?? {}
    return identityNamed((input as { readonly payload?: never } | undefined)?.payload)
  }

  async #finished(reply: IntentReply): Promise<IntentReply> {
    // Where this fails, the next opening does it: the receipt stands.
    if (reply.type === 'dapp') await finishIdentities(this.#parts).catch(() => undefined)
    return reply
  }
}

const noFile = {
  problem: 'the key is in no file of this location',
  fix: 'Open a ledger on disk with its key file.'
}

/**
 * Does what is left of the making of identities that a receipt of this chain says are made. Of the
 * others that were begun here the key files are let be: another chain may say so.
 */
export async function finishIdentities(
  parts: Pick<IdentityMakingParts, 'ledger' | 'store' | 'location'>
): Promise<void> {
  const { ledger, store, location } = parts
  if (location === undefined) return
  const directory = join(location.realPath, 'keys')
  const begun = await begunIdentities(directory)
  if (begun.length === 0 || ledger.state().mode === 'safe') return
  // What is only queued has not happened yet.
  await ledger.logHashes()
  for (const identity of begun) {
    if (ledger.read(madeIdentityKey(identity)) === undefined) continue
    await beginLedger(store, identity)
    await location.addIdentity(identity)
    await finishIdentity(directory, identity)
  }
}

import { join } from 'node:path'
import {
  blockError,
  coreError,
  type IdentityId,
  isRunId,
  limits,
  type Random,
  type RunId,
  shownText
} from '../../core/index.js'
import { begunIdentities, finishIdentities as finishKeyFiles } from '../../identity/index.js'
import {
  type IdentityAbout,
  type IntentReply,
  identityAsked,
  identityNamed,
  madeIdentityKey
} from '../../intent/index.js'
import {
  beginLedger,
  type Ledger,
  type Location,
  mainIdentity,
  type Store
} from '../../ledger/index.js'
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
  /** Present where the location is opened for many identities. */
  readonly shared?: {
    /** Identities that a killed process has begun, and that are not made whole yet. */
    readonly begun: () => readonly IdentityId[]
  }
}

const ACTION = 'system.identity.create'

/**
 * `system.identity.create`: another identity at the same location (formats.md §6), with a chain and
 * a state of its own.
 *
 * Owns: the turns of each id, since of two with the same id the second is the first, and what is
 * made and not finished. Does not own: the receipt, which is that of any intent and stands in the
 * chain that was asked.
 *
 * - K2 First the new key is durable, under a name that no opening reads; then the receipt decides;
 *   then come the identity's first head, the marker, and the key file's own name. The next opening
 *   of the chain after a death does what is left ({@link finishIdentities}).
 * - Identities that are finished at once share the batch of their heads and one marker.
 */
export class IdentityMaking {
  readonly #parts: IdentityMakingParts
  readonly #turns = new Map<RunId, Promise<unknown>>()
  #making = 0
  #unfinished: IdentityId[] = []
  #finishing: Promise<void> = Promise.resolve()

  constructor(parts: IdentityMakingParts) {
    this.#parts = parts
  }

  act(asked: AskedIntent): Promise<IntentReply> {
    const { id } = asked
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(() => this.#act(asked))
    const over = turn.then(
      () => undefined,
      () => undefined
    )
    const last = over.then(() => {
      if (this.#turns.get(id) === last) this.#turns.delete(id)
    })
    this.#turns.set(id, last)
    return turn
  }

  async #act(asked: AskedIntent): Promise<IntentReply> {
    const { id, intent, go } = asked
    if (!isRunId(id)) throw blockError('run.invalid_id', { runId: shownText(id) })
    const about = identityAsked(intent.payload)
    if (about === undefined) {
      const problem = 'it takes { label, name } or nothing; a name is no id of an identity'
      return refusal(id, ACTION, 'invalid_input', { problem })
    }
    const earlier = this.#earlier(id)
    if (earlier !== undefined) {
      return this.#finished(earlier, await go({ identity: earlier, ...about }))
    }
    const refused = this.#refusal(id, about)
    if (refused !== undefined) return refused
    this.#making += 1
    try {
      return await this.#make(asked, about)
    } finally {
      this.#making -= 1
    }
  }

  #refusal(id: RunId, { name }: IdentityAbout): IntentReply | undefined {
    const { keys, location, ledger } = this.#parts
    if (location === undefined || keys?.files === undefined) {
      return refusal(id, ACTION, 'no_key_file', noFile)
    }
    const { marker } = location
    if (name !== undefined && mainIdentity(marker) !== ledger.identity) {
      const problem = 'names stand in the chain of the main identity of the location'
      return refusal(id, ACTION, 'not_main', { problem, fix: 'Ask the main identity.' })
    }
    if (marker.identities.length + this.#making < limits.LOCATION_IDENTITIES_MAX) return undefined
    const problem = `${limits.LOCATION_IDENTITIES_MAX} identities are there already`
    return refusal(id, ACTION, 'too_many_identities', { problem })
  }

  async #make({ go }: AskedIntent, about: IdentityAbout): Promise<IntentReply> {
    const { keys, random } = this.#parts
    const files = keys?.files
    if (files === undefined) throw coreError('core.internal', { problem: 'no key files' })
    const identity = await files.beginIdentity(random)
    const reply = await go({ identity, ...about })
    // Nothing names it, so this key is never asked for.
    if (reply.type !== 'dapp') await files.dropIdentity(identity)
    return this.#finished(identity, reply)
  }

  /** The identity that the run of this id has named (L6); its receipt may be yet to come. */
  #earlier(id: RunId): IdentityId | undefined {
    const { input } = this.#parts.ledger.run(id)?.started ?? {}
    const named = identityNamed((input as { readonly payload?: never } | undefined)?.payload)
    return named as IdentityId | undefined
  }

  async #finished(identity: IdentityId, reply: IntentReply): Promise<IntentReply> {
    if (reply.type !== 'dapp') return reply
    this.#unfinished.push(identity)
    const finishing = this.#finishing.then(() => this.#finishAll())
    // Where this fails, the next opening does it: the receipt stands.
    this.#finishing = finishing.catch(() => undefined)
    await this.#finishing
    return reply
  }

  /** The first of those that wait finishes them all. */
  async #finishAll(): Promise<void> {
    const identities = this.#unfinished
    this.#unfinished = []
    if (identities.length > 0) await finish(this.#parts, identities)
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
export async function finishIdentities(parts: FinishingParts): Promise<void> {
  const { location, shared } = parts
  if (location === undefined) return
  const begun = shared?.begun() ?? (await begunIdentities(keysAt(location)))
  if (begun.length > 0) await finish(parts, begun)
}

type FinishingParts = Pick<IdentityMakingParts, 'ledger' | 'store' | 'location' | 'shared'>

function keysAt({ realPath }: Location): string {
  return join(realPath, 'keys')
}

async function finish(parts: FinishingParts, begun: readonly IdentityId[]): Promise<void> {
  const { ledger, store, location } = parts
  if (location === undefined || ledger.state().mode === 'safe') return
  // What is only queued has not happened yet.
  await ledger.logHashes()
  const made = begun.filter((identity) => ledger.read(madeIdentityKey(identity)) !== undefined)
  if (made.length === 0) return
  await Promise.all(made.map((identity) => beginLedger(store, identity)))
  await location.addIdentities(made)
  await finishKeyFiles(keysAt(location), made)
}

import {
  type IdentityId,
  isIdentityId,
  type JsonObject,
  limits,
  runtimeError
} from '../../core/index.js'
import {
  IDENTITY_NAMES_PREFIX,
  type IntentReply,
  identityCalled,
  isIdentityName
} from '../../intent/index.js'
import type { Ledger, Marker } from '../../ledger/index.js'

/** The runtime of the main identity. */
interface Main {
  readonly ledger: Pick<Ledger, 'list' | 'read'>
  intent(asked: { readonly action: string; readonly payload: JsonObject }): Promise<IntentReply>
}

/**
 * What the identities of a location are called, and how one of a name is made.
 *
 * Owns: those that are being made. Does not own: the names, which are state of the main identity.
 */
export class IdentityNames {
  readonly #main: Main
  readonly #marker: () => Marker
  readonly #making = new Map<string, Promise<IdentityId>>()

  constructor(main: Main, marker: () => Marker) {
    this.#main = main
    this.#marker = marker
  }

  /** The identity of a name; one that is being made once that is done. */
  async find(name: string): Promise<IdentityId | undefined> {
    const making = this.#making.get(name)
    if (making !== undefined) return making.catch(() => undefined)
    return this.#find(name)
  }

  /** Names by their identities. */
  async all(): Promise<ReadonlyMap<IdentityId, string>> {
    const names = new Map<IdentityId, string>()
    for (const key of await this.#main.ledger.list(IDENTITY_NAMES_PREFIX)) {
      const name = key.slice(IDENTITY_NAMES_PREFIX.length)
      const identity = this.#find(name)
      if (identity !== undefined) names.set(identity, name)
    }
    return names
  }

  /** Makes the identity of a name, or gives the one that has it. */
  make(name: string, label?: string): Promise<IdentityId> {
    const known = this.#making.get(name)
    if (known !== undefined) return known
    const making = this.#make(name, label).finally(() => this.#making.delete(name))
    this.#making.set(name, making)
    // Who asks for it by `find` takes a failure for none.
    making.catch(() => undefined)
    return making
  }

  /** So many at once share their writes; their order of making is any. */
  async makeAll(names: readonly string[]): Promise<readonly IdentityId[]> {
    const made: IdentityId[] = []
    const places = names.entries()
    const work = async () => {
      for (const [place, name] of places) {
        if (!isIdentityName(name)) {
          const problem = 'a name is up to 128 letters, digits and ._:-, and no id of an identity'
          throw runtimeError('runtime.identity_not_made', { name, problem })
        }
        made[place] = await this.make(name)
      }
    }
    await Promise.all(Array.from({ length: limits.IDENTITIES_MAKING_MAX }, work))
    return made
  }

  #find(name: string): IdentityId | undefined {
    return identityCalled(this.#main.ledger.read(IDENTITY_NAMES_PREFIX + name))
  }

  async #make(name: string, label: string | undefined): Promise<IdentityId> {
    const found = this.#find(name)
    if (found !== undefined) return found
    const payload = label === undefined ? { name } : { name, label }
    const reply = await this.#main.intent({ action: 'system.identity.create', payload })
    const identity = identityIn(reply)
    if (identity === undefined || !this.#marker().identities.includes(identity)) {
      // Another process has asked for it meanwhile, through the socket.
      const other = this.#find(name)
      if (other !== undefined && other !== identity) return other
      const problem = reply.type === 'error' ? reply.message : 'its making was not finished'
      throw runtimeError('runtime.identity_not_made', { name, problem })
    }
    return identity
  }
}

function identityIn(reply: IntentReply): IdentityId | undefined {
  const { identity } = reply as unknown as { readonly identity?: unknown }
  return reply.type === 'dapp' && isIdentityId(identity) ? identity : undefined
}

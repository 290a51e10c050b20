import {
  type IdentityId,
  isIdentityId,
  ledgerError,
  limits,
  runtimeError,
  systemClock,
  type Timed
} from '../core/index.js'
import { isIdentityName } from '../intent/index.js'
import { type Location, mainIdentity, type OwnerHandler } from '../ledger/index.js'
import type { AwakeMarks } from './identities/awake-marks.js'
import { IdentityNames } from './identities/identity-names.js'
import { type IdentityHold, OpenIdentities, type OpenMember } from './identities/open-identities.js'
import { runtimeOfHolder } from './identities/runtime-of-holder.js'
import type { SharedStore } from './identities/shared-store.js'
import { Waking } from './identities/waking.js'
import type {
  IdentityOptions,
  LocationIdentity,
  LocationOptions,
  LocationRuntime,
  LocationStatus
} from './location-api.js'
import type { WiredRuntime } from './runtime.js'
import type { Runtime } from './runtime-api.js'

/** What is open of one identity of many. */
export interface OpenIdentity extends OpenMember {
  readonly runtime: WiredRuntime
}

export interface LocationParts {
  readonly main: WiredRuntime
  readonly location: Location
  readonly marks: AwakeMarks
  readonly store: SharedStore
  readonly options: LocationOptions
  open(identity: IdentityId): Promise<OpenIdentity>
  /** Lets go of the location, after all of its identities are closed. */
  close(closeAll: () => Promise<void>): Promise<void>
  readonly warnings: readonly string[]
}

/**
 * A location that is opened for many identities ({@link LocationRuntime}).
 *
 * Owns: its parts, and what is wrong with an identity. Does not own: what an identity does.
 *
 * - L3 Once a write has failed, every ledger that is open is poisoned, and none is opened.
 */
export class LocationIdentities implements LocationRuntime, Timed {
  readonly #parts: LocationParts
  readonly #names: IdentityNames
  readonly #open: OpenIdentities<OpenIdentity>
  readonly #waking: Waking
  readonly #problems = new Map<IdentityId, string>()
  readonly #leaveClock: (() => void) | undefined
  #closed: Promise<void> | undefined

  /** Throws `runtime.invalid_location`. */
  constructor(parts: LocationParts) {
    this.#parts = parts
    const { main, options, store, location } = parts
    const { clock = systemClock } = options
    this.#names = new IdentityNames(main, () => location.marker)
    const failed = (identity: IdentityId, error: unknown) => this.#failed(identity, error)
    this.#open = new OpenIdentities<OpenIdentity>({
      open: (identity) => this.#opened(identity),
      openMax: whole('openMax', options.openMax ?? limits.IDENTITIES_OPEN_MAX),
      idleMs: whole('idleMs', options.idleMs ?? limits.IDENTITY_IDLE_MS),
      ...{ clock, failed }
    })
    const wake = async (identity: IdentityId) => (await this.#held(identity)).release()
    this.#waking = new Waking({ clock, wake, failed })
    store.onFailure((error) => this.#poison(error))
    this.#leaveClock = clock.attach?.(this)
  }

  get busyWith(): Timed['busyWith'] {
    return this.#open.isMoving || this.#waking.waiting > 0 ? 'itself' : undefined
  }

  /** Goes on with what has work, behind the return of who opens the location. */
  begin(): void {
    if (this.#parts.options.resume === false) return
    const { marker } = this.#parts.location
    const known = new Set(marker.identities)
    const main = mainIdentity(marker)
    for (const [identity, time] of this.#parts.marks.times()) {
      const isOpened = known.has(identity) && !isFollower(marker, identity)
      if (isOpened && identity !== main) this.#waking.at(identity, time)
    }
  }

  async identity(which?: string, options: IdentityOptions = {}): Promise<Runtime> {
    const { main } = this.#parts
    const identity = which === undefined ? main.identity : await this.#named(which, options)
    if (identity === main.identity) {
      this.#check()
      return runtimeOfHolder(main, () => undefined)
    }
    const { member, release } = await this.#held(identity)
    return runtimeOfHolder(member.runtime, release)
  }

  async create(names: readonly string[]): Promise<readonly IdentityId[]> {
    this.#check()
    return this.#names.makeAll(names)
  }

  async identities(): Promise<readonly LocationIdentity[]> {
    const { location, main, marks } = this.#parts
    const names = await this.#names.all()
    return location.marker.identities.map((identity) => {
      const isMain = identity === main.identity
      const { isOpen, holds } = this.#open.stateOf(identity)
      return {
        identity,
        name: names.get(identity) ?? null,
        isMain,
        isFollower: isFollower(location.marker, identity),
        isOpen: isOpen || isMain,
        holds,
        wakes: isMain ? null : (marks.timeOf(identity) ?? null),
        problem: this.#problems.get(identity) ?? null
      }
    })
  }

  status(): LocationStatus {
    const { store, warnings } = this.#parts
    const { waiting: waking } = this.#waking
    return { open: this.#open.size + 1, waking, failure: store.failure ?? null, warnings }
  }

  /** What answers requests of other processes that name an identity, held until it is let go of. */
  async serving(
    which: string
  ): Promise<{ readonly handle: OwnerHandler; readonly release: () => void }> {
    const { main } = this.#parts
    const identity = await this.#named(which, {})
    if (identity === main.identity) return { handle: main.service, release: () => undefined }
    const { member, release } = await this.#held(identity)
    return { handle: member.runtime.service, release }
  }

  close(): Promise<void> {
    this.#closed ??= this.#parts.close(async () => {
      this.#waking.close()
      try {
        await this.#open.close()
      } finally {
        this.#leaveClock?.()
        await this.#parts.main.close()
      }
    })
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #named(which: string, { create, label }: IdentityOptions): Promise<IdentityId> {
    this.#check()
    if (isIdentityId(which)) return which
    const found = await this.#names.find(which)
    if (found !== undefined) return found
    if (create === undefined || !isIdentityName(which)) {
      throw ledgerError('ledger.identity_missing', { identity: which })
    }
    return this.#names.make(which, label)
  }

  async #held(identity: IdentityId): Promise<IdentityHold<OpenIdentity>> {
    this.#check()
    const { marker, realPath } = this.#parts.location
    if (!marker.identities.includes(identity)) {
      throw ledgerError('ledger.identity_missing', { identity })
    }
    if (isFollower(marker, identity)) throw ledgerError('ledger.follower', { path: realPath })
    return this.#open.hold(identity)
  }

  async #opened(identity: IdentityId): Promise<OpenIdentity> {
    this.#waking.callOff(identity)
    const member = await this.#parts.open(identity)
    this.#problems.delete(identity)
    const close = async () => {
      await member.close()
      const time = this.#parts.marks.timeOf(identity)
      if (typeof time === 'number' && this.#parts.options.resume !== false) {
        this.#waking.at(identity, time)
      }
    }
    return {
      runtime: member.runtime,
      get isIdle() {
        return member.isIdle
      },
      close
    }
  }

  #check(): void {
    if (this.#closed !== undefined) throw runtimeError('runtime.closed', {})
    const { failure } = this.#parts.store
    if (failure === undefined) return
    throw ledgerError('ledger.poisoned', { problem: failure.message })
  }

  #poison(error: unknown): void {
    this.#parts.main.ledger.storeFailed(error)
    for (const { runtime } of this.#open.members()) runtime.ledger.storeFailed(error)
  }

  #failed(identity: IdentityId, error: unknown): void {
    this.#problems.set(identity, error instanceof Error ? error.message : String(error))
  }
}

function isFollower(marker: Location['marker'], identity: IdentityId): boolean {
  return marker.followers?.includes(identity) === true
}

function whole(name: string, given: number): number {
  if (Number.isSafeInteger(given) && given >= 1) return given
  const problem = `${name} is ${given}, and no whole number from 1`
  throw runtimeError('runtime.invalid_location', { problem })
}

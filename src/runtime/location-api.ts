import type { IdentityId } from '../core/index.js'
import type { Registrations } from './code/registrations.js'
import type { WakeTime } from './identities/awake-marks.js'
import type { DeliveredEvent } from './run/channel.js'
import type { Runtime, RuntimeOptions } from './runtime-api.js'

/** What each identity of a location can run, and how; members are those of `createRuntime`. */
export interface LocationOptions
  extends Registrations,
    Pick<
      RuntimeOptions,
      | 'location'
      | 'create'
      | 'passphrase'
      | 'insecurePlaintextKey'
      | 'handOver'
      | 'durability'
      | 'serve'
      | 'packages'
      | 'network'
      | 'closedPaths'
      | 'onQuarantine'
      | 'telemetry'
      | 'clock'
      | 'random'
    > {
  /**
   * Resumes interrupted runs, timers and schedules of every identity, also without a call of
   * `identity`. Default true; false: of none.
   */
  readonly resume?: boolean
  /**
   * Identities that are open at once besides the main one, default `limits.IDENTITIES_OPEN_MAX`.
   */
  readonly openMax?: number
  /**
   * How long an identity stays open without holder and work, at least. Milliseconds, default
   * `limits.IDENTITY_IDLE_MS`.
   */
  readonly idleMs?: number
  /** Hears every event of every identity. */
  readonly onEvent?: (event: DeliveredEvent, identity: IdentityId) => void
}

/** How an identity is asked for. */
export interface IdentityOptions {
  /** Makes one of this name where there is none. */
  readonly create?: 'if-absent'
  /** What it is for, where it is made; up to `limits.IDENTITY_LABEL_LENGTH_MAX` characters. */
  readonly label?: string
}

/** An identity of a location, as it stands. */
export interface LocationIdentity {
  readonly identity: IdentityId
  /** Null where it was made without one. */
  readonly name: string | null
  /** The one that the location was made with, which is always open. */
  readonly isMain: boolean
  /** It was imported and not taken over: it is not opened. */
  readonly isFollower: boolean
  readonly isOpen: boolean
  readonly holds: number
  /**
   * When the location opens it by itself, milliseconds since 1970; `now`: it is open, or was when
   * its process died; null: when it is asked for.
   */
  readonly wakes: WakeTime | null
  /** Why it could not be opened for its work, or closed in order. */
  readonly problem: string | null
}

/** How a location stands that is opened for many identities. */
export interface LocationStatus {
  /** Identities that are open, the main one included. */
  readonly open: number
  /** Identities whose work is due and that are not open yet. */
  readonly waking: number
  /** Why no identity takes anything more, until the location is closed and opened again (L3). */
  readonly failure: { readonly code: string; readonly message: string } | null
  readonly warnings: readonly string[]
}

/**
 * Many identities of one location, each with a chain, a key, a state and runs of its own, in one
 * process: one lock, one store, one flush for what they commit at once.
 *
 * @example
 * await using location = await openLocation({ location: './ledger', blocks })
 * await using tenant = await location.identity('acme', { create: 'if-absent' })
 * await tenant.start(order, { id: 'order-17' })
 */
export interface LocationRuntime extends AsyncDisposable {
  /**
   * The runtime of an identity, by name or id; the main one where none is given. It is opened where
   * it is not open, and stays open at least until `close` of what is given here was called, which
   * lets go of it and of nothing else. Handles and iterators of it are to be used until then.
   * Rejects with `ledger.identity_missing`, `ledger.follower`, `runtime.too_many_identities`,
   * `runtime.identity_not_made`, `ledger.poisoned`, `runtime.closed`, and the codes of opening.
   */
  identity(which?: string, options?: IdentityOptions): Promise<Runtime>
  /**
   * Makes identities by their names and opens none; those that are there stay as they are. Gives
   * their ids in the same order. What many need at once is written once.
   */
  create(names: readonly string[]): Promise<readonly IdentityId[]>
  /** All identities, ordered by their ids. */
  identities(): Promise<readonly LocationIdentity[]>
  status(): LocationStatus
  /** Parks what is running in all identities and lets go of the location. */
  close(): Promise<void>
}

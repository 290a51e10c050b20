import { type Clock, type IdentityId, runtimeError } from '../../core/index.js'

/** What is open of one identity. */
export interface OpenMember {
  /** Whether nothing moves: what there is to do waits for time or people. */
  readonly isIdle: boolean
  close(): Promise<void>
}

export interface OpenIdentitiesOptions<Member extends OpenMember> {
  open(identity: IdentityId): Promise<Member>
  /** At most so many at once. */
  readonly openMax: number
  /** Closed after so long without holder and work. Milliseconds. */
  readonly idleMs: number
  readonly clock: Clock
  /** An identity could not be closed in order. */
  failed(identity: IdentityId, error: unknown): void
}

/** A hold on what is open of an identity. */
export interface IdentityHold<Member> {
  readonly member: Member
  /** May be called again, and does nothing then. */
  release(): void
}

interface Entry<Member> {
  readonly identity: IdentityId
  readonly opening: Promise<Member>
  /** Once it is open. */
  member: Member | undefined
  holds: number
  /** Place in the order of use. */
  usedAt: number
  /** Since when it has been seen without holder and work. */
  idleSince: number | undefined
  closing: Promise<void> | undefined
}

/**
 * The identities of a location that are open in this process.
 *
 * Owns: which are open, their holds, and when they are closed. Does not own: what is open of them,
 * what wakes them, or the store.
 *
 * - L17 An identity is open once at a time: who asks while it is opened gets that, and who asks
 *   while it is closed gets the next. None is closed while it is held or has work.
 * - L17 At most `openMax` are open: the one of those without holder and work that was used longest
 *   ago makes room, and where there is none, asking is refused.
 */
export class OpenIdentities<Member extends OpenMember> {
  readonly #options: OpenIdentitiesOptions<Member>
  readonly #entries = new Map<IdentityId, Entry<Member>>()
  #uses = 0
  #callOffLook: (() => void) | undefined
  #isClosed = false

  constructor(options: OpenIdentitiesOptions<Member>) {
    this.#options = options
  }

  /** What is open now, without those that are being opened or closed. */
  *members(): Generator<Member> {
    for (const { member, closing } of this.#entries.values()) {
      if (member !== undefined && closing === undefined) yield member
    }
  }

  /** Whether one is being opened or closed. */
  get isMoving(): boolean {
    for (const { member, closing } of this.#entries.values()) {
      if (member === undefined || closing !== undefined) return true
    }
    return false
  }

  /** Whether an identity is open, and by how many it is held. */
  stateOf(identity: IdentityId): { readonly isOpen: boolean; readonly holds: number } {
    const entry = this.#entries.get(identity)
    return { isOpen: entry !== undefined, holds: entry?.holds ?? 0 }
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * Opens an identity where it is not open, and holds it.
   * Throws `runtime.too_many_identities`, `runtime.closed`, and what opening throws.
   */
  async hold(identity: IdentityId): Promise<IdentityHold<Member>> {
    for (;;) {
      this.#checkOpen()
      const entry = this.#entries.get(identity)
      if (entry?.closing !== undefined) await entry.closing
      else if (entry !== undefined) return this.#held(entry)
      else if (this.#entries.size < this.#options.openMax) return this.#held(this.#begin(identity))
      else await this.#makeRoom()
    }
  }

  /** Closes what is open, work or not; resolves when all is closed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#callOffLook?.()
    const entries = [...this.#entries.values()]
    await Promise.all(entries.map(({ opening }) => opening.catch(() => undefined)))
    await Promise.all(entries.map((entry) => this.#close(entry)))
  }

  #checkOpen(): void {
    if (this.#isClosed) throw runtimeError('runtime.closed', {})
  }

  #begin(identity: IdentityId): Entry<Member> {
    const entry: Entry<Member> = {
      ...{ identity, opening: this.#options.open(identity), member: undefined },
      ...{ holds: 0, usedAt: 0, idleSince: undefined, closing: undefined }
    }
    this.#entries.set(identity, entry)
    entry.opening.then(
      (member) => {
        entry.member = member
      },
      () => this.#entries.delete(identity)
    )
    return entry
  }

  async #held(entry: Entry<Member>): Promise<IdentityHold<Member>> {
    // Before it is open: so nothing closes it meanwhile.
    entry.holds += 1
    entry.idleSince = undefined
    try {
      const member = await entry.opening
      this.#checkOpen()
      return { member, release: this.#releaseOf(entry) }
    } catch (error) {
      this.#release(entry)
      throw error
    }
  }

  #releaseOf(entry: Entry<Member>): () => void {
    let isHeld = true
    return () => {
      if (isHeld) this.#release(entry)
      isHeld = false
    }
  }

  #release(entry: Entry<Member>): void {
    entry.holds -= 1
    this.#uses += 1
    entry.usedAt = this.#uses
    this.#lookLater()
  }

  /** Throws where all that are open are held or have work. */
  async #makeRoom(): Promise<void> {
    let oldest: Entry<Member> | undefined
    const closing: Promise<void>[] = []
    for (const entry of this.#entries.values()) {
      if (entry.closing !== undefined) closing.push(entry.closing)
      else if (isFree(entry) && (oldest === undefined || entry.usedAt < oldest.usedAt)) {
        oldest = entry
      }
    }
    if (oldest !== undefined) return this.#close(oldest)
    if (closing.length > 0) return Promise.race(closing)
    throw runtimeError('runtime.too_many_identities', { limit: this.#options.openMax })
  }

  /** Looks for those without holder and work, as long as there may be any. */
  #lookLater(): void {
    if (this.#isClosed || this.#callOffLook !== undefined) return
    const { clock, idleMs } = this.#options
    this.#callOffLook = clock.schedule(clock.now() + idleMs / LOOKS_OF_IDLE_TIME, () => {
      this.#callOffLook = undefined
      this.#look()
    })
  }

  #look(): void {
    const now = this.#options.clock.now()
    for (const entry of this.#entries.values()) {
      if (entry.closing !== undefined || entry.holds > 0) continue
      if (!isFree(entry)) entry.idleSince = undefined
      else if (entry.idleSince === undefined) entry.idleSince = now
      else if (now - entry.idleSince >= this.#options.idleMs) void this.#close(entry)
    }
    // One that is held is looked at once it is released.
    const isAnyLeft = [...this.#entries.values()].some(
      ({ holds, closing }) => holds === 0 && closing === undefined
    )
    if (isAnyLeft) this.#lookLater()
  }

  /** Never rejects. */
  #close(entry: Entry<Member>): Promise<void> {
    const { identity, member } = entry
    if (member === undefined) return Promise.resolve()
    entry.closing ??= member
      .close()
      .catch((error: unknown) => this.#options.failed(identity, error))
      .finally(() => this.#entries.delete(identity))
    return entry.closing
  }
}

/** An identity is looked at so often in the time after which it is closed. */
const LOOKS_OF_IDLE_TIME = 4

function isFree<Member extends OpenMember>({ holds, member }: Entry<Member>): boolean {
  return holds === 0 && member?.isIdle === true
}

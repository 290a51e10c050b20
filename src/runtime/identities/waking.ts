import { type Clock, type IdentityId, isTallyError, limits } from '../../core/index.js'
import type { WakeTime } from './awake-marks.js'

export interface WakingOptions {
  readonly clock: Clock
  /** Opens an identity and lets go of it again: it stays open while it has work. */
  wake(identity: IdentityId): Promise<void>
  /** It cannot be opened for its work; it is tried again where others took its room. */
  failed(identity: IdentityId, error: unknown): void
}

/**
 * Opens identities whose timers are due or whose runs were interrupted.
 *
 * Owns: timers of identities that are closed, and those whose time has come and that wait for their
 * turn. Does not own: what is to be done.
 *
 * - L17 What falls due while an identity is closed is done once there is room to open it.
 */
export class Waking {
  readonly #options: WakingOptions
  readonly #timers = new Map<IdentityId, () => void>()
  readonly #waiting = new Set<IdentityId>()
  #underWay = 0
  #isClosed = false

  constructor(options: WakingOptions) {
    this.#options = options
  }

  /** Identities whose time has come and that are not open yet. */
  get waiting(): number {
    return this.#waiting.size + this.#underWay
  }

  at(identity: IdentityId, time: WakeTime): void {
    this.callOff(identity)
    if (this.#isClosed) return
    if (time === 'now') return this.#due(identity)
    const { clock } = this.#options
    this.#timers.set(
      identity,
      clock.schedule(time, () => this.#due(identity))
    )
  }

  /** It is open, or is opened by somebody else. */
  callOff(identity: IdentityId): void {
    this.#timers.get(identity)?.()
    this.#timers.delete(identity)
    this.#waiting.delete(identity)
  }

  close(): void {
    this.#isClosed = true
    for (const callOff of this.#timers.values()) callOff()
    this.#timers.clear()
    this.#waiting.clear()
  }

  #due(identity: IdentityId): void {
    this.#timers.delete(identity)
    this.#waiting.add(identity)
    this.#next()
  }

  #next(): void {
    for (const identity of this.#waiting) {
      if (this.#isClosed || this.#underWay >= limits.IDENTITIES_WAKING_MAX) return
      this.#waiting.delete(identity)
      this.#underWay += 1
      void this.#wake(identity).finally(() => {
        this.#underWay -= 1
        this.#next()
      })
    }
  }

  async #wake(identity: IdentityId): Promise<void> {
    const { clock, wake, failed } = this.#options
    try {
      await wake(identity)
    } catch (error) {
      if (this.#isClosed) return
      const isFull = isTallyError(error, 'runtime.too_many_identities')
      if (isFull) this.at(identity, clock.now() + limits.IDENTITY_WAKE_RETRY_MS)
      else failed(identity, error)
    }
  }
}

import { limits, systemClock } from '../../core/index.js'
import type { Session } from './session.js'

/** A session that is used now. */
export interface SessionUse {
  readonly session: Session
  /** The other side has gone: the next use opens another one. */
  forget(): void
  release(): void
}

/** One opening of the ledger and those that use it. */
class Opened {
  readonly session: Promise<Session>
  /** Settles once it was closed. */
  readonly closed: Promise<void>
  users = 0
  /** Of those, which may take long: others share it meanwhile, since it is not free anyway. */
  streams = 0
  /** When others are to have their turn; never where another process holds the ledger. */
  until = systemClock.now() + limits.INSPECTION_TURN_MS
  #settle: () => void = () => undefined

  constructor(session: Promise<Session>) {
    this.session = session
    this.closed = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  close(): void {
    const close = async () => (await this.session).close()
    // What cannot be closed is not open.
    close().then(this.#settle, this.#settle)
  }
}

/**
 * A ledger that is open to read as long as something reads it, and a moment longer: two of one
 * process cannot open it at once, and a service must be able to take it when nothing is read, also
 * between questions that come without a pause.
 */
export class SharedSession {
  readonly #open: () => Promise<Session>
  #current: Opened | undefined
  /** The ledger is not free before the last session was closed. */
  #closed: Promise<void> = Promise.resolve()
  #callOff: () => void = () => undefined

  constructor(open: () => Promise<Session>) {
    this.#open = open
  }

  /** It is open, is being opened, or will be closed in a moment. */
  get isOpen(): boolean {
    return this.#current !== undefined
  }

  /** Throws what opening throws. */
  async use({ isStream = false } = {}): Promise<SessionUse> {
    this.#callOff()
    const opened = this.#turn()
    opened.users += 1
    if (isStream) opened.streams += 1
    const forget = () => this.#leave(opened)
    const release = () => {
      if (isStream) opened.streams -= 1
      this.#release(opened)
    }
    try {
      const session = await opened.session
      if (session.holder === 'owner') opened.until = Number.POSITIVE_INFINITY
      return { session, forget, release }
    } catch (error) {
      forget()
      release()
      throw error
    }
  }

  /** Closes it at once. */
  async close(): Promise<void> {
    this.#callOff()
    if (this.#current !== undefined) this.#end(this.#current)
    await this.#closed
  }

  #turn(): Opened {
    const current = this.#current
    const isTurn = current !== undefined && systemClock.now() < current.until
    if (current !== undefined && (isTurn || current.streams > 0)) return current
    const isOver = current !== undefined
    if (isOver && current.users === 0) this.#end(current)
    const free = isOver ? current.closed.then(grace) : this.#closed
    const next = new Opened(free.then(this.#open))
    this.#closed = Promise.all([this.#closed, next.closed]).then(() => undefined)
    this.#current = next
    return next
  }

  #release(opened: Opened): void {
    opened.users -= 1
    if (opened.users > 0) return
    if (this.#current !== opened) {
      this.#end(opened)
      return
    }
    const at = systemClock.now() + limits.INSPECTION_GRACE_MS
    this.#callOff = systemClock.schedule(at, () => this.#end(opened))
  }

  #leave(opened: Opened): void {
    if (this.#current === opened) this.#current = undefined
  }

  #end(opened: Opened): void {
    this.#leave(opened)
    opened.close()
  }
}

/** Those that wait for the ledger look for it several times meanwhile. */
async function grace(): Promise<void> {
  await new Promise<void>((resolve) => {
    systemClock.schedule(systemClock.now() + limits.INSPECTION_GRACE_MS, resolve)
  })
}

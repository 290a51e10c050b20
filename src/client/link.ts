import { setMaxListeners } from 'node:events'
import { type Clock, isTallyError, type Json, ledgerError, limits } from '../core/index.js'
import { connectOwner, type OwnerClient } from '../owner/index.js'

export interface LinkOptions {
  /** Where the ledger lies, without symbolic links. */
  readonly realPath: string
  /** How long is waited for an owner that answers, each time there is none. */
  readonly waitMs: number
  readonly clock: Clock
  /** Which identity is asked, by id or name; that of the greeting by default. */
  readonly identity?: string | undefined
}

/** A stream that may be asked for again. */
export interface Followed {
  readonly method: string
  /** What is asked for, behind what was given so far. */
  readonly params: () => Json
  /** Whether the next owner can go on with it. */
  readonly isContinued: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * The connection of a client to whichever process holds the ledger now.
 *
 * Owns: one connection at a time, and the turns of its requests. Does not own: what is asked.
 *
 * Invariants:
 * - A request that an owner did not answer is asked again of the next one: each is named by its
 *   caller (L6, W10), or only reads, so that asking twice does it once.
 * - Waiting for an owner, asking again and requests under way are bounded.
 */
export class Link {
  readonly #options: LinkOptions
  readonly #closing = new AbortController()
  #owner: OwnerClient | undefined
  #connecting: Promise<OwnerClient> | undefined
  #identity: string | undefined
  #underWay = 0
  readonly #turns: (() => void)[] = []

  constructor(options: LinkOptions) {
    this.#options = options
    // Each call listens, and their number is bounded by turns.
    setMaxListeners(0, this.#closing.signal)
  }

  /**
   * A connection to the owner. Throws `owner.absent` where none answers in time, and
   * `owner.wrong_ledger` where the next owner serves another identity.
   */
  async connected(signal?: AbortSignal): Promise<OwnerClient> {
    if (this.#owner !== undefined) return this.#owner
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    // The caller may have left.
    this.#connecting.catch(() => undefined)
    return unlessAborted(this.#connecting, this.#signalOf(signal))
  }

  /** Throws what the owner throws, `owner.absent`, and the signal's reason. */
  async request(method: string, params: Json, signal?: AbortSignal): Promise<Json> {
    const leaving = this.#signalOf(signal)
    await this.#turn(leaving)
    try {
      for (let repeats = 0; ; repeats += 1) {
        const owner = await this.connected(signal)
        try {
          return await owner.request(method, params, leaving)
        } catch (error) {
          leaving.throwIfAborted()
          if (!this.#hasLeft(owner, error) || repeats >= limits.CLIENT_REPEATS_MAX) throw error
        }
      }
    } finally {
      this.#underWay -= 1
      this.#turns.shift()?.()
    }
  }

  /** Ends with the stream and when the loop is left. Throws as `request`. */
  async *stream(followed: Followed): AsyncGenerator<Json, void> {
    const { method, params, isContinued } = followed
    const leaving = this.#signalOf(followed.signal)
    for (let repeats = 0; ; repeats += 1) {
      const owner = await this.connected(followed.signal)
      try {
        for await (const event of owner.stream(method, params(), leaving)) {
          repeats = 0
          yield event
          // What came before it was left is not given any more.
          leaving.throwIfAborted()
        }
        // One that was left by its signal has no end to tell of.
        leaving.throwIfAborted()
        return
      } catch (error) {
        leaving.throwIfAborted()
        const isOver = !isContinued || repeats >= limits.CLIENT_REPEATS_MAX
        if (!this.#hasLeft(owner, error) || isOver) throw error
      }
    }
  }

  close(): void {
    this.#closing.abort(ledgerError('owner.client_closed', {}))
    this.#owner?.close()
    this.#owner = undefined
  }

  /** Whether an error says that this owner answers no more; the next request finds another. */
  #hasLeft(owner: OwnerClient, error: unknown): boolean {
    if (!isTallyError(error, 'owner.disconnected') && !isTallyError(error, 'runtime.closed')) {
      return false
    }
    owner.close()
    // Another request may have found the next owner already.
    if (this.#owner === owner) this.#owner = undefined
    return true
  }

  async #connect(): Promise<OwnerClient> {
    const { realPath, waitMs, clock, identity } = this.#options
    const end = clock.now() + waitMs
    for (let lastError: unknown; ; ) {
      this.#closing.signal.throwIfAborted()
      try {
        const owner = await connectOwner(realPath, { clock, identity })
        if (owner !== undefined) return this.#take(owner)
      } catch (error) {
        // The holder is about to let go of it, or has more clients than it serves.
        const isPassing =
          isTallyError(error, 'ledger.locked') || isTallyError(error, 'owner.disconnected')
        if (!isPassing) throw error
        lastError = error
      }
      if (clock.now() >= end) {
        const cause = lastError === undefined ? {} : { cause: lastError }
        throw ledgerError('owner.absent', { path: realPath }, cause)
      }
      await pause(clock, limits.CLIENT_POLL_MS, this.#closing.signal)
    }
  }

  #take(owner: OwnerClient): OwnerClient {
    const { identity } = owner
    this.#identity ??= identity
    if (identity !== this.#identity || this.#closing.signal.aborted) {
      owner.close()
      this.#closing.signal.throwIfAborted()
      const [expected, actual] = [this.#identity, identity]
      throw ledgerError('owner.wrong_ledger', { expected, actual })
    }
    this.#owner = owner
    return owner
  }

  /** One owner takes so many requests of one client at once; the others wait here. */
  async #turn(leaving: AbortSignal): Promise<void> {
    leaving.throwIfAborted()
    this.#underWay += 1
    if (this.#underWay <= limits.CLIENT_REQUESTS_MAX) return
    let begin: () => void = () => undefined
    const turn = new Promise<void>((resolve) => {
      begin = resolve
    })
    this.#turns.push(begin)
    try {
      await unlessAborted(turn, leaving)
    } catch (error) {
      this.#underWay -= 1
      const place = this.#turns.indexOf(begin)
      // A turn that came too late is the next one's.
      if (place >= 0) this.#turns.splice(place, 1)
      else this.#turns.shift()?.()
      throw error
    }
  }

  #signalOf(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closing.signal
    return signal === undefined ? closing : AbortSignal.any([signal, closing])
  }
}

/** What `promise` gives, unless the signal aborts first; then throws its reason. */
async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  let leave: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

async function pause(clock: Clock, durationMs: number, signal: AbortSignal): Promise<void> {
  let callOff: () => void = () => undefined
  const over = new Promise<void>((resolve) => {
    callOff = clock.schedule(clock.now() + durationMs, resolve)
  })
  try {
    await unlessAborted(over, signal)
  } finally {
    callOff()
  }
}

import type { Socket } from 'node:net'
import { coreError, isLarge, type Json, ledgerError, limits } from '../../core/index.js'
import {
  type ClientMessage,
  encodeMessage,
  encodeMessageInTurns,
  LineReader,
  malformed,
  type OwnerMessage,
  parseClientMessage,
  parseClientMessageInTurns,
  toRemote
} from '../../owner/index.js'

/** One request of another process. Its principal is the owner: the socket is the owner's alone. */
export interface OwnerRequest {
  readonly method: string
  readonly params: Json
  /** Aborts when the client cancels or goes away. */
  readonly signal: AbortSignal
}

/** Expected failures are errors too: they cross as data and are thrown again at the client. */
export type OwnerHandler = (request: OwnerRequest) => Promise<Json> | AsyncIterable<Json>

/** Who answers for one identity, held until it is let go of. */
export interface ServedIdentity {
  readonly handle: OwnerHandler
  release(): void
}

export interface ConnectionOptions {
  /** Answers requests that name no identity. */
  readonly handle: OwnerHandler
  /** Answers those that do. */
  handlerOf(named: string): Promise<ServedIdentity>
  readonly requestsMax: number
  readonly requestBytesMax: number
  readonly responseBytesMax: number
}

/** A request, and which identity it names. */
type NamingRequest = OwnerRequest & { readonly identity: string | undefined }

interface Work {
  readonly abort: AbortController
  /** Events that the client has room for. */
  room: number
  /** Called when there is room again, and when the request is cancelled. */
  wake: () => void
}

/**
 * One client of the owner. Owns its requests under way; ends with the socket. A result waits until
 * the socket has taken the one before, so that a client that does not read costs bounded memory.
 */
export class ServedConnection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #work = new Map<number, Work>()
  readonly #lines: string[] = []
  #isReading = false
  #lastId = 0
  #drained: Promise<void> | undefined
  #onDrained: () => void = () => undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
  }

  begin(greeting: string): void {
    const reader = new LineReader(this.#options.requestBytesMax)
    this.#socket.on('drain', () => this.#onDrained())
    this.#socket.on('close', () => {
      this.#onDrained()
      this.#abandon()
    })
    this.#socket.on('data', (chunk: Buffer) => {
      try {
        this.#lines.push(...reader.push(chunk))
      } catch {
        return this.#refuse()
      }
      if (!this.#isReading) void this.#read()
    })
    this.#socket.write(greeting)
  }

  /** Reads lines in their order: short ones at once, a long one in turns while no more comes. */
  async #read(): Promise<void> {
    this.#isReading = true
    try {
      for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
        const isLong = line.length > AT_ONCE_LENGTH
        const message = isLong ? await this.#long(line) : parseClientMessage(line)
        // Of a client that has gone meanwhile nothing more is begun.
        if (this.#socket.destroyed) return
        this.#receive(message)
      }
    } catch {
      this.#refuse()
    }
    this.#isReading = false
  }

  async #long(line: string): Promise<ClientMessage> {
    this.#socket.pause()
    try {
      return await parseClientMessageInTurns(line)
    } finally {
      this.#socket.resume()
    }
  }

  end(): void {
    this.#abandon()
    this.#socket.destroySoon()
  }

  #receive(message: ClientMessage): void {
    if ('method' in message) {
      this.#start(message)
      return
    }
    const work = this.#work.get(message.id)
    if (work === undefined) return
    if ('cancel' in message) {
      work.abort.abort()
      return
    }
    work.room += message.more
    if (work.room > limits.OWNER_EVENTS_AHEAD_MAX) throw malformed('it asks for too many events')
    work.wake()
  }

  #start({ id, method, params, identity }: Extract<ClientMessage, { method: string }>): void {
    if (id <= this.#lastId) throw malformed('ids do not grow')
    this.#lastId = id
    if (this.#work.size >= this.#options.requestsMax) {
      const problem = `${this.#work.size} requests are under way`
      this.#send(encodeMessage({ id, error: toRemote(ledgerError('owner.busy', { problem })) }))
      return
    }
    const abort = new AbortController()
    const work: Work = { abort, room: limits.OWNER_EVENTS_AHEAD_MAX, wake: () => undefined }
    abort.signal.addEventListener('abort', () => work.wake(), { once: true })
    this.#work.set(id, work)
    void this.#perform(id, { method, params, signal: abort.signal, identity }, work)
  }

  async #perform(id: number, given: NamingRequest, work: Work): Promise<void> {
    const { identity, ...request } = given
    const { handle, handlerOf } = this.#options
    let last: string
    let held: ServedIdentity | undefined
    try {
      if (identity !== undefined) held = await handlerOf(identity)
      const answer = (held?.handle ?? handle)(request)
      const result = isStream(answer) ? await this.#stream(id, answer, work) : await answer
      last = await this.#encode({ id, result }, isLarge(result))
    } catch (error) {
      last = encodeMessage({ id, error: toRemote(error) })
    } finally {
      held?.release()
    }
    this.#send(last)
    await this.#drained
    this.#work.delete(id)
  }

  async #stream(id: number, events: AsyncIterable<Json>, work: Work): Promise<null> {
    const { signal } = work.abort
    const iterator = events[Symbol.asyncIterator]()
    try {
      while (!signal.aborted) {
        const next = await unlessWoken(iterator.next(), work)
        if (next === undefined || next.done) return null
        const event = next.value
        const line = await this.#encode({ id, event }, isLarge(event))
        while (work.room === 0 && !signal.aborted) await unlessWoken(undefined, work)
        if (signal.aborted) return null
        work.room -= 1
        this.#send(line)
        await this.#drained
      }
      return null
    } finally {
      // Not awaited: a generator that waits for its own next event answers only after that.
      void Promise.resolve(iterator.return?.()).catch(() => undefined)
    }
  }

  /** What has many values is written in turns: other requests are answered meanwhile. */
  async #encode(message: OwnerMessage, isLarge: boolean): Promise<string> {
    const line = isLarge ? await encodeMessageInTurns(message) : encodeMessage(message)
    const actual = Buffer.byteLength(line)
    const limit = this.#options.responseBytesMax
    if (actual <= limit) return line
    throw coreError('core.limit_exceeded', { what: 'The answer in bytes', actual, limit })
  }

  #send(line: string): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    if (this.#socket.write(line) || this.#drained !== undefined) return
    this.#drained = new Promise((resolve) => {
      this.#onDrained = () => {
        this.#drained = undefined
        resolve()
      }
    })
  }

  /** Nothing can be answered to a line that cannot be read, so the connection ends. */
  #refuse(): void {
    this.#lines.length = 0
    this.#abandon()
    this.#socket.destroy()
  }

  #abandon(): void {
    for (const { abort } of this.#work.values()) abort.abort()
  }
}

const AT_ONCE_LENGTH = 64 * 1024

function isStream(answer: Promise<Json> | AsyncIterable<Json>): answer is AsyncIterable<Json> {
  return Symbol.asyncIterator in answer
}

/** Waits for `promise`, or for the work to be woken: by room, or by its end. */
function unlessWoken<Value>(
  promise: Promise<Value> | undefined,
  work: Work
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    work.wake = () => {
      if (promise === undefined || work.abort.signal.aborted) resolve(undefined)
    }
    promise?.then(resolve, reject)
  })
}

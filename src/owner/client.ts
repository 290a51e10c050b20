import { connect, type Socket } from 'node:net'
import {
  type Clock,
  errorNumber,
  type IdentityId,
  isIdentityId,
  isJsonObject,
  isTallyError,
  type Json,
  ledgerError,
  limits,
  systemClock,
  TallyError
} from '../core/index.js'
import { Call } from './call.js'
import { namingHolder } from './holder.js'
import { LineReader } from './line-reader.js'
import {
  type ClientMessage,
  encodeMessage,
  malformed,
  type OwnedLedger,
  parseGreeting,
  parseOwnerMessage
} from './protocol.js'
import {
  mayHaveOwner,
  ownerAddresses,
  type RuntimeEnvironment,
  systemEnvironment
} from './socket-path.js'

/** A connection to the process that holds a ledger. */
export interface OwnerClient {
  readonly ledger: OwnedLedger
  /** Which identity answers: that of the greeting, unless another one was asked for. */
  readonly identity: IdentityId
  /**
   * Asks for one result. Throws what the owner's handler threw, or `owner.disconnected`, after
   * which the outcome is unknown. With a signal that aborts it throws its reason, and the owner is
   * told that no caller waits; what it has begun it may finish.
   */
  request(method: string, params: Json, signal?: AbortSignal): Promise<Json>
  /**
   * Asks for a stream of events; leaving the loop ends it, and so does the signal while it waits
   * for one. Throws as `request` does.
   */
  stream(method: string, params: Json, signal?: AbortSignal): AsyncGenerator<Json, void>
  close(): void
}

export interface ConnectOwnerOptions {
  readonly environment?: RuntimeEnvironment
  readonly clock?: Clock
  /**
   * Which identity of the location is to answer, by id or name; that of the greeting by default. An
   * owner that has the location open for that one alone answers for no other.
   */
  readonly identity?: string | undefined
}

/**
 * Connects to the owner of a location; undefined when there is none.
 * Throws `ledger.locked` when the owner serves nothing, `owner.wrong_ledger`,
 * `owner.malformed_message`, `owner.disconnected` (no greeting), and with `identity`
 * `ledger.identity_missing` and why that one cannot be opened.
 */
export async function connectOwner(
  realPath: string,
  options: ConnectOwnerOptions = {}
): Promise<OwnerClient | undefined> {
  const { environment = systemEnvironment(), clock = systemClock, identity } = options
  for (const address of await ownerAddresses(realPath, environment)) {
    if (!(await mayHaveOwner(address, environment))) continue
    const socket = await open(address.path)
    if (socket === undefined) continue
    const connection = new Connection(socket)
    const ledger = await connection.greeting(clock).catch(async (error: unknown) => {
      throw await namingHolder(realPath, error)
    })
    if (ledger.realPath === realPath) return connection.clientOf(ledger, identity)
    connection.close()
    throw ledgerError('owner.wrong_ledger', { expected: realPath, actual: ledger.realPath })
  }
  return undefined
}

class Connection {
  readonly #socket: Socket
  readonly #calls = new Map<number, Call>()
  /** The identity that requests name. */
  #named: string | undefined
  #lastId = 0
  #end: TallyError | undefined
  #greeted: ((line: string) => void) | undefined
  #ended: ((error: TallyError) => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    const reader = new LineReader(limits.OWNER_RESPONSE_BYTES_MAX + 1)
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const line of reader.push(chunk)) this.#receive(line)
      } catch (error) {
        this.#finish(error instanceof TallyError ? error : malformed(String(error)))
      }
    })
    socket.on('error', (error) => this.#finish(disconnected(errorNumber(error) ?? 'error')))
    socket.on('close', () => this.#finish(disconnected('it closed')))
  }

  async greeting(clock: Clock): Promise<OwnedLedger> {
    let stop: () => void = () => undefined
    try {
      const line = await new Promise<string>((resolve, reject) => {
        this.#greeted = resolve
        this.#ended = reject
        if (this.#end !== undefined) reject(this.#end)
        stop = clock.schedule(clock.now() + limits.OWNER_GREETING_MS, () =>
          reject(disconnected('it did not greet in time'))
        )
      })
      return parseGreeting(line)
    } catch (error) {
      this.close()
      throw error
    } finally {
      stop()
    }
  }

  /** With the identity of the greeting nothing is named, as owners expect of before. */
  async clientOf(ledger: OwnedLedger, named: string | undefined): Promise<OwnerClient> {
    if (named === undefined || named === ledger.identity) {
      return this.#client(ledger, ledger.identity)
    }
    this.#named = named
    try {
      return this.#client(ledger, await this.#askIdentity(ledger, named))
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** The id of an identity that was named, where the owner answers for it. */
  async #askIdentity(ledger: OwnedLedger, named: string): Promise<IdentityId> {
    const wrong = (cause: unknown) => {
      const about = { expected: named, actual: ledger.identity }
      return ledgerError('owner.wrong_ledger', about, { cause })
    }
    try {
      const status = await this.#request('status', {})
      const { identity } = isJsonObject(status) ? status : {}
      if (isIdentityId(identity)) return identity
      throw malformed('it does not say which identity it is')
    } catch (error) {
      // One of before 0.2.0 ends a connection on which a request names an identity.
      if (isTallyError(error, 'owner.disconnected')) throw wrong(error)
      throw error
    }
  }

  #client(ledger: OwnedLedger, identity: IdentityId): OwnerClient {
    return {
      ledger,
      identity,
      request: (method, params, signal) => this.#request(method, params, signal),
      stream: (method, params, signal) => this.#stream(method, params, signal),
      close: () => this.close()
    }
  }

  close(): void {
    this.#finish(disconnected('this side closed it'))
  }

  async #request(method: string, params: Json, signal?: AbortSignal): Promise<Json> {
    signal?.throwIfAborted()
    const { id, call } = this.#call(method, params)
    const leave = () => call.end()
    signal?.addEventListener('abort', leave)
    try {
      const step = await call.next()
      signal?.throwIfAborted()
      if (step.kind === 'result') return step.value
      throw malformed(`${method} answers with a stream`)
    } finally {
      signal?.removeEventListener('abort', leave)
      if (this.#calls.has(id)) this.#send({ id, cancel: true })
    }
  }

  async *#stream(method: string, params: Json, signal?: AbortSignal): AsyncGenerator<Json, void> {
    if (signal?.aborted === true) return
    const { id, call } = this.#call(method, params)
    const refill = limits.OWNER_EVENTS_AHEAD_MAX / 2
    const leave = () => call.end()
    signal?.addEventListener('abort', leave)
    try {
      for (let taken = 1; ; taken += 1) {
        const step = await call.next()
        if (step.kind === 'result') return
        if (taken % refill === 0) this.#send({ id, more: refill })
        yield step.value
      }
    } finally {
      signal?.removeEventListener('abort', leave)
      if (this.#calls.has(id)) this.#send({ id, cancel: true })
    }
  }

  #call(method: string, params: Json): { readonly id: number; readonly call: Call } {
    if (this.#end !== undefined) throw this.#end
    this.#lastId += 1
    const id = this.#lastId
    const call = new Call()
    this.#calls.set(id, call)
    const named = this.#named
    this.#send({ id, method, params, ...(named === undefined ? {} : { identity: named }) })
    return { id, call }
  }

  #send(message: ClientMessage): void {
    if (this.#end === undefined) this.#socket.write(encodeMessage(message))
  }

  #receive(line: string): void {
    if (this.#greeted !== undefined) {
      this.#greeted(line)
      this.#greeted = undefined
      return
    }
    const message = parseOwnerMessage(line)
    const call = this.#calls.get(message.id)
    if (call === undefined) throw malformed('it answers no request')
    if (!('event' in message)) this.#calls.delete(message.id)
    call.receive(message)
  }

  #finish(error: TallyError): void {
    if (this.#end !== undefined) return
    this.#end = error
    this.#ended?.(error)
    for (const call of this.#calls.values()) call.fail(error)
    this.#calls.clear()
    this.#socket.destroy()
  }
}

function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', (error) => {
      const kind = errorNumber(error)
      if (kind === 'ENOENT' || kind === 'ECONNREFUSED') resolve(undefined)
      else reject(disconnected(kind ?? 'error'))
    })
  })
}

function disconnected(problem: string): TallyError {
  return ledgerError('owner.disconnected', { problem })
}

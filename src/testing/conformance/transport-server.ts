import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { nextTurn } from '../../core/index.js'

/** The server's part of a protocol, as bytes of one connection. */
export interface ServerProtocol {
  /**
   * What answers bytes that come before any request: a handshake. Undefined: they are none, or not
   * whole.
   */
  greeting?(received: Buffer): Buffer | undefined
  /** The text of a request; undefined: it is not whole. */
  textIn(received: Buffer): string | undefined
  /** A right answer to a whole request. */
  answer(received: Buffer, text: string): Buffer
  /** How an answer begins that is longer than the transport takes; `x` follows without an end. */
  readonly endless: Buffer
  /** An answer that sends the client elsewhere, where the protocol has one. */
  redirect?(url: string): Buffer
}

/** What a server does with a connection, or with a request that it has read. */
export type ServerAct =
  | 'answers'
  | 'answers byte by byte'
  | 'breaks at once'
  | 'breaks before the answer'
  | 'breaks in the answer'
  | 'ends in the answer'
  | 'says nothing'
  | 'stops in the answer'
  | 'says what is no answer'
  | 'answers without an end'
  | { readonly redirectsTo: string }

/** A server on loopback that does with each request as it is told, faults included. */
export class TransportServer {
  act: ServerAct = 'answers'
  /** Texts of requests that were read whole. */
  readonly texts: string[] = []
  connections = 0
  #hasStopped = false
  readonly #protocol: ServerProtocol
  readonly #open = new Set<Socket>()
  readonly #asked = new Set<Socket>()
  readonly #server = createServer({ noDelay: true }, (socket) => this.#serve(socket))
  readonly #waiting = new Set<() => void>()
  #closed: Promise<unknown> = Promise.resolve()
  /** Keeps the port of a server that listens no more. */
  #keeper: Socket | undefined

  constructor(protocol: ServerProtocol) {
    this.#protocol = protocol
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /**
   * Listens no more. One connection stays: of a port that no socket has, the system makes another
   * server's before the client has asked.
   */
  async deafen(): Promise<void> {
    const keeper = connect((this.#server.address() as AddressInfo).port, '127.0.0.1')
    this.#keeper = keeper
    keeper.on('error', () => undefined)
    await once(keeper, 'connect')
    const isKept = (socket: Socket) => socket.remotePort === keeper.localPort
    while (![...this.#open].some(isKept)) await this.#change()
    this.#stopListening()
    for (const socket of this.#open) if (!isKept(socket)) socket.end()
    // What a client sends on a connection of before, before it hears of its end, is read by none.
    while (this.#open.size > 1) await this.#change()
  }

  async close(): Promise<void> {
    this.#stopListening()
    this.#keeper?.destroy()
    for (const socket of this.#open) socket.destroy()
    await this.#closed
  }

  #stopListening(): void {
    if (!this.#server.listening) return
    this.#closed = once(this.#server, 'close')
    this.#server.close()
  }

  /** Resolves once so many requests were read. */
  async untilRead(count: number): Promise<void> {
    while (this.texts.length < count) await this.#change()
  }

  /** Resolves once the beginning of an answer was sent that is to stop. */
  async untilStopped(): Promise<void> {
    while (!this.#hasStopped) await this.#change()
  }

  /**
   * Resolves once the client has let go of every connection on which it has asked something; some
   * clients open the next one before they need it.
   */
  async untilLeft(): Promise<void> {
    while (this.#asked.size > 0) await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #changed(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #serve(socket: Socket): void {
    this.connections += 1
    this.#open.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#asked.delete(socket)
      this.#changed()
    })
    this.#changed()
    if (this.act === 'breaks at once') {
      socket.resetAndDestroy()
      return
    }
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const greeting = this.#protocol.greeting?.(received)
      const text = greeting === undefined ? this.#protocol.textIn(received) : undefined
      if (greeting === undefined && text === undefined) return
      const request = received
      received = Buffer.alloc(0)
      if (greeting !== undefined) socket.write(greeting)
      if (text === undefined) return
      this.texts.push(text)
      this.#asked.add(socket)
      // A client that breaks off needs nothing more.
      this.#reply(socket, this.#protocol.answer(request, text)).catch(() => socket.destroy())
      this.#changed()
    })
  }

  async #reply(socket: Socket, answer: Buffer): Promise<void> {
    const { act } = this
    const half = answer.subarray(0, answer.byteLength - Math.ceil(answer.byteLength / 8))
    if (typeof act === 'object') {
      socket.write(this.#protocol.redirect?.(act.redirectsTo) ?? answer)
      return
    }
    switch (act) {
      case 'answers':
        socket.write(answer)
        return
      case 'answers byte by byte':
        for (let at = 0; at < answer.byteLength; at += 1) {
          socket.write(answer.subarray(at, at + 1))
          await nextTurn()
        }
        return
      case 'breaks at once':
      case 'breaks before the answer':
        socket.resetAndDestroy()
        return
      case 'breaks in the answer':
        await written(socket, half)
        socket.resetAndDestroy()
        return
      case 'ends in the answer':
        socket.end(half)
        return
      case 'says nothing':
        return
      case 'stops in the answer':
        await written(socket, half)
        this.#hasStopped = true
        this.#changed()
        return
      case 'says what is no answer':
        socket.end(Buffer.from('\u0000\u0001 no answer \ufffd\r\n\r\n{"', 'utf8'))
        return
      case 'answers without an end':
        await written(socket, this.#protocol.endless)
        while (!socket.destroyed) await written(socket, filler)
    }
  }
}

const filler = Buffer.alloc(65_536, 'x')

function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

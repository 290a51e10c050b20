import type { ServerProtocol } from './transport-server.js'

/** What a protocol over HTTP says in its bodies. */
export interface HttpBodies {
  /** The answer to the body of a request that is none of the suite's: a handshake. */
  greeting?(body: string): string | undefined
  textIn(body: string): string
  answer(body: string, text: string): string
  /** Default `application/json`. */
  readonly contentType?: string
}

/** The server's part of a protocol over HTTP/1.1, with bodies whose length is told. */
export function httpProtocol(bodies: HttpBodies): ServerProtocol {
  const { contentType = 'application/json' } = bodies
  const head = (length: number) =>
    `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncontent-length: ${length}\r\n\r\n`
  const whole = (body: string) => Buffer.from(head(Buffer.byteLength(body)) + body)
  return {
    greeting: (received) => {
      const body = bodyIn(received)
      const greeting = body === undefined ? undefined : bodies.greeting?.(body)
      return greeting === undefined ? undefined : whole(greeting)
    },
    textIn: (received) => {
      const body = bodyIn(received)
      return body === undefined ? undefined : bodies.textIn(body)
    },
    answer: (received, text) => whole(bodies.answer(bodyIn(received) ?? '', text)),
    endless: Buffer.from(head(ENDLESS_BYTES)),
    redirect: (url) =>
      Buffer.from(`HTTP/1.1 307 Elsewhere\r\nlocation: ${url}\r\ncontent-length: 0\r\n\r\n`)
  }
}

const ENDLESS_BYTES = 2 ** 40

/** The body of a whole request whose length is told. */
function bodyIn(received: Buffer): string | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = received.toString('latin1', 0, end)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const body = received.subarray(end + 4)
  return body.byteLength < length ? undefined : body.toString('utf8', 0, length)
}

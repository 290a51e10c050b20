import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface PaymentService {
  readonly port: number
  /** What was paid, each once, by idempotency key. */
  readonly payments: ReadonlyMap<string, { readonly to: string; readonly amount: string }>
  /** `busy`: so many requests are turned away; `silent`: it pays, and never answers. */
  behave(how: { readonly busy?: number; readonly silent?: boolean }): void
  close(): void
}

/** A payment service on this machine that knows a payment again by its key. */
export async function paymentService(): Promise<PaymentService> {
  const payments = new Map<string, { to: string; amount: string }>()
  let busy = 0
  let isSilent = false
  const answer = (request: IncomingMessage, body: string, response: ServerResponse) => {
    const key = String(request.headers['idempotency-key'])
    if (busy > 0) {
      busy -= 1
      response.writeHead(503).end()
      return
    }
    payments.set(key, JSON.parse(body))
    if (!isSilent) response.end(JSON.stringify({ payment: key.slice(0, 8) }))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(request, Buffer.concat(chunks).toString('utf8'), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    payments,
    behave: (how) => {
      busy = how.busy ?? 0
      isSilent = how.silent ?? false
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

import { createServer } from 'node:http'

export interface Bank {
  readonly address: string
  /** Orders that were charged, one for each time. */
  readonly charges: readonly string[]
  close(): Promise<void>
}

/**
 * The bank, a world of its own that no kill of the service touches. It keeps every charge, and
 * tells of each by a webhook that it delivers until somebody takes it.
 */
export async function openBank(deliver: (event: object) => Promise<boolean>): Promise<Bank> {
  const charges: string[] = []
  const references = new Map<string, string>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  const tell = async (order: string, reference: string) => {
    const event = { id: reference, order, data: { reference } }
    while (!isClosed && !(await deliver(event))) await pause(20)
  }
  const server = createServer(async (request, response) => {
    const key = (request.url ?? '').slice('/charges/'.length)
    const reply = (status: number, reference = '') => {
      const type = { 'content-type': 'application/json' }
      response.writeHead(status, type).end(JSON.stringify({ reference }))
    }
    const earlier = references.get(key)
    if (request.method === 'GET') return reply(earlier === undefined ? 404 : 200, earlier)
    const text = (await request.setEncoding('utf8').toArray()).join('')
    const { order } = JSON.parse(text) as { readonly order: string }
    const reference = `T-${charges.length + 1}`
    charges.push(order)
    references.set(key, reference)
    const told = tell(order, reference).finally(() => underWay.delete(told))
    underWay.add(told)
    // Banks are slow: time to be killed between the charge and its answer.
    await pause(5)
    reply(201, reference)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    address: `http://127.0.0.1:${port}`,
    charges,
    close: async () => {
      isClosed = true
      await Promise.all(underWay)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs))
}

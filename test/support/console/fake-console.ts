import { fileURLToPath } from 'node:url'
import { ConsoleServer, readPageFiles } from '../../../src/console/index.js'
import type { OwnerHandler } from '../../../src/ledger/index.js'
import type { FeedEvent } from '../../../src/runtime/index.js'
import { builtFile } from '../built.js'
import type { FakeLedger } from './fake-ledger.js'

export interface FakeConsole {
  readonly origin: string
  /** Address of a view, with what opens a session. */
  readonly link: (path: string) => string
  /** Sends an event to every page that follows. */
  readonly send: (event: FeedEvent) => void
  readonly close: () => Promise<void>
}

/** The console's own server and the built page, before a ledger that was never written. */
export async function serveFakeConsole(ledger: FakeLedger): Promise<FakeConsole> {
  return { ...(await serveConsole(ledger.handle)), send: (event) => ledger.send(event) }
}

/** The same before any service. */
export async function serveConsole(
  handle: OwnerHandler,
  port = 0
): Promise<Omit<FakeConsole, 'send'>> {
  const folder = new URL('page/', `file://${builtFile('console/index.js')}`)
  const page = await readPageFiles(fileURLToPath(folder))
  const server = await ConsoleServer.open({ port, handle, page })
  return {
    origin: `http://${server.hosts[0]}`,
    link: (path) => server.link().replace('/#', `${path}#`),
    close: () => server.close()
  }
}

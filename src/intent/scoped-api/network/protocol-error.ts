import type { ClientRequest } from 'node:http'

/** An answer that is none, as Node names failures of connections. */
export function protocolError(problem: string): Error {
  return Object.assign(new Error(problem), { code: 'EPROTO' })
}

/** Without this a server that answers with another protocol is waited for until time is over. */
export function refuseUpgrade(outgoing: ClientRequest, fail: (error: Error) => void): void {
  outgoing.once('upgrade', (_response, socket) => {
    socket.destroy()
    fail(protocolError('the server changes to another protocol'))
  })
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localSigner, type Signer } from '../../src/identity/index.js'
import type { SignerDriver } from '../../src/testing/index.js'

/** A key behind a network: a service on loopback, and signers that ask it. */
export interface KeyService extends SignerDriver {
  close(): Promise<void>
}

export async function startKeyService(seed: Uint8Array): Promise<KeyService> {
  const key = localSigner(seed)
  let isCut = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (isCut) return response.destroy()
      const messages = JSON.parse(Buffer.concat(chunks).toString()) as readonly string[]
      const signatures = messages.map((message) => key.sign(Buffer.from(message, 'base64')))
      return response.end(Buffer.concat(signatures))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    open: async () => new RemoteSigner(key.publicKey, url),
    cutOff: async () => {
      isCut = true
      return async () => {
        isCut = false
      }
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await key.close()
    }
  }
}

class RemoteSigner implements Signer {
  readonly publicKey: Signer['publicKey']
  readonly #url: string
  readonly #closing = new AbortController()

  constructor(publicKey: Signer['publicKey'], url: string) {
    this.publicKey = publicKey
    this.#url = url
  }

  sign(message: Uint8Array): Promise<Uint8Array> {
    return this.#ask([message])
  }

  signMany(hashes: Uint8Array): Promise<Uint8Array> {
    const count = hashes.byteLength / 32
    return this.#ask(Array.from({ length: count }, (_, at) => hashes.slice(at * 32, at * 32 + 32)))
  }

  close(): void {
    this.#closing.abort()
  }

  async #ask(messages: readonly Uint8Array[]): Promise<Uint8Array> {
    const body = JSON.stringify(messages.map((one) => Buffer.from(one).toString('base64')))
    const { signal } = this.#closing
    const response = await fetch(this.#url, { method: 'POST', body, signal })
    return new Uint8Array(await response.arrayBuffer())
  }
}

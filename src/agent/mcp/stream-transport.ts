import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { isError } from '../../core/index.js'
import { messageLines } from './exact-messages.js'
import type { McpServerLibrary } from './library.js'

/**
 * The client of a server on a pair of streams, as a transport of the MCP SDK. The SDK's own reads
 * each message in one call, changes large numbers and does not notice that its client has gone.
 *
 * Owns: reading. Ends with its client, and for a message that is too large.
 */
export class StreamTransport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #library: McpServerLibrary
  readonly #input: Readable
  readonly #output: Writable
  #isClosed = false

  constructor(
    library: McpServerLibrary,
    { input, output }: { readonly input: Readable; readonly output: Writable }
  ) {
    this.#library = library
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    void this.#listen()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#output.write(`${JSON.stringify(message)}\n`)) return
    await new Promise<void>((resolve) => {
      this.#output.once('drain', resolve)
      this.#output.once('close', resolve)
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.destroy()
    this.onclose?.()
  }

  async #listen(): Promise<void> {
    try {
      for await (const message of messageLines(this.#input)) {
        if (this.#isClosed) return
        this.#hear(message)
      }
    } catch (error) {
      if (!this.#isClosed) this.onerror?.(isError(error) ? error : new Error('the pipe broke'))
    }
    await this.close()
  }

  #hear(message: unknown): void {
    try {
      this.onmessage?.(this.#library.JSONRPCMessageSchema.parse(message))
    } catch (error) {
      this.onerror?.(isError(error) ? error : new Error('malformed message'))
    }
  }
}

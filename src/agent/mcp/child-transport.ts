import { type ChildProcess, spawn } from 'node:child_process'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { limits } from '../../core/index.js'
import { deadline } from '../transports/deadline.js'
import { Lines } from '../transports/lines.js'
import { exactMessage } from './exact-messages.js'
import type { McpClientLibrary } from './library.js'
import type { McpProgram } from './place.js'

/**
 * A server on the standard streams of a child process, as a transport of the MCP SDK. The SDK's own
 * reads messages with `JSON.parse`, which changes large numbers (semantics.md A7).
 *
 * Owns: the process. Does not own: the meaning of the messages.
 */
export class ChildTransport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #library: McpClientLibrary
  readonly #program: McpProgram
  #child: ChildProcess | undefined
  #closed = Promise.resolve()

  constructor(library: McpClientLibrary, program: McpProgram) {
    this.#library = library
    this.#program = program
  }

  async start(): Promise<void> {
    const { command, arguments: given = [], environment = {}, cwd } = this.#program
    const env = { ...this.#library.getDefaultEnvironment(), ...environment }
    // What it writes for people may quote arguments, so it is not read.
    const stdio = ['pipe', 'pipe', 'ignore'] as const
    const place = cwd === undefined ? {} : { cwd }
    const child = spawn(command, [...given], { env, stdio: [...stdio], ...place })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    this.#child = child
    this.#closed = new Promise((resolve) => {
      child.once('close', () => {
        this.#child = undefined
        this.onclose?.()
        resolve()
      })
    })
    // Writing to a process that has gone; its end is reported above.
    child.stdin?.on('error', () => undefined)
    this.#listen(child)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (input === null || input === undefined) throw new Error('Not connected')
    if (input.write(`${JSON.stringify(message)}\n`)) return
    await new Promise<void>((resolve) => {
      input.once('drain', resolve)
      input.once('close', resolve)
    })
  }

  /** Ends the process: first its input, then by signals. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.stdin?.end()
    for (const name of ['SIGTERM', 'SIGKILL'] as const) {
      const { signal, stop } = deadline(limits.AGENT_STOP_MS)
      signal.addEventListener('abort', () => child.kill(name))
      const late = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([this.#closed, late])
      stop()
    }
    await this.#closed
  }

  #listen(child: ChildProcess): void {
    const decoder = new TextDecoder('utf-8')
    const lines = new Lines()
    child.stdout?.on('data', (chunk: Uint8Array) => {
      for (const line of lines.take(decoder.decode(chunk, { stream: true }))) this.#hear(line)
      if (lines.length > limits.TURN_RESPONSE_BYTES_MAX) child.kill('SIGKILL')
    })
  }

  #hear(line: string): void {
    if (line.trim() === '') return
    try {
      this.onmessage?.(this.#library.deserializeMessage(exactMessage(line)))
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error('malformed message'))
    }
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { isError, limits } from '../../core/index.js'
import { deadline } from '../transports/deadline.js'
import { MessageTooLarge, messageLines } from './exact-messages.js'
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
  /** Called for a server whose message is too large, before its end. */
  readonly #tooLarge: () => void
  readonly #library: McpClientLibrary
  readonly #program: McpProgram
  #child: ChildProcess | undefined
  #closed = Promise.resolve()

  constructor(library: McpClientLibrary, program: McpProgram, tooLarge: () => void) {
    this.#library = library
    this.#program = program
    this.#tooLarge = tooLarge
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
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    // Writing to a process that has gone; its end is reported below.
    child.stdin?.on('error', () => undefined)
    this.#closed = this.#listen(child, closed)
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

  /** Hears what the process says, until it has gone. */
  async #listen(child: ChildProcess, closed: Promise<void>): Promise<void> {
    try {
      for await (const message of messageLines(child.stdout ?? nothing())) this.#hear(message)
    } catch (error) {
      if (error instanceof MessageTooLarge) return this.#refuse(child, closed)
      this.onerror?.(isError(error) ? error : new Error('the pipe broke'))
    }
    await this.#gone(closed)
  }

  #refuse(child: ChildProcess, closed: Promise<void>): Promise<void> {
    this.#tooLarge()
    child.kill('SIGKILL')
    return this.#gone(closed)
  }

  async #gone(closed: Promise<void>): Promise<void> {
    await closed
    this.#child = undefined
    this.onclose?.()
  }

  #hear(message: unknown): void {
    try {
      this.onmessage?.(this.#library.JSONRPCMessageSchema.parse(message))
    } catch (error) {
      this.onerror?.(isError(error) ? error : new Error('malformed message'))
    }
  }
}

async function* nothing(): AsyncGenerator<never> {
  // A child without a pipe says nothing.
}

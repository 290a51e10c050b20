import type { ServerResponse } from 'node:http'
import { type Clock, type Json, limits } from '../core/index.js'

/** One server-sent event. */
export interface SentEvent {
  readonly id?: string
  readonly type?: string
  readonly data: Json
}

/**
 * Server-sent events to one reader. Resolves each once the reader's socket has taken it, so that
 * one which does not read holds nothing up but itself; after a while it is cut off.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #clock: Clock

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response
    this.#clock = clock
  }

  /** Sends the head, so that the reader knows that it is connected. */
  begin(): void {
    this.#response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    this.#response.flushHeaders()
  }

  /** False when the reader has gone. */
  async send({ id, type, data }: SentEvent): Promise<boolean> {
    const lines = [
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(type === undefined ? [] : [`event: ${type}`]),
      `data: ${JSON.stringify(data)}`
    ]
    return this.#write(`${lines.join('\n')}\n\n`)
  }

  /** A line that readers pass over: it shows both sides that the other is there. */
  comment(): Promise<boolean> {
    return this.#write(':\n\n')
  }

  end(): void {
    this.#response.end()
  }

  async #write(chunk: string): Promise<boolean> {
    const response = this.#response
    if (response.destroyed || response.writableEnded) return false
    if (response.write(chunk)) return true
    await new Promise<void>((resolve) => {
      const stalled = () => response.destroy()
      const at = this.#clock.now() + limits.CONSOLE_STALL_MS
      const callOff = this.#clock.schedule(at, stalled)
      const settle = () => {
        callOff()
        response.off('drain', settle)
        response.off('close', settle)
        resolve()
      }
      response.once('drain', settle)
      response.once('close', settle)
    })
    return !response.destroyed
  }
}

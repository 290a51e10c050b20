import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pause } from './bank.js'

interface Serving {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  readonly port: number
}

/** Where the service runs, as a platform sees it: starts it, kills it, and brings new releases. */
export class Operator {
  readonly #settings: { readonly location: string; readonly bank: string }
  #release = 0
  #serving: Serving | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(settings: { readonly location: string; readonly bank: string }) {
    this.#settings = settings
  }

  get release(): number {
    return this.#release
  }

  start(): Promise<void> {
    return this.#next(async () => {
      this.#serving = await this.#spawned()
    })
  }

  /** A kill at any moment, and a process that takes its place. */
  kill(): Promise<void> {
    return this.#next(async () => {
      const killed = this.#serving
      this.#serving = undefined
      killed?.child.kill('SIGKILL')
      await killed?.ended
      this.#serving = await this.#spawned()
    })
  }

  /** The next release runs beside the old one until that has handed its ledger over. */
  deploy(): Promise<void> {
    return this.#next(async () => {
      const old = this.#serving
      this.#release += 1
      this.#serving = await this.#spawned()
      await old?.ended
    })
  }

  stop(): Promise<void> {
    return this.#next(async () => {
      this.#serving?.child.kill('SIGTERM')
      await this.#serving?.ended
      this.#serving = undefined
    })
  }

  /** Asks whichever process serves now, until one answers. */
  async request(method: string, path: string, body?: object): Promise<Response> {
    const type = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { headers: type, body: JSON.stringify(body) }
    for (;;) {
      try {
        const { port } = await this.#whoServes()
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...sent })
        if (response.status < 500) return response
      } catch (error) {
        // A connection that was cut: nothing is known of the request, so it is sent again.
        if (!(error instanceof TypeError)) throw error
      }
      await pause(10)
    }
  }

  async #whoServes(): Promise<Serving> {
    while (this.#serving === undefined) {
      await Promise.race([this.#turn, pause(20)])
    }
    return this.#serving
  }

  /** One thing after the other; once one has failed, all that come after fail as well. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work)
    return this.#turn
  }

  async #spawned(): Promise<Serving> {
    const service = fileURLToPath(new URL('service.js', import.meta.url))
    const settings = JSON.stringify({ ...this.#settings, release: this.#release })
    const child = spawn(process.execPath, [service, settings], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const ended = once(child, 'exit')
    const line = once(createInterface(child.stdout), 'line')
    const [first] = await Promise.race([line, ended.then(() => ['it ended'])])
    const [, port] = /^listening (\d+)$/.exec(String(first)) ?? []
    if (port === undefined) throw new Error(`The service did not start: ${first}`)
    return { child, ended, port: Number(port) }
  }
}

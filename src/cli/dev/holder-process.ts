import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isJsonObject, limits, parse, present, systemClock } from '../../core/index.js'
import type { Frame } from '../frame/frame.js'

const command = fileURLToPath(new URL('../main.js', import.meta.url))

/**
 * A process that holds the ledger with code that nothing has loaded before. It gets the passphrase
 * by its standard input, where no other process sees it, and parks its runs when that ends: also
 * when this process ends in whatever way.
 */
export class HolderProcess {
  /** Undefined once it holds the ledger; the code of why it does not, where it has ended first. */
  readonly opened: Promise<string | undefined>
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(
    frame: Frame,
    given: { readonly config: string | undefined; readonly passphrase: string | undefined }
  ) {
    const { directory, identity, cwd, environment } = frame
    const { config, passphrase } = given
    const words = [
      'dev',
      '--hold',
      '--json',
      ...['--dir', directory],
      ...(identity === undefined ? [] : ['--identity', identity]),
      ...(config === undefined ? [] : ['--config', config])
    ]
    const { TALLY_PASSPHRASE: _, ...others } = environment
    const child = spawn(process.execPath, [command, ...words], {
      cwd,
      // Blocks that touch what is outside past their context are warned of.
      env: { NODE_ENV: 'development', ...others },
      stdio: ['pipe', 'pipe', 'inherit']
    })
    this.#child = child
    this.#ended = once(child, 'close').catch(() => undefined)
    child.stdin?.on('error', () => undefined)
    child.stdin?.write(`${JSON.stringify(passphrase === undefined ? {} : { passphrase })}\n`)
    this.opened = this.#listen()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async close(): Promise<void> {
    const child = this.#child
    child.stdin?.end()
    // What it could not park is in the journal all the same.
    const at = systemClock.now() + limits.DEV_CLOSE_MS
    const callOff = systemClock.schedule(at, () => child.kill('SIGKILL'))
    await this.#ended
    callOff()
  }

  /** Its output is read to the end, so that it is never closed under it. */
  #listen(): Promise<string | undefined> {
    const lines = createInterface({ input: present(this.#child.stdout, 'stdout') })
    return new Promise((resolve) => {
      lines.on('line', (line) => {
        const said = parse(line)
        const { $type: type, code } = isJsonObject(said) ? said : {}
        if (type === 'held') resolve(undefined)
        if (type === 'error') resolve(String(code))
      })
      lines.once('close', () => resolve('system.ended'))
    })
  }
}

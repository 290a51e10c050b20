import { type ChildProcess, spawn } from 'node:child_process'
import { EffectFailure } from '../../code/index.js'
import { type Json, limits } from '../../core/index.js'
import { deadline } from './deadline.js'
import { type TurnFailureReason, turnFailure } from './failures.js'
import { jsonLines } from './json-lines.js'

/**
 * The program that speaks pi's RPC on its standard streams. The host names it, never a document.
 */
export interface PiCommand {
  /** `pi`, or the path of another program. */
  readonly command: string
  /** Default: `--mode rpc --no-session`. */
  readonly arguments?: readonly string[]
  readonly cwd?: string
  /** Its whole environment; by default only what finds programs and their files. */
  readonly environment?: Readonly<Record<string, string>>
}

const RPC_ARGUMENTS: readonly string[] = ['--mode', 'rpc', '--no-session']
const ENVIRONMENT_NAMES: readonly string[] = ['PATH', 'HOME', 'TMPDIR', 'LANG']

/**
 * A child process that reads and writes JSON lines.
 *
 * Owns: the process. Does not own: the meaning of the lines. Listeners get `undefined` once
 * when the process has gone, or wrote what is not JSON; `problem` says which it was.
 */
export class PiProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  #listener: ((line: Json | undefined) => void) | undefined
  #problem: TurnFailureReason = 'malformed_response'
  #isGone = false

  private constructor(child: ChildProcess) {
    this.#child = child
    // Writing to a process that has gone; its end is reported below.
    child.stdin?.on('error', () => undefined)
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    this.#exited = this.#heard(closed)
  }

  /** Throws `adapter_unavailable` when the program cannot be started. */
  static async start(command: PiCommand): Promise<PiProcess> {
    const { command: name, arguments: given = RPC_ARGUMENTS, cwd, environment } = command
    const env = environment ?? knownEnvironment()
    // What it writes for people may quote prompts and keys, so it is not read.
    const stdio = ['pipe', 'pipe', 'ignore'] as const
    const place = cwd === undefined ? {} : { cwd }
    const child = spawn(name, [...given], { env, stdio: [...stdio], ...place })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', () => reject(turnFailure('adapter_unavailable', { program: 'pi' })))
    })
    return new PiProcess(child)
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Why its listener was given no line. */
  get problem(): TurnFailureReason {
    return this.#problem
  }

  listen(listener: ((line: Json | undefined) => void) | undefined): void {
    this.#listener = listener
  }

  /** Gives lines to the listener until the process has gone. */
  async #heard(closed: Promise<void>): Promise<void> {
    const { stdout } = this.#child
    let problem: TurnFailureReason = 'connection_lost'
    try {
      if (stdout !== null) for await (const line of jsonLines(stdout)) this.#listener?.(line)
    } catch (error) {
      // A pipe that breaks is its end; a line too long is what nothing can be made of.
      if (error instanceof EffectFailure) problem = 'response_too_large'
      this.kill()
    }
    await closed
    this.#isGone = true
    this.#problem = problem
    this.#listener?.(undefined)
  }

  send(command: Json): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Ends it: politely, then not. */
  async close(): Promise<void> {
    this.#child.stdin?.end()
    this.#child.kill('SIGTERM')
    const { signal, stop } = deadline(limits.AGENT_STOP_MS)
    signal.addEventListener('abort', () => this.kill())
    await this.#exited
    stop()
  }
}

function knownEnvironment(): Record<string, string> {
  const entries = ENVIRONMENT_NAMES.map((name) => [name, process.env[name]] as const)
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  )
}

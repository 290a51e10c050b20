import { dirname } from 'node:path'
import { ledgerError, limits, systemClock } from '../core/index.js'
import { inspectLocation } from '../ledger/index.js'
import { connectOwner } from '../owner/index.js'
import { HolderProcess } from './dev/holder-process.js'
import { sourceMark } from './dev/source-files.js'
import { findConfig } from './frame/config.js'
import type { ExitCode, Frame } from './frame/frame.js'
import { askPassphrase, canAsk, givenPassphrase } from './frame/passphrase.js'
import { text } from './frame/text.js'

export interface DevOptions {
  readonly config?: string
  readonly port?: string
  readonly open?: boolean
  /** This is the process that holds the ledger. */
  readonly hold?: boolean
}

/**
 * `tally dev`: holds the ledger, opens its console, and loads the code again when a file beside the
 * configuration changes. Another process holds the ledger, with modules that nothing has loaded
 * before; its runs are parked and resumed by the next one, and the console stays.
 */
export async function dev(frame: Frame, options: DevOptions): Promise<ExitCode> {
  if (options.hold === true) return (await import('./dev/hold.js')).hold(frame, options.config)
  await refuseOther(frame)
  const { path, reason } = { reason: '', ...(await findConfig(frame, options.config)) }
  if (path === undefined) frame.output.log(text`nothing is watched: ${reason}`)
  const { openConsole } = await import('./inspect/console.js')
  const start = new Start()
  const console = await openConsole(frame, undefined, options, () => start.settled)
  const stop = new AbortController()
  const held = holdAndReload(frame, { config: path, start, signal: stop.signal })
  // What ends the holding ends the command.
  held.catch(() => {
    start.settle()
    return console.close()
  })
  const exitCode = await console.ended
  stop.abort()
  await held
  return exitCode
}

/** Throws `ledger.not_found`, and `ledger.locked` where a process holds the ledger already. */
async function refuseOther({ directory: path }: Frame): Promise<void> {
  const found = await inspectLocation(path)
  if (found === undefined) throw ledgerError('ledger.not_found', { path })
  const owner = await connectOwner(found.realPath)
  if (owner === undefined) return
  owner.close()
  throw ledgerError('ledger.locked', { path, problem: 'a process holds it already' })
}

/** Whether a process that is to hold the ledger is starting: nothing else opens it meanwhile. */
class Start {
  settled: Promise<void> = Promise.resolve()
  #settle: () => void = () => undefined

  constructor() {
    this.begin()
  }

  begin(): void {
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  settle(): void {
    this.#settle()
  }
}

async function holdAndReload(
  frame: Frame,
  given: {
    readonly config: string | undefined
    readonly start: Start
    readonly signal: AbortSignal
  }
): Promise<void> {
  const { config, start, signal } = given
  const { output } = frame
  const mark = async () => (config === undefined ? '' : sourceMark(dirname(config)))
  let passphrase = givenPassphrase(frame)
  while (!signal.aborted) {
    const seen = await mark()
    const holder = new HolderProcess(frame, { config, passphrase })
    const failure = await holder.opened
    if (failure === 'identity.passphrase_missing' && passphrase === undefined && canAsk()) {
      passphrase = await askPassphrase('Passphrase: ')
      continue
    }
    start.settle()
    const state = failure === undefined ? 'held' : 'failed'
    output.document('dev', { state, process: holder.pid, code: failure ?? null })
    output.log(
      failure === undefined
        ? text`process ${String(holder.pid)} holds the ledger`
        : text`the ledger is not held until a file changes: ${failure}`
    )
    await changed(mark, seen, signal)
    if (!signal.aborted) start.begin()
    await holder.close()
    if (!signal.aborted) output.log(text`a file has changed: the code is loaded again`)
  }
}

/** Resolves when a file has changed and stands still again, or the signal aborts. */
async function changed(
  mark: () => Promise<string>,
  seen: string,
  signal: AbortSignal
): Promise<void> {
  for (let before = seen; !signal.aborted; ) {
    await pause(signal)
    const now = await mark()
    if (now !== seen && now === before) return
    before = now
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const callOff = systemClock.schedule(systemClock.now() + limits.DEV_POLL_MS, () => {
      signal.removeEventListener('abort', left)
      resolve()
    })
    const left = () => {
      callOff()
      resolve()
    }
    signal.addEventListener('abort', left, { once: true })
  })
}

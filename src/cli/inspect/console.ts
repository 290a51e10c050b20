import { fileURLToPath } from 'node:url'
import { ConsoleServer, pageDirectory, readPageFiles } from '../../console/index.js'
import { type ExitCode, exitCodes, type Frame } from '../frame/frame.js'
import { onInterrupt } from '../frame/interrupt.js'
import { canAsk } from '../frame/passphrase.js'
import { portOf } from '../frame/port.js'
import { text } from '../frame/text.js'
import { LedgerSource } from './ledger-source.js'
import { openBrowser } from './open-browser.js'

export interface ConsoleCommandOptions {
  readonly port?: string
  readonly open?: boolean
  readonly readOnly?: boolean
}

/** A console that a command has opened, until it is interrupted or `close` is called. */
export interface OpenedConsole {
  readonly ended: Promise<ExitCode>
  close(): Promise<void>
}

/**
 * Serves the console of the ledger that the frame names, held or not, or of a snapshot file, and
 * says where; nothing opens the ledger before `ready`. Throws `console.port_taken`,
 * `console.unusable_page`, and the codes of snapshots.
 */
export async function openConsole(
  frame: Frame,
  run: string | undefined,
  options: ConsoleCommandOptions,
  ready?: () => Promise<unknown>
): Promise<OpenedConsole> {
  const { output } = frame
  const port = portOf(options.port)
  const page = await readPageFiles(fileURLToPath(pageDirectory))
  const source = await LedgerSource.of(frame, ready)
  const { readOnly: isReadOnly = false } = options
  const served = { port, handle: source.handle, page, isReadOnly, run }
  const server = await ConsoleServer.open(served)
  const url = server.link()
  output.document('console', { url, hosts: server.hosts, readOnly: isReadOnly, run: run ?? null })
  output.line(text`${url}`)
  output.log(text`the link opens one session, within a minute; Ctrl-C ends the console`)
  if (options.open === true) {
    const problem = !output.isLive
      ? 'this is no terminal'
      : (await openBrowser(url))
        ? undefined
        : 'no program opens addresses'
    if (problem !== undefined) output.log(text`no browser was opened: ${problem}`)
  }
  const links = output.isLive && canAsk() ? newLinks(frame, server) : () => undefined
  const close = async () => {
    links()
    await server.close()
    await source.close()
  }
  const interruption = onInterrupt(close)
  const ended = server.ended.then(() => {
    interruption.release()
    return interruption.exitCode ?? exitCodes.done
  })
  return { ended, close }
}

/** Prints a new link for each line that is typed; gives what ends that. */
function newLinks({ output }: Frame, server: ConsoleServer): () => void {
  const { stdin } = process
  const print = () => output.line(text`${server.link()}`)
  output.log(text`Enter prints a new link`)
  stdin.on('data', print)
  return () => {
    stdin.off('data', print)
    stdin.pause()
  }
}

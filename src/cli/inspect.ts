import { cliError } from '../core/index.js'
import type { ExitCode, Frame } from './frame/frame.js'
import type { ConsoleCommandOptions } from './inspect/console.js'
import type { StatelyOptions } from './inspect/stately.js'

export type InspectOptions = { readonly stately?: boolean } & StatelyOptions & ConsoleCommandOptions

/**
 * `tally inspect [RUN]`: opens the console of this ledger, or with `--stately` shows its runs to
 * Stately's inspector.
 */
export async function inspect(
  frame: Frame,
  run: string | undefined,
  options: InspectOptions
): Promise<ExitCode> {
  const { stately = false, payloads = false, open = false, readOnly = false } = options
  const problem =
    stately && (open || readOnly)
      ? '--open and --read-only are of the console, and not of --stately'
      : !stately && payloads
        ? '--payloads goes with --stately; the console shows payloads anyway'
        : undefined
  if (problem !== undefined) throw cliError('cli.usage', { problem })
  if (stately) return (await import('./inspect/stately.js')).inspectStately(frame, run, options)
  const { openConsole } = await import('./inspect/console.js')
  return (await openConsole(frame, run, options)).ended
}

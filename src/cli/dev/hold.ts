import { createInterface } from 'node:readline'
import { isJsonObject, ledgerError, parse } from '../../core/index.js'
import { type ExitCode, exitCodes, type Frame } from '../frame/frame.js'
import { atHolder } from '../frame/holder.js'
import { configOf } from '../frame/session.js'

/**
 * Holds the ledger for `tally dev`: resumes its runs, serves it by its owner socket, and parks the
 * runs when the standard input ends, whose first line may have the passphrase.
 */
export async function hold(frame: Frame, given: string | undefined): Promise<ExitCode> {
  // The terminal interrupts both processes; this one ends with its standard input.
  process.on('SIGINT', () => undefined)
  const lines = createInterface({ input: process.stdin })
  const ended = new Promise<void>((resolve) => lines.once('close', resolve))
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    ended.then(() => '{}')
  ])
  const said = parse(first)
  const passphrase = isJsonObject(said) ? said['passphrase'] : undefined
  const config = await configOf(frame, given)
  const { createRuntime } = await import('../../runtime/index.js')
  const runtime = await atHolder(frame, {
    owner: async (owner, path) => {
      owner.close()
      throw ledgerError('ledger.locked', { path, problem: 'a process holds it already' })
    },
    here: (location) =>
      createRuntime({
        location,
        ...config,
        ...(typeof passphrase === 'string' ? { passphrase } : {}),
        ...(frame.identity === undefined ? {} : { identity: frame.identity }),
        redactor: frame.redactor,
        resume: true
      })
  })
  frame.output.document('held', { process: process.pid })
  await ended
  await runtime.close()
  return exitCodes.done
}

import { resolve } from 'node:path'
import { ledgerError, TallyError } from '../core/index.js'
import type { LocationRepair, RemediedCause } from '../runtime/index.js'
import { completed } from './frame/command-line.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { atHolder, once } from './frame/holder.js'
import { readNote } from './frame/notes.js'
import { givenPassphrase } from './frame/passphrase.js'
import { text } from './frame/text.js'

export interface RecoverCommandOptions {
  readonly cut?: boolean
  readonly archive?: readonly string[]
  readonly note?: readonly string[]
  readonly acknowledgeNotes?: boolean
  readonly acceptLock?: boolean
  readonly removePackages?: boolean
}

/**
 * `tally recover`: gets a ledger out of safe mode (K2). It says first what is wrong, what it does
 * about it and what is lost by that; what loses something needs its option.
 */
export async function recover(frame: Frame, options: RecoverCommandOptions): Promise<ExitCode> {
  const { output } = frame
  const archives = (options.archive ?? []).map((path) => resolve(frame.cwd, path))
  const notes = await Promise.all((options.note ?? []).map((path) => readNote(frame, path)))
  const found = await atHolder<LocationRepair | TallyError>(frame, {
    owner: (owner, path) =>
      once(owner, async () => ledgerError('ledger.locked', { path, problem: heldElsewhere })),
    here: async (directory) => {
      const { repairLocation: recoverLocation } = await import('../runtime/index.js')
      const { cut: allowCut = false, acknowledgeNotes = false, ...consents } = options
      const { acceptLock = false, removePackages = false } = consents
      return recoverLocation(directory, {
        ...{ notes, archives, allowCut, acknowledgeNotes, acceptLock, removePackages },
        identity: frame.identity,
        passphrase: givenPassphrase(frame),
        onCauses: (causes) => tell(frame, causes)
      })
    }
  })
  if (found instanceof TallyError) throw found
  const { recovery, live, kept, causes, removed } = found
  output.document('recovery', { ...recovery, live, kept, causes, removed })
  output.line(text`${output.paint('green', toldOf(recovery, causes))}`)
  for (const codeHash of removed) {
    output.line(text`removed the stored bytes of ${codeHash}: install that package again`)
  }
  if (recovery.kind === 'cut') {
    output.line(text`kept ${recovery.receipts} receipts in ${live}`)
    output.line(text`left ${recovery.lostCommits} commits behind in ${kept ?? ''}`)
  }
  return exitCodes.done
}

/** Says what is wrong and what is done about it, before it is done. */
function tell({ output, commands }: Frame, causes: readonly RemediedCause[]): void {
  for (const { code, message, does, loses } of causes) {
    output.log(text`safe mode: ${completed(commands, message)} (${code})`)
    output.log(text`to recover: ${completed(commands, does)}`)
    output.log(text`lost by it: ${completed(commands, loses ?? 'nothing')}`)
  }
}

function toldOf(recovery: LocationRepair['recovery'], causes: readonly RemediedCause[]): string {
  if (recovery.kind === 'clean') return causes.length > 0 ? mended : told.clean
  return recovery.kind === 'cut' && recovery.lostCommits === 0 ? madeAgain : told[recovery.kind]
}

const madeAgain = 'every record verifies; the ledger was made again of them in a new directory'

const mended = 'everything verifies, and the ledger opens again'

const heldElsewhere = 'a service holds it'

const told = {
  clean: 'everything verifies: there is nothing to recover',
  derived: 'indexes were damaged; they are made again when the ledger is next opened',
  cut: 'the chain was cut behind the last record that verifies'
} as const

import { TallyError } from '../core/index.js'
import type { LocationRecovery } from '../runtime/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { atHolder, once } from './frame/holder.js'
import { readNote } from './frame/notes.js'
import { text } from './frame/text.js'

export interface RecoverCommandOptions {
  readonly cut?: boolean
  readonly note?: readonly string[]
  readonly acknowledgeNotes?: boolean
}

/**
 * `tally recover`: gets a ledger out of safe mode. What is derived is made again; `--cut` keeps the
 * longest verified prefix in a new data directory, and the old one beside it (K2).
 */
export async function recover(frame: Frame, options: RecoverCommandOptions): Promise<ExitCode> {
  const { output } = frame
  const notes = await Promise.all((options.note ?? []).map((path) => readNote(frame, path)))
  const found = await atHolder<LocationRecovery | TallyError>(frame, {
    owner: (owner, path) =>
      once(owner, async () => new TallyError('ledger.locked', { path, problem: heldElsewhere })),
    here: async (directory) => {
      const { recoverLocation } = await import('../runtime/index.js')
      const { cut: allowCut = false, acknowledgeNotes = false } = options
      const { identity } = frame
      return recoverLocation(directory, { notes, allowCut, acknowledgeNotes, identity })
    }
  })
  if (found instanceof TallyError) throw found
  const { recovery, live, kept } = found
  output.document('recovery', { ...recovery, live, kept })
  output.line(text`${output.paint('green', told[recovery.kind])}`)
  if (recovery.kind === 'cut') {
    output.line(text`kept ${recovery.receipts} receipts in ${live}`)
    output.line(text`left ${recovery.lostCommits} commits behind in ${kept ?? ''}`)
  }
  return exitCodes.done
}

const heldElsewhere = 'a service holds it'

const told = {
  clean: 'everything verifies: there is nothing to recover',
  derived: 'indexes were damaged; they are made again when the ledger is next opened',
  cut: 'the chain was cut behind the last record that verifies'
} as const

import { constants } from 'node:fs'
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type IdentityId, TallyError } from '../core/index.js'
import { importSnapshot, inspectLocation, type LocationImport } from '../ledger/index.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { readNote } from './frame/notes.js'
import { openSession } from './frame/session.js'
import { text } from './frame/text.js'

export interface ImportCommandOptions {
  readonly note?: readonly string[]
  readonly takeOver?: boolean
  readonly key?: string
}

/**
 * `tally import [FILE]`: makes a ledger from a snapshot, or brings an imported one forward; with
 * `--take-over` it then runs here (formats.md §8).
 */
export async function importLedger(
  frame: Frame,
  file: string | undefined,
  options: ImportCommandOptions
): Promise<ExitCode> {
  const { takeOver = false, key } = options
  if (file === undefined && !takeOver) {
    throw new TallyError('cli.usage', { problem: 'name the snapshot, or give --take-over' })
  }
  if (key !== undefined && !takeOver) {
    throw new TallyError('cli.usage', { problem: '--key is of use with --take-over alone' })
  }
  if (file !== undefined) {
    const paths = options.note ?? []
    const notes = await Promise.all(paths.map((path) => readNote(frame, path)))
    const path = resolve(frame.cwd, file)
    show(frame, await importSnapshot(frame.directory, { file: path, notes }))
  }
  if (takeOver) await takeOverHere(frame, key)
  return exitCodes.done
}

function show({ output, directory }: Frame, imported: LocationImport): void {
  const { outcome, receipts, headRoot, openRuns, kept, report, ...rest } = imported
  const counts = { receipts, headRoot, openRuns, kept }
  output.document('import', { outcome, ...rest, ...counts, notChecked: report.notChecked })
  output.line(text`${output.paint('green', told[outcome])} ${directory}`)
  output.line(text`${receipts} receipts, ${openRuns.length} open runs, head root ${headRoot}`)
  if (kept !== null) output.line(text`the data from before stays in ${kept}`)
  if (outcome !== 'unchanged') output.log(text`it is only read until it is taken over`)
}

const told = {
  created: 'imported into',
  replaced: 'brought forward',
  unchanged: 'nothing new for'
} as const

async function takeOverHere(frame: Frame, key: string | undefined): Promise<void> {
  const { output, directory } = frame
  const found = await inspectLocation(directory)
  if (found === undefined) throw new TallyError('ledger.not_found', { path: directory })
  if (found.marker.followers === undefined) {
    throw new TallyError('cli.usage', { problem: 'the ledger was not imported, or is taken over' })
  }
  if (key !== undefined) await placeKey(frame, key, found.marker.identities)
  const session = await openSession(frame, 'take over')
  await session.close()
  output.document('take_over', { directory, identities: found.marker.identities })
  output.line(text`${output.paint('green', 'taken over')} ${directory}`)
  output.log(text`nothing else may run this identity from now on`)
}

/** Copies a key file to where the ledger looks for it; one that is there stays. */
async function placeKey(
  { cwd, directory }: Frame,
  key: string,
  [identity]: readonly IdentityId[]
): Promise<void> {
  if (identity === undefined) throw new TallyError('ledger.not_found', { path: directory })
  const { keyFilePath } = await import('../runtime/index.js')
  const path = keyFilePath(directory, identity)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await copyFile(resolve(cwd, key), path, constants.COPYFILE_EXCL)
    await chmod(path, 0o600)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new TallyError('cli.usage', { problem: `the key cannot be copied: ${problem}` })
  }
}

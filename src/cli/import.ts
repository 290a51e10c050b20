import { constants } from 'node:fs'
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { cliError, type IdentityId, ledgerError } from '../core/index.js'
import {
  type GivenNote,
  type ImportProgress,
  importSnapshot,
  inspectLocation,
  type LocationImport,
  mainIdentity
} from '../ledger/index.js'
import { connectOwner } from '../owner/index.js'
import { ownerClient } from './frame/client.js'
import { type ExitCode, exitCodes, type Frame } from './frame/frame.js'
import { once } from './frame/holder.js'
import { showReply } from './frame/intent.js'
import { readNote } from './frame/notes.js'
import { showUnchecked } from './frame/render.js'
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
    throw cliError('cli.usage', { problem: 'name the snapshot, or give --take-over' })
  }
  if (key !== undefined && !takeOver) {
    throw cliError('cli.usage', { problem: '--key is of use with --take-over alone' })
  }
  if (file !== undefined) {
    const paths = options.note ?? []
    const notes = await Promise.all(paths.map((path) => readNote(frame, path)))
    const path = resolve(frame.cwd, file)
    const code = await importThere(frame, { file: path, notes })
    if (code !== undefined) return code
  }
  if (takeOver) await takeOverHere(frame, key)
  return exitCodes.done
}

/** In the service that holds the ledger, which then has to be started again, or here. */
async function importThere(
  frame: Frame,
  given: { readonly file: string; readonly notes: readonly GivenNote[] }
): Promise<ExitCode | undefined> {
  const { output, directory } = frame
  const found = await inspectLocation(directory)
  const owner = found === undefined ? undefined : await connectOwner(found.realPath)
  if (owner === undefined) {
    const imported = await output.withProgress((report) =>
      importSnapshot(directory, { ...given, onProgress: report && ((at) => report(barOf(at))) })
    )
    show(frame, imported)
    return undefined
  }
  const payload = { file: given.file, notes: given.notes.map((note) => ({ ...note })) }
  const reply = await once(owner, (one) =>
    ownerClient(one).request('intent', { action: 'system.import', payload })
  )
  const code = showReply(frame, reply)
  if (reply.type === 'dapp' && reply['restart'] === true) {
    output.log(text`the service that holds the ledger has to be started again, to take it over`)
  }
  return code === exitCodes.done ? undefined : code
}

function barOf({ phase, done, total }: ImportProgress) {
  const unit = phase === 'reading' ? 'lines' : 'commits'
  return { label: phase === 'reading' ? 'reading' : 'verifying', done, total, unit }
}

function show(frame: Frame, imported: LocationImport): void {
  const { output, directory } = frame
  const { outcome, receipts, headRoot, openRuns, kept, report, ...rest } = imported
  const counts = { receipts, headRoot, openRuns, kept }
  output.document('import', { outcome, ...rest, ...counts, notChecked: report.notChecked })
  output.line(text`${output.paint('green', told[outcome])} ${directory}`)
  output.line(text`${receipts} receipts, ${openRuns.length} open runs, head root ${headRoot}`)
  if (kept !== null) output.line(text`the data from before stays in ${kept}`)
  showUnchecked(frame, report)
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
  if (found === undefined) throw ledgerError('ledger.not_found', { path: directory })
  const { marker, realPath: path } = found
  const identity = frame.identity ?? mainIdentity(marker)
  if (identity === undefined || marker.followers?.includes(identity) !== true) {
    throw cliError('cli.usage', { problem: 'the ledger was not imported, or is taken over' })
  }
  if (key !== undefined) await placeKey(frame, key, identity)
  const session = await openSession(frame, 'take over')
  await session.close()
  if (session.holder === 'owner') {
    const problem = 'the service that holds it has to end before it is taken over'
    throw ledgerError('ledger.locked', { path, problem })
  }
  output.document('take_over', { directory, identities: [identity] })
  output.line(text`${output.paint('green', 'taken over')} ${directory}`)
  output.log(text`nothing else may run this identity from now on`)
}

/** Copies a key file to where the ledger looks for it; one that is there stays. */
async function placeKey(
  { cwd, directory }: Frame,
  key: string,
  identity: IdentityId
): Promise<void> {
  const { keyFilePath } = await import('../runtime/index.js')
  const path = keyFilePath(directory, identity)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await copyFile(resolve(cwd, key), path, constants.COPYFILE_EXCL)
    await chmod(path, 0o600)
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw cliError('cli.usage', { problem: `the key cannot be copied: ${problem}` })
  }
}

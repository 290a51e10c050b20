import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { cliError } from '../../core/index.js'
import type { GivenNote } from '../../ledger/index.js'
import { readInput } from './files.js'
import type { Frame } from './frame.js'

/** A note counts only when it comes from outside the ledger's own directory (P5). */
export async function readNote(frame: Frame, path: string): Promise<GivenNote> {
  const content = await readInput(frame, path)
  const real = async (one: string) => realpath(one).catch(() => one)
  const way = relative(await real(frame.directory), await real(resolve(frame.cwd, path)))
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) {
    throw cliError('cli.note_inside', { path })
  }
  return { source: path, text: content }
}

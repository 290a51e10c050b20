import { copyFile, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that stands for a database that must not be written to. */
export interface Scratch {
  readonly path: string
  remove(): Promise<void>
}

const table = /\.(ldb|sst)$/
const written = /^(CURRENT|MANIFEST-\d+|\d+\.log)$/

/**
 * Makes a scratch directory of a LevelDB directory: its tables are links to those of the database,
 * and only its log and its manifest are copied, which no history lets grow beyond a few write
 * buffers. What LevelDB merges or repairs in it stays in it, at most as much as the database has.
 */
export async function scratchOf(from: string): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), 'tally-read-'))
  const remove = () => rm(path, { recursive: true, force: true })
  try {
    for (const name of await readdir(from)) {
      if (table.test(name)) await symlink(join(from, name), join(path, name))
      else if (written.test(name)) await copyFile(join(from, name), join(path, name))
    }
    return { path, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

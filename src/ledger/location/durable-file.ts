import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorNumber, systemRandom } from '../../core/index.js'

/**
 * Replaces a file so that after a crash it is wholly the old one or wholly the new one (L9): write
 * beside it, fsync, rename, fsync of the directory. Mode 0600.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`
  await writeSynced(temporary, 'w', text)
  await rename(temporary, path)
  await syncDirectory(dirname(path))
}

/**
 * Creates a file, wholly or not at all; rejects with EEXIST when it is there already, also for all
 * but one of several processes that try at once. Mode 0600.
 */
export async function createFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${systemRandom.uuid()}`
  await writeSynced(temporary, 'wx', text)
  try {
    await link(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(dirname(path))
}

async function writeSynced(path: string, flags: 'w' | 'wx', text: string): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Removes a file, if it is there, durably. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
  await syncDirectory(dirname(path))
}

/** The text of a file, or undefined when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorNumber(error) === 'ENOENT' || errorNumber(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

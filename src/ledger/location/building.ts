import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorNumber, isTallyError, ledgerError } from '../../core/index.js'
import type { Stores } from '../stores/stores.js'
import { createFile, readIfPresent, removeFile, syncDirectory } from './durable-file.js'
import { type DataDirectory, isDataDirectory } from './marker.js'

/**
 * Data directories that are being built.
 *
 * Beside each stands an empty file `data-<n>.pending`. It tells what an interrupted init or import
 * left behind from the data of a ledger whose marker was lost, and from a directory that was kept.
 */
const PENDING_SUFFIX = '.pending'
const unnamedPending = /^data-[0-9]+\.pending\.[0-9a-f-]{36}$/

/** What a builder of a data directory may hold until the marker names it: the lock of its store. */
export type LetGo = () => Promise<void>

export async function dataDirectories(realPath: string): Promise<DataDirectory[]> {
  const entries = await readdir(realPath, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .filter(isDataDirectory)
}

/** Name of a data directory that does not exist yet. */
export async function freeName(realPath: string): Promise<DataDirectory> {
  const numbers = (await dataDirectories(realPath)).map((name) => Number(name.slice(5)))
  return `data-${Math.max(0, ...numbers) + 1}`
}

/** Throws `ledger.marker_missing` when a data directory belonged to a ledger once. */
export async function refuseUnmarkedData(realPath: string): Promise<void> {
  for (const name of await dataDirectories(realPath)) {
    if (!(await isPending(realPath, name))) {
      throw ledgerError('ledger.marker_missing', { path: realPath })
    }
  }
}

async function isPending(realPath: string, name: DataDirectory): Promise<boolean> {
  return (await readIfPresent(pendingFile(realPath, name))) !== undefined
}

/** Directories that were begun and not finished: a process builds them now, or died. */
export async function unfinished(
  realPath: string,
  live?: DataDirectory
): Promise<readonly DataDirectory[]> {
  const found: DataDirectory[] = []
  for (const name of await dataDirectories(realPath)) {
    if (name !== live && (await isPending(realPath, name))) found.push(name)
  }
  return found
}

/**
 * Removes what interrupted builds left behind. Throws `ledger.locked` while a process is building:
 * builders hold the lock of their store until the marker names it.
 */
export async function removeUnfinished(
  realPath: string,
  stores: Stores,
  live?: DataDirectory
): Promise<void> {
  for (const name of await unfinished(realPath, live)) {
    const path = join(realPath, name)
    try {
      await stores.probe(path)
    } catch (error) {
      if (isTallyError(error, 'ledger.locked')) throw error
    }
    await discardData(realPath, name)
  }
  // Of builders that died before their first file had its name.
  for (const name of await readdir(realPath)) {
    if (unnamedPending.test(name)) await rm(join(realPath, name), { force: true })
  }
}

/**
 * Makes a data directory; the ledger has it only once the marker names it. A build that fails
 * leaves nothing.
 */
export async function buildData<Built>(
  realPath: string,
  build: (dataPath: string, name: DataDirectory) => Promise<Built>
): Promise<Built> {
  const name = await freeName(realPath)
  const path = join(realPath, name)
  await begin(realPath, name)
  try {
    const built = await build(path, name)
    await syncDirectory(path)
    return built
  } catch (error) {
    await discardData(realPath, name)
    throw error
  }
}

/** The directory decides who builds it; a file without one was left by who died between. */
async function begin(realPath: string, name: DataDirectory): Promise<void> {
  try {
    await createFile(pendingFile(realPath, name), '')
  } catch (error) {
    if (errorNumber(error) !== 'EEXIST') throw error
  }
  try {
    await mkdir(join(realPath, name), { mode: 0o700 })
  } catch (error) {
    if (errorNumber(error) !== 'EEXIST') throw error
    const problem = 'another process is making it'
    throw ledgerError('ledger.locked', { path: realPath, problem }, { cause: error })
  }
}

/** Says that the marker names it now. */
export async function finishData(realPath: string, name: DataDirectory): Promise<void> {
  const path = pendingFile(realPath, name)
  if ((await readIfPresent(path)) !== undefined) await removeFile(path)
}

/** Removes a data directory that no marker has named. */
export async function discardData(realPath: string, name: DataDirectory): Promise<void> {
  await rm(join(realPath, name), { recursive: true, force: true })
  await removeFile(pendingFile(realPath, name))
}

function pendingFile(realPath: string, name: DataDirectory): string {
  return join(realPath, `${name}${PENDING_SUFFIX}`)
}

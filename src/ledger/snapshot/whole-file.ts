import { type FileHandle, link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { errorNumber, isTallyError, ledgerError, systemRandom } from '../../core/index.js'
import { syncDirectory } from '../location/durable-file.js'
import type { FileKind } from './file-lines.js'

/**
 * Writes a file that appears whole or not at all, synced, and replaces none; packed with gzip when
 * its name ends in `.gz`. Throws `snapshot.unwritable` or `archive.unwritable`.
 */
export async function createWhole(
  path: string,
  chunks: () => AsyncIterable<Buffer>,
  kind: FileKind
): Promise<void> {
  const temporary = `${path}.${systemRandom.uuid()}.part`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await fill(file, path, chunks())
      await file.sync()
    } finally {
      await file.close()
    }
    // A rename would replace what is there.
    await link(temporary, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    if (isTallyError(error)) throw error
    const problem = errorNumber(error) === 'EEXIST' ? 'it is there already' : messageOf(error)
    throw ledgerError(`${kind}.unwritable`, { path, problem }, { cause: error })
  } finally {
    await rm(temporary, { force: true })
  }
}

async function fill(file: FileHandle, path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  const source = Readable.from(chunks, { objectMode: false })
  const write = async (parts: AsyncIterable<Buffer>) => {
    for await (const part of parts) await file.writeFile(part)
  }
  if (path.endsWith('.gz')) await pipeline(source, createGzip(), write)
  else await pipeline(source, write)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

import { constants, type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises'

/** The bytes of a file, or why there are none; `problem` names nothing of this machine. */
export type FileRead =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: FileReadProblem }

export type FileReadProblem =
  | 'not_found'
  | 'unreadable'
  | 'not_regular'
  | 'too_many_bytes'
  /** Something else took the place of the file while it was opened. */
  | 'moved'

/**
 * Reads one regular file through one handle, and never more than `bytesMax` bytes of it. A pipe is
 * not waited for, a device is not opened, and a file that grows or says that it is empty (as those
 * of `/proc` do) is held to the same bound.
 *
 * `isReal`: the path is free of symbolic links, and is refused as `moved` unless it still is once
 * the file is open and still leads to the file that was opened. What is read then lay at that path
 * after the path was checked.
 */
export async function readRegularFile(
  path: string,
  { bytesMax, isReal = false }: { readonly bytesMax: number; readonly isReal?: boolean }
): Promise<FileRead> {
  try {
    // Opening some devices has effects of its own.
    if (!(await stat(path)).isFile()) return refused('not_regular')
    const noFollow = isReal ? constants.O_NOFOLLOW : 0
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
    try {
      const opened = await file.stat({ bigint: true })
      if (!opened.isFile()) return refused('not_regular')
      if (isReal && !(await liesAt(path, opened))) return refused('moved')
      if (opened.size > bytesMax) return refused('too_many_bytes')
      return await boundedBytes(file, bytesMax)
    } finally {
      await file.close()
    }
  } catch (error) {
    return refused(absent.has(codeOf(error)) ? 'not_found' : 'unreadable')
  }
}

/** Which file or directory of the machine something is, whatever its names are. */
export interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
}

/** Whether a path without symbolic links is one still, and leads to this file or directory. */
export async function liesAt(path: string, { dev, ino }: FileIdentity): Promise<boolean> {
  const found = await lstat(path, { bigint: true })
  return found.dev === dev && found.ino === ino && (await realpath(path)) === path
}

/** The name that the system gives an error, such as ENOENT; empty for other errors. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

const absent: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

async function boundedBytes(file: FileHandle, bytesMax: number): Promise<FileRead> {
  const bytes = await bytesWithin(chunksOf(file, bytesMax + 1), bytesMax)
  return bytes === undefined ? refused('too_many_bytes') : { ok: true, bytes }
}

async function* chunksOf(file: FileHandle, bytesMax: number): AsyncGenerator<Buffer> {
  for (let left = bytesMax; left > 0; ) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, left))
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    left -= bytesRead
  }
}

const CHUNK_BYTES = 64 * 1024

/** All bytes of a stream; undefined where they are more, of which no more is read. */
export async function bytesWithin(
  stream: AsyncIterable<unknown>,
  bytesMax: number
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    // Streams without an encoding give bytes.
    const piece = chunk as Uint8Array
    bytes += piece.byteLength
    // Leaving the loop closes the stream.
    if (bytes > bytesMax) return undefined
    chunks.push(piece)
  }
  return Buffer.concat(chunks)
}

function refused(problem: FileReadProblem): FileRead {
  return { ok: false, problem }
}

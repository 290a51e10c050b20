import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { isTallyError, ledgerError } from '../../core/index.js'

const NEWLINE = 0x0a

/** What a file of lines is, as errors call it. */
export type FileKind = 'snapshot' | 'archive'

/**
 * The lines of a snapshot or an archive, unpacked when its name ends in `.gz`.
 *
 * Owns: the open file. Does not own: what a line means. Holds no more than one line and one chunk:
 * the reader of a line says how long it may be.
 */
export class SnapshotFileLines {
  readonly path: string
  /** Number of the line that was read last, from 1. */
  line = 0
  readonly #kind: FileKind
  readonly #streams: readonly Readable[]
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  private constructor(
    { path, kind }: { readonly path: string; readonly kind: FileKind },
    streams: readonly Readable[],
    last: Readable
  ) {
    this.path = path
    this.#kind = kind
    this.#streams = streams
    // The next read throws it; a failure before that would end the process.
    last.on('error', () => undefined)
    this.#chunks = last[Symbol.asyncIterator]()
  }

  /** Throws `snapshot.unreadable` or `archive.unreadable` unless it is a file. */
  static async open(path: string, kind: FileKind = 'snapshot'): Promise<SnapshotFileLines> {
    const found = await stat(path).catch((cause: unknown) => {
      const problem = cause instanceof Error ? cause.message : String(cause)
      throw ledgerError(`${kind}.unreadable`, { path, problem }, { cause })
    })
    // A pipe or a device may never end.
    if (!found.isFile()) {
      throw ledgerError(`${kind}.unreadable`, { path, problem: 'it is no file' })
    }
    const file = createReadStream(path)
    if (!path.endsWith('.gz')) return new SnapshotFileLines({ path, kind }, [file], file)
    const unpacked = createGunzip()
    file.on('error', (error) => unpacked.destroy(error))
    return new SnapshotFileLines({ path, kind }, [file, unpacked], file.pipe(unpacked))
  }

  /**
   * The next line without its break; undefined at the end. Throws `snapshot.malformed` or
   * `archive.malformed`.
   */
  async next(bytesMax: number): Promise<Buffer | undefined> {
    this.line += 1
    const parts: Buffer[] = []
    let length = 0
    for (;;) {
      const end = this.#rest.indexOf(NEWLINE)
      const part = end === -1 ? this.#rest : this.#rest.subarray(0, end)
      length += part.length
      if (length > bytesMax) this.refuse(`it is longer than ${bytesMax} bytes`)
      parts.push(part)
      if (end !== -1) {
        this.#rest = this.#rest.subarray(end + 1)
        return parts.length === 1 ? part : Buffer.concat(parts)
      }
      const chunk = await this.#chunk()
      if (chunk === undefined) {
        if (length === 0) return undefined
        this.refuse('the file ends in the middle of it')
      }
      this.#rest = chunk
    }
  }

  refuse(problem: string): never {
    const place = { path: this.path, line: this.line }
    throw ledgerError(`${this.#kind}.malformed`, { ...place, problem })
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  async #chunk(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.#chunks.next()
      return done === true ? undefined : value
    } catch (error) {
      if (isTallyError(error)) throw error
      const { message } = error instanceof Error ? error : { message: String(error) }
      return this.refuse(`the file cannot be read further: ${message}`)
    }
  }
}

import { createHash, type Hash as Hashing } from 'node:crypto'
import { ledgerError, limits } from '../../core/index.js'
import { SnapshotFileLines } from '../snapshot/file-lines.js'
import type { Parsed } from '../snapshot/format.js'
import {
  type ArchiveFooter,
  type ArchiveHeader,
  type ArchiveLine,
  parseArchiveFooter,
  parseArchiveHeader,
  parseArchiveLine,
  unknownArchiveVersion
} from './format.js'

/**
 * Reads an archive strictly, in one pass: nothing of it is believed beyond what its header
 * declares, and the footer is read only when all of that was there.
 *
 * Owns: the open file, and the hash of what was read. Does not own: what becomes of the lines.
 */
export class ArchiveReader {
  readonly header: ArchiveHeader
  readonly #lines: SnapshotFileLines
  readonly #hash: Hashing
  #footer: ArchiveFooter | undefined

  private constructor(lines: SnapshotFileLines, header: ArchiveHeader, hash: Hashing) {
    this.#lines = lines
    this.header = header
    this.#hash = hash
  }

  /** Throws `archive.unreadable`, `archive.malformed`, `archive.unknown_version`. */
  static async open(path: string): Promise<ArchiveReader> {
    const lines: SnapshotFileLines = await SnapshotFileLines.open(path, 'archive')
    try {
      const bytes = await lines.next(limits.SNAPSHOT_HEADER_BYTES_MAX)
      if (bytes === undefined) lines.refuse('the file is empty')
      const text = textOf(lines, bytes)
      const other = unknownArchiveVersion(text)
      if (other !== undefined) throw ledgerError('archive.unknown_version', { path, ...other })
      const header = accepted(lines, parseArchiveHeader(text))
      return new ArchiveReader(lines, header, createHash('sha256').update(bytes).update('\n'))
    } catch (error) {
      lines.close()
      throw error
    }
  }

  get path(): string {
    return this.#lines.path
  }

  /** There once all of {@link body} was read. */
  get footer(): ArchiveFooter {
    if (this.#footer === undefined) this.refuse('its footer was not read')
    return this.#footer
  }

  /** Every line between header and footer; checks the hash of the footer behind the last one. */
  async *body(): AsyncGenerator<ArchiveLine> {
    const { blobs, bytes: declared, longestLine, from, to } = this.header
    const left = { commit: to.commits - from.commits, blob: blobs }
    let bytesLeft = declared
    while (left.commit > 0 || left.blob > 0) {
      const bytes = await this.#next(longestLine)
      bytesLeft -= bytes.length + 1
      if (bytesLeft < 0) this.refuse(`${declared} bytes were declared, and there are more`)
      const line = accepted(this.#lines, parseArchiveLine(textOf(this.#lines, bytes)))
      left[line.kind] -= 1
      if (left[line.kind] < 0) this.refuse(`more lines of the kind ${line.kind} than declared`)
      this.#hash.update(bytes).update('\n')
      yield line
    }
    if (bytesLeft !== 0) this.refuse(`${declared} bytes were declared, and there are fewer`)
    await this.#end()
  }

  /** Refuses the line that was read last; throws `archive.malformed`. */
  refuse(problem: string): never {
    this.#lines.refuse(problem)
  }

  close(): void {
    this.#lines.close()
  }

  async #end(): Promise<void> {
    const bytes = await this.#next(limits.SNAPSHOT_HEADER_BYTES_MAX)
    const footer = accepted(this.#lines, parseArchiveFooter(textOf(this.#lines, bytes)))
    const actual = this.#hash.digest('hex')
    if (footer.sha256 !== actual) this.refuse(`the lines before it hash to ${actual}`)
    const more = await this.#lines.next(limits.SNAPSHOT_HEADER_BYTES_MAX)
    if (more !== undefined) this.refuse('something stands behind the footer')
    this.#footer = footer
  }

  async #next(bytesMax: number): Promise<Buffer> {
    const bytes = await this.#lines.next(bytesMax)
    return bytes ?? this.refuse('the file ends before it')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(lines: SnapshotFileLines, bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return lines.refuse('it is no UTF-8')
  }
}

function accepted<Value>(lines: SnapshotFileLines, parsed: Parsed<Value>): Value {
  return parsed.ok ? parsed.value : lines.refuse(parsed.problem)
}

import { createHash, type Hash as Hashing } from 'node:crypto'
import { ledgerError, limits } from '../../core/index.js'
import { SnapshotFileLines } from './file-lines.js'
import {
  type Parsed,
  parseFooter,
  parseHeader,
  parseLine,
  type SnapshotCounts,
  type SnapshotFooter,
  type SnapshotHeader,
  type SnapshotLine,
  unknownVersion
} from './format.js'

const order = [
  'commits',
  'stateEntries',
  'blobs',
  'openRuns'
] as const satisfies readonly (keyof SnapshotCounts)[]

/**
 * Reads a snapshot strictly, in one pass: nothing of it is believed beyond what its header
 * declares, and the footer is read only when all of that was there.
 *
 * Owns: the open file, and the hash of what was read. Does not own: what becomes of the lines.
 */
export class SnapshotReader {
  readonly header: SnapshotHeader
  readonly #lines: SnapshotFileLines
  readonly #hash: Hashing
  #footer: SnapshotFooter | undefined

  private constructor(lines: SnapshotFileLines, header: SnapshotHeader, hash: Hashing) {
    this.#lines = lines
    this.header = header
    this.#hash = hash
  }

  /** Throws `snapshot.unreadable`, `snapshot.malformed`, `snapshot.unknown_version`. */
  static async open(path: string): Promise<SnapshotReader> {
    const lines: SnapshotFileLines = await SnapshotFileLines.open(path)
    try {
      const bytes = await lines.next(limits.SNAPSHOT_HEADER_BYTES_MAX)
      if (bytes === undefined) lines.refuse('the file is empty')
      const text = textOf(lines, bytes)
      const other = unknownVersion(text)
      if (other !== undefined) throw ledgerError('snapshot.unknown_version', { path, ...other })
      const header = accepted(lines, parseHeader(text))
      return new SnapshotReader(lines, header, createHash('sha256').update(bytes).update('\n'))
    } catch (error) {
      lines.close()
      throw error
    }
  }

  get path(): string {
    return this.#lines.path
  }

  /** There once all of {@link body} was read. */
  get footer(): SnapshotFooter {
    if (this.#footer === undefined) this.refuse('its footer was not read')
    return this.#footer
  }

  /** Every line between header and footer; checks the footer behind the last one. */
  async *body(): AsyncGenerator<SnapshotLine> {
    const { counts, bytes: declared, longestLine } = this.header
    let left = declared
    for (const kind of order) {
      for (let at = 0; at < counts[kind]; at += 1) {
        const bytes = await this.#next(longestLine)
        left -= bytes.length + 1
        if (left < 0) this.refuse(`${declared} bytes were declared, and there are more`)
        const line = accepted(this.#lines, parseLine(textOf(this.#lines, bytes)))
        if (line.kind !== kind) this.refuse(`${counts[kind]} ${kind} were declared`)
        this.#hash.update(bytes).update('\n')
        yield line
      }
    }
    if (left !== 0) this.refuse(`${declared} bytes were declared, and there are fewer`)
    await this.#end()
  }

  /** Refuses the line that was read last; throws `snapshot.malformed`. */
  refuse(problem: string): never {
    this.#lines.refuse(problem)
  }

  close(): void {
    this.#lines.close()
  }

  async #end(): Promise<void> {
    const bytes = await this.#next(limits.SNAPSHOT_HEADER_BYTES_MAX)
    const footer = accepted(this.#lines, parseFooter(textOf(this.#lines, bytes)))
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

import { createHash } from 'node:crypto'

/**
 * A snapshot in the hands of a program that may change every byte, and knows how the file is made.
 */

interface Header {
  identity: string
  publicKeys: string[]
  counts: Record<'commits' | 'stateEntries' | 'blobs' | 'openRuns', number>
  bytes: number
  longestLine: number
  head: Record<string, unknown>
}

interface Line {
  commit?: string
  key?: string
  state?: string
  blob?: string
  open?: string
  status?: string
}

/** A record of the ledger, loosely. */
export type LooseRecord = Record<string, unknown>

export class TamperedSnapshot {
  readonly header: Header
  readonly lines: Line[]
  note: string | null

  constructor(text: string) {
    const [header, ...rest] = text.trimEnd().split('\n')
    const footer = JSON.parse(rest.pop() ?? '') as { note: string | null }
    this.header = JSON.parse(header ?? '') as Header
    this.lines = rest.map((line) => JSON.parse(line) as Line)
    this.note = footer.note
  }

  /** Lines of commit records, one below the other, each with its number and that of its commit. */
  recordLines(letter: string): readonly { commit: number; line: number; text: string }[] {
    return this.lines.flatMap(({ commit }, number) =>
      (commit ?? '')
        .split('\n')
        .map((text, line) => ({ commit: number, line, text }))
        .filter(({ text }) => text.startsWith(letter))
    )
  }

  /** Changes one line of a commit record, which is JSON behind a letter. */
  change(place: { commit: number; line: number }, to: (text: string) => string): void {
    this.replace(place, (text) => [to(text)])
  }

  /** Puts any number of lines in place of one of a commit record. */
  replace(place: { commit: number; line: number }, to: (text: string) => readonly string[]): void {
    const entry = this.lines[place.commit]
    const texts = (entry?.commit ?? '').split('\n')
    texts.splice(place.line, 1, ...to(texts[place.line] ?? ''))
    if (entry !== undefined) entry.commit = texts.join('\n')
  }

  /** The file, with counts, sizes and the hash of the footer in order. */
  encoded(): string {
    const { header, lines, note } = this
    const count = (name: keyof Line) => lines.filter((line) => line[name] !== undefined).length
    header.counts = {
      commits: count('commit'),
      stateEntries: count('key'),
      blobs: count('blob'),
      openRuns: count('open')
    }
    const texts = lines.map((line) => JSON.stringify(line))
    const sizes = texts.map((text) => Buffer.byteLength(text))
    header.bytes = sizes.reduce((sum, size) => sum + size + 1, 0)
    header.longestLine = Math.max(0, ...sizes)
    const body = [JSON.stringify(header), ...texts].map((text) => `${text}\n`).join('')
    const sha256 = createHash('sha256').update(body).digest('hex')
    return `${body}${JSON.stringify({ note, sha256 })}\n`
  }
}

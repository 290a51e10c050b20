import type { CommitRecord } from '../read/reader.js'
import type { CommitLine, LoggedLine } from './past-types.js'

/** What a commit made durable, each with its place. */
export function linesOf({ header, items }: CommitRecord): readonly CommitLine[] {
  const lines: CommitLine[] = []
  const { seq: commitSeq } = header
  let { leaves: leaf, receipts: index } = header
  for (const { runId, entries, receipt, evidence } of items) {
    lines.push({ place: lines.length + 1, kind: 'run', runId })
    for (const text of entries) lines.push({ place: lines.length + 1, kind: 'entry', runId, text })
    if (receipt !== undefined) {
      const { text } = receipt
      const place = { place: lines.length + 1, runId, commitSeq, leaf, index }
      lines.push({ ...place, kind: 'receipt', text })
      leaf += 1
      index += 1
    }
    if (evidence !== undefined) {
      const place = { place: lines.length + 1, runId, commitSeq, leaf, index: null }
      lines.push({ ...place, kind: 'evidence', text: evidence })
      leaf += 1
    }
  }
  return lines
}

export function isLogged(line: CommitLine): line is LoggedLine & { readonly place: number } {
  return line.kind === 'receipt' || line.kind === 'evidence'
}

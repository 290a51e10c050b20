import type { CommitRecord } from '../read/reader.js'
import type { CommitLine, LoggedLine } from './past-types.js'

/** What a commit made durable, each with its place. */
export function linesOf({ header, items }: CommitRecord): readonly CommitLine[] {
  const lines: CommitLine[] = []
  const { seq: commitSeq } = header
  let { leaves: leaf, receipts: index } = header
  let place = 0
  for (const { runId, entries, receipt, evidence, closedBy } of items) {
    place += 1
    lines.push({ place, kind: 'run', runId })
    for (const text of entries) {
      place += 1
      // What cannot be read keeps its place.
      if (closedBy === undefined) lines.push({ place, kind: 'entry', runId, text })
    }
    if (receipt !== undefined) {
      const { text } = receipt
      place += 1
      lines.push({ place, runId, commitSeq, leaf, index, kind: 'receipt', text })
      leaf += 1
      index += 1
    }
    if (evidence !== undefined) {
      place += 1
      lines.push({ place, runId, commitSeq, leaf, index: null, kind: 'evidence', text: evidence })
      leaf += 1
    }
  }
  return lines
}

export function isLogged(line: CommitLine): line is LoggedLine & { readonly place: number } {
  return line.kind === 'receipt' || line.kind === 'evidence'
}

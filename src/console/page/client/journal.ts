import { useEffect, useRef, useState } from 'preact/hooks'
import type { JournalEntry } from '../../../block/index.js'
import type { JournalLine } from '../../../runtime/index.js'
import type { JournalRow } from '../pure/run-steps.js'
import type { ApiProblem } from './api.js'
import { asking } from './api.js'
import { changes } from './live.js'
import { problemOf } from './query.js'

export interface Journal {
  readonly rows: readonly JournalRow[]
  readonly problem: ApiProblem | null
  /** It has been read up to what was there when it was asked for. */
  readonly isRead: boolean
}

const nothing: Journal = { rows: [], problem: null, isRead: false }
/** Rows between two paints while a long journal arrives. */
const ROWS_OF_PAINT = 2_000

/** The journal of a run, and what is appended to it. */
export function useJournal(id: string): Journal {
  const [journal, setJournal] = useState<Journal & { readonly of: string }>({ ...nothing, of: id })
  const known = useRef<{ of: string; rows: JournalRow[] }>({ of: id, rows: [] })
  const { journals } = changes.value
  const version = journals.all + (journals.of.get(id) ?? 0)
  const all = changes.value.mode
  useEffect(() => {
    if (known.current.of !== id) known.current = { of: id, rows: [] }
    const { rows } = known.current
    const end = new AbortController()
    const show = (isRead: boolean, problem: ApiProblem | null = null) => {
      if (!end.signal.aborted) setJournal({ rows: [...rows], problem, isRead, of: id })
    }
    readFrom(id, rows, end.signal, () => show(false)).then(
      () => show(true),
      (thrown: unknown) => show(false, problemOf(thrown))
    )
    return () => end.abort()
  }, [id, version, all])
  return journal.of === id ? journal : nothing
}

async function readFrom(id: string, rows: JournalRow[], signal: AbortSignal, paint: () => void) {
  for await (const line of asking('journal', { id, from: rows.length }, signal)) {
    if (signal.aborted) return
    const row = rowOf(line)
    // Of two readings that overlap, each entry counts once.
    if (row.entry.n === rows.length) rows.push(row)
    if (rows.length % ROWS_OF_PAINT === 0) paint()
  }
}

// The service checks the entries that it gives: they are those of the kernel.
function rowOf({ entry, receiptHash }: JournalLine): JournalRow {
  return { entry: entry as unknown as JournalEntry, receiptHash }
}

import { canonicalize, type Json, type JsonObject } from '../../src/core/index.js'
import { TamperedSnapshot } from './tampered-snapshot.js'

/**
 * Rows of the tamper matrix for snapshots: journal lines altered, with sizes, counts and the hash
 * of the footer in order again.
 */
export interface SnapshotRow {
  readonly name: string
  /**
   * The lines of `parked`, which has not ended: what authenticates them needs the blob key, which
   * no snapshot has. What is imported of it says so.
   */
  readonly isOpen: boolean
  /** Snapshots with one alteration each, by its name. */
  altered(honest: string): ReadonlyMap<string, string>
}

type Entry = JsonObject & { readonly k: string }
type Line = ReturnType<TamperedSnapshot['recordLines']>[number]

/** Members that only the code over the journal covers, by the kind of the entry. */
const unsigned: Readonly<Record<string, readonly string[]>> = { 'run.finished': ['at'] }

const kinds = ['run.started', 'wait', 'waiting', 'run.waiting', 'run.resumed', 'sealed', 'settled']

export const snapshotRows: readonly SnapshotRow[] = [
  ...[...kinds, 'run.finished'].map((kind) => membersOf(kind, 'ended')),
  ...['run.started', 'wait', 'waiting', 'run.waiting'].map((kind) => membersOf(kind, 'parked')),
  linesOf('ended'),
  linesOf('parked')
]

/** Each member of the first entry of a kind, one after the other. */
function membersOf(kind: string, run: string): SnapshotRow {
  const isOpen = run === 'parked'
  return {
    name: `each member of the entry ${kind} of a run that ${isOpen ? 'waits' : 'has ended'}`,
    isOpen,
    altered: (honest) => {
      const line = journalOf(honest, run).find((one) => entryOf(one).k === kind)
      if (line === undefined) throw new Error(`no entry ${kind}`)
      const members = Object.keys(entryOf(line)).filter(
        (member) => unsigned[kind]?.includes(member) !== true
      )
      return new Map(
        members.map((member) => {
          const entry = entryOf(line)
          const forged = { ...entry, [member]: another(entry[member] ?? null) }
          return [member, changed(honest, line, () => [`J${canonicalize(forged)}`])]
        })
      )
    }
  }
}

/** Each line dropped, doubled, and exchanged with the one before it. */
function linesOf(run: string): SnapshotRow {
  const isOpen = run === 'parked'
  return {
    name: `the journal lines of a run that ${isOpen ? 'waits' : 'has ended'}`,
    isOpen,
    altered: (honest) => {
      const lines = journalOf(honest, run)
      const made = new Map<string, string>()
      for (const [at, line] of lines.entries()) {
        const before = lines[at - 1]
        made.set(
          `${at} dropped`,
          changed(honest, line, () => [])
        )
        made.set(
          `${at} doubled`,
          changed(honest, line, (text) => [text, text])
        )
        if (before === undefined) continue
        const exchanged = changed(honest, line, () => [before.text])
        made.set(
          `${at} exchanged`,
          changed(exchanged, before, () => [line.text])
        )
      }
      return made
    }
  }
}

function journalOf(honest: string, run: string): readonly Line[] {
  return new TamperedSnapshot(honest)
    .recordLines('J')
    .filter((line) => entryOf(line)['run'] === run)
}

function entryOf({ text }: Line): Entry {
  return JSON.parse(text.slice(1)) as Entry
}

function changed(text: string, line: Line, to: (text: string) => readonly string[]): string {
  const snapshot = new TamperedSnapshot(text)
  snapshot.replace(line, to)
  return snapshot.encoded()
}

/** Another value of the same type, where there is one. */
function another(value: Json): Json {
  if (value === null) return 7
  if (typeof value === 'string') return `${value}7`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return [...value, 'forged']
  return { ...value, forged: true }
}

import { chainJournal, type Hash, nextTurn, type RunId } from '../../core/index.js'
import type { Derived } from '../derived/derived.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import type { ForgedJournal } from '../ledger-api.js'
import { corrupt, hashOf } from '../record/record.js'
import type { Store } from '../stores/port.js'
import type { SubjectCipher } from '../subject/cipher.js'

/** Commit records that are read before the loop turns (D9). */
const RECORDS_IN_TURN = 16

/**
 * The first item of an open run whose code does not fit the journal up to it: it was not written
 * with the key (L12). A commit record that holds entries of many runs is read once. Nothing is
 * parsed: opening waits for this.
 */
export async function forgedJournal(options: {
  readonly store: Store
  readonly keys: StoreKeys
  readonly derived: Derived
  readonly cipher: SubjectCipher
  readonly authenticate: (journalHash: Hash) => Hash
}): Promise<ForgedJournal | undefined> {
  const { store, keys, derived, cipher, authenticate } = options
  const journals = new Map<string, Journal>()
  const commits = new Set<number>()
  for (const [runId, visits] of derived.openRuns()) {
    const last = visits.at(-1)?.[0] ?? 0
    journals.set(`I"${runId}"`, { runId, last, hash: '', entries: 0, isClosed: false })
    for (const [seq] of visits) commits.add(seq)
  }
  let read = 0
  for (const seq of [...commits].sort((one, other) => one - other)) {
    const key = keys.commit(seq)
    const value = store.get(key)
    if (value === undefined) throw corrupt(key, 'the commit record is missing')
    const journalOf = (line: string) => {
      const journal = journals.get(line)
      return journal === undefined || journal.last < seq ? undefined : journal
    }
    const entryIn = (runId: RunId, line: string) => cipher.openEntry(key, runId, line.slice(1))
    const lines = unwrapText(key, value).split('\n')
    const forged = forgedIn(lines, { journalOf, entryIn, authenticate })
    if (forged !== undefined) return forged
    read += 1
    if (read % RECORDS_IN_TURN === 0) await nextTurn()
  }
  return undefined
}

/** What was read of a journal so far. */
interface Journal {
  readonly runId: RunId
  /** The last commit that holds entries of it: others may be written meanwhile. */
  readonly last: number
  hash: Hash | ''
  entries: number
  isClosed: boolean
}

function forgedIn(
  lines: readonly string[],
  {
    journalOf,
    entryIn,
    authenticate
  }: {
    readonly journalOf: (line: string) => Journal | undefined
    readonly entryIn: (runId: RunId, line: string) => string | undefined
    readonly authenticate: (journalHash: Hash) => Hash
  }
): ForgedJournal | undefined {
  for (let at = 0; at < lines.length; at += 1) {
    const journal = journalOf(lines[at] ?? '')
    if (journal === undefined) continue
    const { entries } = journal
    for (; lines[at + 1]?.[0] === 'J'; at += 1) {
      const text = entryIn(journal.runId, lines[at + 1] ?? '')
      // Without the key of its subject nothing tells.
      if (text === undefined) journal.isClosed = true
      else journal.hash = chainJournal(journal.hash, text)
      journal.entries += 1
    }
    if (journal.entries === entries || journal.hash === '' || journal.isClosed) continue
    const line = lines[at + 1]
    const isOurs = line?.[0] === 'M' && hashOf(line.slice(1)) === authenticate(journal.hash)
    if (!isOurs) return { runId: journal.runId, entry: journal.entries - 1 }
  }
  return undefined
}

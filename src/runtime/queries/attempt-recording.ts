import type { RecordedCalls, RecordedEntry, RunRecording } from '../../audit/index.js'
import { type AttemptKey, type JournalEntry, placeKey } from '../../block/index.js'
import { coreError, type Json, limits, nextTurn, type RunId } from '../../core/index.js'
import type {
  Ledger,
  PastLedger,
  JournalEntry as Stored,
  StoredReceipt
} from '../../ledger/index.js'
import type { Registry } from '../code/registry.js'

type ReadLedger = Pick<Ledger, 'identity' | 'journal' | 'receipt' | 'past'>
type RecordedReceipt = NonNullable<RecordedEntry['receipt']>
type RecordedValue = RunRecording['state'][number]

/**
 * Executes one attempt again on its answers, from what the ledger has of its run alone: its
 * journal up to the attempt, its receipts, and of the state what the attempt asks for, as it was
 * then. Nothing of other runs is read, unless the attempt reads state. What comes out is compared
 * by hash by its caller, so what is read here needs no verification of its own.
 */
export async function callsAgain(
  ledger: ReadLedger,
  registry: Registry,
  { runId, place }: { readonly runId: RunId; readonly place: AttemptKey }
): Promise<RecordedCalls> {
  const { callsInRecording } = await import('../../audit/index.js')
  const { entries, end } = await entriesUpTo(ledger, runId, place)
  const state = new Map<string, RecordedValue>()
  const lists = new Set<string>()
  let past: StateOfThen | undefined
  for (let round = 1; ; round += 1) {
    const found = await callsInRecording(
      {
        schema: 'tally-run-recording/1',
        identity: ledger.identity,
        run: runId,
        state: [...state.values()],
        lists: [...lists],
        entries,
        missing: [],
        notChecked: []
      },
      registry,
      place
    )
    const { keys, prefixes } = found.unknown
    if (keys.length + prefixes.length === 0) return found
    if (round === limits.CALLS_ROUNDS_MAX) {
      return { ...found, notChecked: ['requests: the attempt reads too much of the state'] }
    }
    // What an attempt of no state needs is the journal of its run alone.
    past ??= await stateOfThen(ledger, end)
    for (const key of keys) state.set(key, await past.value(key))
    for (const prefix of prefixes) {
      for (const value of await past.below(prefix)) state.set(value.key, value)
      lists.add(prefix)
    }
  }
}

/** The journal up to the entry in which an attempt settled, with the receipts of its units. */
async function entriesUpTo(ledger: ReadLedger, runId: RunId, place: AttemptKey) {
  const entries: RecordedEntry[] = []
  for await (const one of ledger.journal(runId)) {
    const { value, receiptHash, evidence } = one
    const stored = receiptHash === undefined ? undefined : await ledger.receipt(receiptHash)
    entries.push({
      entry: value,
      ...(stored === undefined ? {} : { receipt: recorded(stored) }),
      ...(evidence === undefined ? {} : { evidence: JSON.parse(evidence) as Json })
    })
    // The journal gives back what the runtime has written.
    const entry = value as unknown as JournalEntry
    const isEnd = entry.k === 'settled' && placeKey(entry) === placeKey(place)
    if (isEnd) return { entries, end: one }
  }
  return { entries, end: undefined }
}

function recorded(stored: StoredReceipt): RecordedReceipt {
  const { index, receipt, payloadText, raw, resultText } = stored
  return {
    index,
    record: receipt,
    ...(payloadText === undefined ? {} : { payload: JSON.parse(payloadText) as Json }),
    ...(raw === undefined ? {} : { raw }),
    ...(resultText === undefined ? {} : { result: JSON.parse(resultText) as Json }),
    // The state is given as it was at the attempt, with all that had changed before it.
    changes: []
  }
}

/** The state before an entry became durable; that of now where there is none. */
async function stateOfThen(ledger: ReadLedger, end: Stored | undefined): Promise<StateOfThen> {
  const past = await ledger.past()
  const last = past.receipts - 1
  return new StateOfThen(
    past,
    end === undefined ? last : ((await receiptBefore(past, end)) ?? last)
  )
}

/** The last receipt before an entry; undefined where none comes after it, or far behind it. */
async function receiptBefore(past: PastLedger, { commitSeq, text }: Stored) {
  let isBehind = false
  const to = Math.min(past.commits, commitSeq + limits.CALLS_COMMITS_MAX)
  for (let seq = commitSeq; seq < to; seq += 1) {
    for (const line of past.commit(seq).lines) {
      if (line.kind === 'entry' && line.text === text) isBehind = true
      else if (isBehind && line.kind === 'receipt' && line.index !== null) return line.index - 1
    }
    if ((seq - commitSeq) % COMMITS_IN_TURN === COMMITS_IN_TURN - 1) await nextTurn()
  }
  return undefined
}

const COMMITS_IN_TURN = 64

/** Values of the state as they were after a receipt; -1: before the first. */
class StateOfThen {
  readonly #past: PastLedger
  readonly #asOf: number

  constructor(past: PastLedger, asOf: number) {
    this.#past = past
    this.#asOf = asOf
  }

  async value(key: string): Promise<RecordedValue> {
    const [first] = (await this.#page(key, undefined, 1)).values
    return first?.key === key ? recordedValue(first) : { key }
  }

  /** Throws `core.limit_exceeded`: so many values are no request of an attempt. */
  async below(prefix: string): Promise<readonly RecordedValue[]> {
    const found: RecordedValue[] = []
    let after: string | undefined
    do {
      const { values, next } = await this.#page(prefix, after, PAGE_VALUES)
      found.push(...values.map(recordedValue))
      after = next
      const [actual, limit] = [found.length, limits.STATE_KEYS_LOOKED_AT_MAX]
      if (actual > limit) {
        throw coreError('core.limit_exceeded', { what: 'Keys that are listed', actual, limit })
      }
    } while (after !== undefined)
    return found
  }

  async #page(prefix: string, after: string | undefined, limit: number) {
    const asOf = this.#asOf
    if (asOf < 0) return { values: [], next: undefined }
    return this.#past.values({ asOf, prefix, after, limit })
  }
}

const PAGE_VALUES = 256

function recordedValue({ key, text }: { readonly key: string; readonly text: string | undefined }) {
  return text === undefined ? { key, withheld: null } : { key, value: JSON.parse(text) as Json }
}

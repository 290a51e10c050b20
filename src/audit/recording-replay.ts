import { type AttemptKey, type JournalEntry, placeKey } from '../block/index.js'
import type { Call } from '../code/index.js'
import { canonicalize, type Hash, type Json, type RunId } from '../core/index.js'
import type { HookVerdict, VerifiedReceipt } from '../ledger/index.js'
import { Auditor } from './auditor.js'
import type { CodeSource } from './code-source.js'
import { feed } from './last-receipt.js'
import { RecordingState, textChange } from './recording-state.js'
import type { RecordedEntry, RunRecording } from './run-recording.js'

/** Where a recorded run comes out otherwise under the code at hand. */
export interface RecordingDifference {
  /** Number of the entry of its journal; null: behind the last one. */
  readonly entry: number | null
  /** Kind of that entry. */
  readonly kind: string
  /** Block, execution of its node and try that it is about; null where it is about the run. */
  readonly place: { readonly path: string; readonly step: number; readonly attempt: number } | null
  /** Code that was executed, as `name@version`. */
  readonly code: readonly string[]
  readonly field: string
  /** State key that it is about. */
  readonly key?: string
  /** What is recorded. */
  readonly expected: string
  /** What the code at hand gives. */
  readonly found: string
}

/** What doing a recorded run again gave. Plain data. */
export interface RecordingReplay {
  readonly run: RunId
  /**
   * `not_checked`: nothing is contradicted, and not all could be executed; `notChecked` says why.
   */
  readonly outcome: 'same' | 'otherwise' | 'not_checked'
  /** The first one. */
  readonly difference?: RecordingDifference
  /** What was executed again: units with a receipt, failures, attempts that have not ended. */
  readonly executed: {
    readonly receipts: number
    readonly failures: number
    readonly open: number
  }
  readonly notChecked: readonly string[]
}

export async function replayRecording(
  recorded: RunRecording,
  code: CodeSource
): Promise<{ readonly replay: RecordingReplay; readonly narrowed: RunRecording }> {
  const again = new Again(recorded, code)
  return { replay: await again.replay(), narrowed: again.state.narrowed(recorded) }
}

/** Requests of the calls of one attempt, by number, as its code makes them again. */
export interface RecordedCalls {
  readonly calls: ReadonlyMap<number, { readonly request: Json; readonly requestHash: Hash }>
  /** What its code was given; null where the run cannot be done again here. */
  readonly input: Json
  readonly notChecked: readonly string[]
  /** Of the state, what the attempt asked for and the recording does not have. */
  readonly unknown: { readonly keys: readonly string[]; readonly prefixes: readonly string[] }
}

/**
 * Executes one attempt of a recorded run again, as far as its answers lead, and gives what it asks
 * for. Nothing before it is executed, but the steps of an overlay that it is in.
 */
export async function callsInRecording(
  recorded: RunRecording,
  code: CodeSource,
  place: AttemptKey
): Promise<RecordedCalls> {
  const end = recorded.entries.findIndex(({ entry }) => {
    const settled = entryOf(entry)
    return settled.k === 'settled' && placeKey(settled) === placeKey(place)
  })
  const before = end === -1 ? recorded.entries : recorded.entries.slice(0, end)
  const again = new Again({ ...recorded, entries: before }, code, () => false)
  const calls = await again.calls(place, end === -1 ? undefined : recorded.entries[end])
  const { unknownKeys, unknownPrefixes } = again.state
  return { ...calls, unknown: { keys: [...unknownKeys], prefixes: [...unknownPrefixes] } }
}

const EXECUTIONS = 2

class Again {
  readonly state: RecordingState
  readonly #recorded: RunRecording
  readonly #auditor: Auditor
  readonly #notChecked: string[] = []
  #isWhole = true
  #receipts = 0
  #open = 0

  constructor(recorded: RunRecording, code: CodeSource, isWanted?: () => boolean) {
    this.#recorded = recorded
    this.state = new RecordingState(recorded)
    const { identity } = recorded
    const wanted = isWanted === undefined ? {} : { isWanted }
    this.#auditor = new Auditor({ code, identity, executions: EXECUTIONS, ...wanted })
  }

  /** What an attempt asks for that has not settled yet; `end` is the entry in which it did. */
  async calls(
    place: AttemptKey,
    end: RecordedEntry | undefined
  ): Promise<Omit<RecordedCalls, 'unknown'>> {
    const difference = await this.#folded()
    this.#elsewhere(end?.elsewhere)
    const { run } = this.#recorded
    const open = this.#auditor.openRun(run)
    const calls = new Map<number, { readonly request: Json; readonly requestHash: Hash }>()
    if (difference !== undefined || open === undefined) {
      const why = difference?.found ?? this.#auditor.finish()[0] ?? 'its run has ended'
      return { calls, input: null, notChecked: [`requests: ${why}`] }
    }
    const { replay, below, undo } = open
    const settled = end === undefined ? undefined : entryOf(end.entry)
    const provider = settled?.k === 'settled' ? settled.provider : undefined
    const heard = ({ seq, request, requestHash }: Call) => calls.set(seq, { request, requestHash })
    const isWanted = ({ ask }: { readonly ask: AttemptKey }) => placeKey(ask) === placeKey(place)
    const asked = { below, undo, executions: 1, provider, heard, isWanted }
    for await (const { attempt, again } of replay.open(asked)) {
      const notChecked =
        again.kind === 'skipped'
          ? [`requests: ${again.why}`]
          : again.kind === 'finding'
            ? [`requests: the code at hand does otherwise (${again.finding.field})`]
            : []
      return { calls, input: JSON.parse(attempt.payloadText) as Json, notChecked }
    }
    return { calls, input: null, notChecked: ['requests: its code has not run'] }
  }

  async #folded(): Promise<RecordingDifference | undefined> {
    const { entries, state } = this.#recorded
    const withheld = state.map(textChange).filter(({ text }) => text === undefined)
    this.#auditor.elsewhere(withheld, this.state)
    for (const entry of entries) {
      const difference = await this.#entry(entry)
      if (difference !== undefined) return difference
    }
    return undefined
  }

  async replay(): Promise<RecordingReplay> {
    const { missing } = this.#recorded
    let difference = await this.#folded()
    difference ??= await this.#unsettled()
    for (const key of [...this.state.unknown].sort()) {
      this.#leave(`state ${key} is not in the recording, and the code at hand reads it`)
    }
    for (const why of missing) this.#leave(why)
    return this.#report(difference)
  }

  async #entry(one: RecordedEntry): Promise<RecordingDifference | undefined> {
    const { entry, elsewhere, evidence } = one
    const { run: runId } = this.#recorded
    this.#elsewhere(elsewhere)
    const receipt = this.#verified(one)
    // What an entry runs is known until it is taken.
    const code = codeOf(this.#auditor.openRun(runId)?.replay.blocksOf(entryOf(entry)) ?? [])
    const fed = {
      text: canonicalize(entry),
      value: entry,
      evidence: evidence === undefined ? undefined : canonicalize(evidence),
      receipt
    }
    const index = receipt?.index ?? this.#receipts
    const verdict = await feed(this.#auditor, fed, { index, runId, stateBefore: this.state })
    if (verdict === undefined && receipt !== undefined) {
      this.#receipts += 1
      this.state.change(receipt.changes)
    }
    return verdict === undefined ? undefined : differenceAt(entryOf(entry), code, verdict)
  }

  /** Takes what other work has changed. */
  #elsewhere(changed: RecordedEntry['elsewhere'] = []): void {
    const changes = changed.map(textChange)
    if (changes.length === 0) return
    this.state.change(changes)
    this.#auditor.elsewhere(changes, this.state)
  }

  /** What a run that has not ended was doing. */
  async #unsettled(): Promise<RecordingDifference | undefined> {
    const { run } = this.#recorded
    const open = this.#auditor.openRun(run)
    if (open === undefined) return undefined
    const { replay, below, undo } = open
    for await (const { attempt, again } of replay.open({ below, undo, executions: 1 })) {
      const { path, step, attempt: count } = attempt.ask
      if (again.kind === 'finding') {
        const code = codeOf([attempt.block])
        const place = { path, step, attempt: count }
        return { entry: null, kind: 'open', place, code, ...fieldsOf(again.finding) }
      }
      if (again.kind === 'same') this.#open += 1
      else if (again.isWithheld) this.#leave(`what ${path} was doing: ${again.why}`)
      else this.#notChecked.push(`what ${path} was doing is not checked: ${again.why}`)
    }
    return undefined
  }

  #verified({ entry, receipt }: RecordedEntry): VerifiedReceipt | undefined {
    if (receipt === undefined) return undefined
    const { index, record, payload, raw, result, changes } = receipt
    const names = changes.flatMap(({ withheld }) =>
      typeof withheld === 'string' ? [`{"$blob":"${withheld}"}`] : []
    )
    return {
      index,
      commitSeq: 0,
      receipt: record,
      text: '',
      runId: this.#recorded.run,
      entries: [canonicalize(entry)],
      payloadText: payload === undefined ? undefined : canonicalize(payload),
      raw,
      resultText: result === undefined ? undefined : canonicalize(result),
      writeSetText: names.join(),
      changes: changes.map(textChange),
      sealed: [],
      stateBefore: this.state
    }
  }

  #leave(why: string): void {
    this.#isWhole = false
    this.#notChecked.push(why)
  }

  #report(found: RecordingDifference | undefined): RecordingReplay {
    const { run, notChecked } = this.#recorded
    const auditor = this.#auditor
    const isOtherCode = found?.field === 'definitionHash'
    if (isOtherCode) this.#leave(`its definition is not here: ${found.found}`)
    // What the recording lacks may be why something comes out otherwise.
    const difference = isOtherCode || this.state.unknown.length > 0 ? undefined : found
    const isComplete = this.#isWhole && auditor.isComplete(this.#receipts)
    const outcome = difference !== undefined ? 'otherwise' : isComplete ? 'same' : 'not_checked'
    return {
      run,
      outcome,
      ...(difference === undefined ? {} : { difference }),
      executed: {
        receipts: auditor.reexecuted,
        failures: auditor.failures.reexecuted,
        open: this.#open
      },
      notChecked: [...this.#notChecked, ...auditor.finish(), ...notChecked]
    }
  }
}

function entryOf(value: Json): JournalEntry {
  // Entries may hold anything: what does not fit is a finding.
  return value as unknown as JournalEntry
}

function codeOf(blocks: readonly { readonly name: string; readonly version: string }[]) {
  return [...new Set(blocks.map(({ name, version }) => `${name}@${version}`))]
}

function differenceAt(
  entry: JournalEntry,
  code: readonly string[],
  verdict: HookVerdict
): RecordingDifference {
  const place =
    'path' in entry && 'attempt' in entry
      ? { path: entry.path, step: entry.step, attempt: entry.attempt }
      : null
  return { entry: entry.n, kind: entry.k, place, code, ...fieldsOf(verdict) }
}

function fieldsOf({ field, key, signed, computed }: HookVerdict) {
  return { field, ...(key === undefined ? {} : { key }), expected: signed, found: computed }
}

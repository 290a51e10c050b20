import { differing, type Finding, type JournalEntry, type RunReplay } from '../block/index.js'
import { canonicalize, isJsonObject, type Json } from '../core/index.js'
import type { AuditorOptions } from './auditor-options.js'
import { missingChosen } from './code-source.js'
import type { Compensations } from './compensations.js'
import type { NotChecked } from './not-checked.js'
import type { StateLog } from './state-log.js'

/**
 * What left no receipt: attempts of every leaf that failed, what atomic composites did that were
 * rolled back (K8, C4), and the code of workflow functions, whatever it came to (B12). They are in
 * the journal and in evidence, and are done again from there.
 *
 * Owns: the counts. Does not own: the replay of the run, which the auditor has.
 */
export class Failures {
  readonly #options: AuditorOptions
  readonly #left = { failure: new Map<string, number>(), workflow: new Map<string, number>() }
  /** Failures that were done again. */
  reexecuted = 0
  /** False once one was left out because its code, or a body, is not here. */
  isComplete = true

  constructor(options: AuditorOptions) {
    this.#options = options
  }

  /** The first difference between what was recorded and what doing it again gives. */
  async check(failed: {
    readonly replay: RunReplay
    readonly entry: JournalEntry
    readonly below: StateLog
    readonly undo: Compensations
    /** Trusted code ran on another engine, as far as receipts tell. */
    readonly isElsewhere: boolean
  }): Promise<Finding | undefined> {
    const { replay, entry, below, undo, isElsewhere } = failed
    const { executions, isWanted } = this.#options
    // A caller that asks for certain receipts wants no failures.
    if (isWanted !== undefined) return undefined
    const what = entry.k === 'returned' ? 'workflow' : 'failure'
    const missing = await missingCode(replay, entry)
    if (missing !== undefined) {
      this.isComplete = false
      return this.#leave(what, missing)
    }
    const again = await replay.failure(entry, { below, executions, undo })
    if (again === undefined) return undefined
    if (again.kind === 'skipped') {
      if (again.isWithheld) this.isComplete = false
      return this.#leave(what, again.why)
    }
    if (again.kind === 'same') {
      if (what === 'failure') this.reexecuted += 1
      return undefined
    }
    // Another engine may give other results (D5); packages have an engine of their own.
    const isPackage = entry.k === 'settled' && entry.provider?.kind === 'package'
    if (isElsewhere && !isPackage) {
      return this.#leave(what, 'profile_changed: they came out otherwise')
    }
    return again.finding
  }

  /** Says what was not done again, and why. */
  say(notChecked: NotChecked): void {
    for (const [what, left] of Object.entries(this.#left)) {
      for (const [why, count] of left) {
        notChecked.say(`${count} ${what}${count === 1 ? '' : 's'} not checked: ${why}`)
      }
    }
  }

  #leave(what: 'failure' | 'workflow', why: string): undefined {
    const left = this.#left[what]
    left.set(why, (left.get(why) ?? 0) + 1)
  }
}

/** Whether an entry says what code came to that a receipt does not say. */
export function leavesNoReceipt(entry: JournalEntry): boolean {
  const { k } = entry
  return k === 'scope' || k === 'returned' || (k === 'settled' && !entry.response.success)
}

/** Why the code that failed cannot be executed here; undefined when it can. */
async function missingCode(replay: RunReplay, entry: JournalEntry): Promise<string | undefined> {
  if (entry.k !== 'settled' || entry.provider === undefined) return undefined
  const { provider } = entry
  const [block] = replay.blocksOf(entry)
  return block === undefined ? undefined : missingChosen(block, provider)
}

interface Evidence {
  readonly type?: Json
  readonly inputPayload?: { readonly id?: Json; readonly action?: Json; readonly payload?: Json }
  readonly landed?: Json
  readonly journalHash?: Json
  readonly code?: Json
  readonly details?: Json
}

/** Whether evidence says what the entry says beside which it stands. */
export function evidenceFinding(
  replay: RunReplay,
  entry: JournalEntry,
  text: string | undefined
): Finding | undefined {
  const again = replay.evidenceOf(entry)
  if (again === undefined) return undefined
  const evidence = JSON.parse(text ?? '{}') as Evidence
  const { id, action, payload } = evidence.inputPayload ?? {}
  const { in_doubt: doubts, ...details } = isJsonObject(again.details) ? again.details : {}
  const { in_doubt: told, ...rest } = isJsonObject(evidence.details) ? evidence.details : {}
  return (
    differing('evidence.inputPayload.id', again.unitId, id) ??
    differing('evidence.type', again.type, evidence.type) ??
    differing('evidence.inputPayload.action', again.action, action) ??
    // Long and private ones stand elsewhere, under their hashes, which the ledger has checked.
    (isReference(payload)
      ? undefined
      : differing('evidence.payload', JSON.parse(again.payloadText), payload)) ??
    differing('evidence.journalHash', again.journalHash, evidence.journalHash) ??
    differing('evidence.code', again.code, evidence.code) ??
    (isReference(evidence.details)
      ? undefined
      : (differing('evidence.details', details, rest) ??
        differing('evidence.details.in_doubt', sorted(doubts), sorted(told)))) ??
    differing('evidence.landed', sorted(again.landed), sorted(evidence.landed))
  )
}

function isReference(payload: Json | undefined): boolean {
  return isJsonObject(payload) && Object.hasOwn(payload, '$blob')
}

/** Attempts that were cancelled together may stand in any order. */
function sorted(list: unknown): readonly string[] | undefined {
  return Array.isArray(list) ? list.map((one) => canonicalize(one)).sort() : undefined
}

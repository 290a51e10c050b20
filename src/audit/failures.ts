import { differing, type Finding, type JournalEntry, type RunReplay } from '../block/index.js'
import { isJsonObject, type Json } from '../core/index.js'
import type { StateView } from '../ledger/index.js'
import type { AuditorOptions } from './auditor.js'
import type { NotChecked } from './not-checked.js'

type SettledEntry = JournalEntry & { readonly k: 'settled' }

/**
 * Attempts that failed: they leave no receipt, and what they were is in the journal and in evidence
 * (K8). Those of the kernel, lone intents and packages, are executed again.
 *
 * Owns: the counts. Does not own: the replay of the run, which the auditor has.
 */
export class Failures {
  readonly #options: AuditorOptions
  readonly #left = new Map<string, number>()
  reexecuted = 0

  constructor(options: AuditorOptions) {
    this.#options = options
  }

  /** The first difference between a recorded failure and what doing it again gives. */
  async check(failed: {
    readonly replay: RunReplay
    readonly entry: SettledEntry
    readonly below: StateView
    /** Keys whose value was asked for and is withheld. */
    readonly touched: readonly string[]
  }): Promise<Finding | undefined> {
    const { replay, entry, below, touched } = failed
    const { executions, isWanted, unknownCode } = this.#options
    // Whoever wants certain receipts only wants no failures.
    if (isWanted !== undefined) return undefined
    const unknown = await codeFinding(replay, entry)
    if (unknown !== undefined && unknownCode === 'refuse') return unknown
    if (unknown !== undefined) return this.#leave('their code is not registered')
    const again = await replay.failure(entry, { below, executions })
    if (touched.length > 0) return this.#leave('state that they read is withheld')
    if (again.kind === 'skipped') return this.#leave(again.why)
    if (again.kind === 'finding') return again.finding
    this.reexecuted += 1
    return undefined
  }

  /** Says which failures were not executed again, and why. */
  say(notChecked: NotChecked): void {
    for (const [why, count] of this.#left) {
      const what = count === 1 ? 'failed attempt' : 'failed attempts'
      notChecked.say(`${count} ${what} not executed again: ${why}`)
    }
  }

  #leave(why: string): undefined {
    this.#left.set(why, (this.#left.get(why) ?? 0) + 1)
  }
}

/** Whether the code that failed is the code that is here. */
async function codeFinding(replay: RunReplay, entry: SettledEntry): Promise<Finding | undefined> {
  const { provider } = entry
  const [block] = replay.blocksOf(entry)
  if (provider === undefined || block?.kernel === undefined) return undefined
  const registered = await block.kernel.codeOf(provider)
  return differing('journal.provider.codeHash', registered, provider.codeHash)
}

/** Whether evidence says what the entry says beside which it stands. */
export function evidenceFinding(
  replay: RunReplay,
  entry: JournalEntry,
  text: string | undefined
): Finding | undefined {
  const evidence: unknown = JSON.parse(text ?? 'null')
  const { inputPayload, journalHash, code, details } = evidence as {
    readonly inputPayload?: { readonly id?: Json }
    readonly journalHash?: Json
    readonly code?: Json
    readonly details?: Json
  }
  const again = replay.evidenceOf(entry)
  return (
    differing('evidence.inputPayload.id', again.unitId, inputPayload?.id) ??
    differing('evidence.journalHash', again.journalHash, journalHash) ??
    differing('evidence.code', again.code, code) ??
    (again.details === undefined
      ? undefined
      : differing('evidence.details', again.details, withoutDoubts(details)))
  )
}

/** What else may be there: effects that nobody knows of whether they happened. */
function withoutDoubts(details: Json | undefined): Json | undefined {
  if (!isJsonObject(details)) return details
  const { in_doubt: _, ...rest } = details
  return rest
}

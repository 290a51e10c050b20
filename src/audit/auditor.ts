import {
  differing,
  type Finding,
  type JournalEntry,
  RunReplay,
  type RunStarted
} from '../block/index.js'
import type { Block } from '../code/index.js'
import {
  canonicalize,
  isJsonObject,
  isTallyError,
  type Json,
  limits,
  type RunId,
  shownText,
  unreachable
} from '../core/index.js'
import type { HookVerdict, StateView, VerifiedItem, VerifiedReceipt } from '../ledger/index.js'
import type { AuditorOptions } from './auditor-options.js'
import { missingCode, type RecordedCode } from './code-source.js'
import { compareUnit } from './compare.js'
import { Compensations } from './compensations.js'
import { evidenceFinding, Failures, leavesNoReceipt } from './failures.js'
import { NotChecked, notRegistered } from './not-checked.js'
import { currentProfile, isOfTrustedCode, isOurs } from './profile.js'
import { isRotation, rotationFinding } from './rotation.js'
import { SkippedRun } from './skipped-run.js'
import { StateLog } from './state-log.js'

type AuditedRun =
  | { readonly kind: 'open'; readonly replay: RunReplay }
  /** Not done again, for a reason that goes into the report. */
  | SkippedRun
  | { readonly kind: 'ended' }

const NO_DEFINITION = 'its run has no definition'

const ended: AuditedRun = { kind: 'ended' }

/** An entry whose receipt comes next. */
interface PendingEntry {
  readonly replay: RunReplay
  readonly entry: JournalEntry
  readonly text: string
}

/**
 * Does the runs of a ledger again while its records are read, and compares what they give with what
 * the receipts say (P1).
 *
 * Owns: the replays of the runs that have not ended, and the counts. Does not own: reading, hashes,
 * signatures and links, which the ledger room has checked before an item arrives here.
 */
export class Auditor {
  readonly notChecked = new NotChecked()
  readonly failures: Failures
  readonly #options: AuditorOptions
  readonly #runs = new Map<RunId, AuditedRun>()
  readonly #recorded = new Map<string, RecordedCode>()
  /** Runs that are not done again, by the reason. */
  readonly #skippedRuns = new Map<string, number>()
  /** By their text, as JSON.stringify writes it. */
  readonly #profiles = new Map<string, { readonly name: string; count: number }>()
  readonly #state = new StateLog()
  readonly #compensations: Compensations
  /** Of the trusted code whose receipt was read last. */
  #profile: Json = currentProfile()
  readonly #declared = new Set<string>()
  #pending: PendingEntry | undefined
  reexecuted = 0

  constructor(options: AuditorOptions) {
    this.#options = options
    this.failures = new Failures(options)
    const { code } = options
    this.#compensations = new Compensations(code.provider?.bind(code))
  }

  /** Whether each of so many receipts, and all that failed, was executed again (B10). */
  isComplete(receipts: number): boolean {
    return this.reexecuted === receipts && this.failures.isComplete && this.#skippedRuns.size === 0
  }

  get reexecutedByProfile(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#profiles.values()].map(({ name, count }) => [name, count]))
  }

  /** Says what is left open; to be called once, at the end. */
  finish(): readonly string[] {
    const skipped = this.#options.isWanted === undefined ? this.#skippedRuns : []
    for (const [why, count] of skipped) {
      this.notChecked.say(`${count} ${count === 1 ? 'run' : 'runs'} not executed again: ${why}`)
    }
    this.failures.say(this.notChecked)
    if (this.#options.isWanted === undefined) this.#compensations.say(this.notChecked)
    return this.notChecked.all()
  }

  /** Takes the journal entries of an item; those that a receipt completes wait for it. */
  async item(item: VerifiedItem): Promise<HookVerdict | undefined> {
    this.#state.begin(item.stateBefore)
    return guarded(async () => {
      for (const [place, text] of item.entries.entries()) {
        const entry = item.values[place] as unknown as JournalEntry
        const run = await this.#runOf(item, entry)
        if ('field' in run) return { ...run, key: run.key ?? item.runId }
        if (run.kind === 'skipped') {
          const finding = run.take(entry, text)
          if (finding !== undefined) return { ...finding, key: item.runId }
          continue
        }
        if (run.kind === 'ended') return afterEnd(item, entry)
        const isLast = place === item.entries.length - 1
        const finding = await this.#entry(run.replay, { entry, text, isLast, item })
        if (finding !== undefined) return { ...finding, key: finding.key ?? item.runId }
      }
      return undefined
    })
  }

  /** Takes what other work than that of the items has changed. */
  elsewhere(changes: VerifiedReceipt['changes'], stateBefore: StateView): void {
    this.#state.begin(stateBefore)
    this.#state.changed(changes)
  }

  /** A run that has not ended, with what doing more of it again needs. */
  openRun(runId: RunId) {
    const run = this.#runs.get(runId)
    if (run?.kind !== 'open') return undefined
    return { replay: run.replay, below: this.#state, undo: this.#compensations }
  }

  /** Does the unit of a receipt again. */
  async receipt(verified: VerifiedReceipt): Promise<HookVerdict | undefined> {
    const finding = await guarded(() => this.#receipt(verified))
    this.#state.changed(verified.changes)
    const { profile } = verified.receipt.inputPayload.provider
    if (isOfTrustedCode(profile)) this.#profile = profile
    return finding
  }

  async #runOf(item: VerifiedItem, entry: JournalEntry): Promise<AuditedRun | Finding> {
    const { runId } = item
    const known = this.#runs.get(runId)
    if (known !== undefined) return known
    if (entry.k !== 'run.started') {
      return { field: 'journal.k', signed: shownText(entry.k), computed: 'run.started' }
    }
    if (!isJsonObject(entry.definition)) {
      return this.#know(runId, new SkippedRun(NO_DEFINITION))
    }
    const run = await this.#begin(item, entry)
    return 'field' in run ? run : this.#know(runId, run)
  }

  #know(runId: RunId, run: AuditedRun): AuditedRun {
    if (run.kind === 'skipped') {
      this.#skippedRuns.set(run.why, (this.#skippedRuns.get(run.why) ?? 0) + 1)
    }
    this.#runs.set(runId, run)
    return run
  }

  async #begin(item: VerifiedItem, entry: RunStarted): Promise<AuditedRun | Finding> {
    const { identity } = this.#options
    const recorded = await this.#recordedOf(entry)
    switch (recorded.kind) {
      case 'missing':
        return new SkippedRun(notRegistered(recorded.missing))
      case 'changed': {
        const { difference, isContradicted } = recorded
        if (!isContradicted) return new SkippedRun(`its definition is not here: ${difference}`)
        return { field: 'definitionHash', signed: entry.definitionHash, computed: difference }
      }
      case 'ready':
        break
      default:
        return unreachable(recorded)
    }
    const { root, compiled: chart, block } = recorded
    // A run of one unit begins in the journal when it ends; its receipt's seed names the base.
    const base = differing('journal.base', item.previousReceiptHash ?? 'GENESIS', entry.base)
    if (base !== undefined && !root.isUnit) return base
    const library = chart.kind === 'leaf' ? chart.library : chart.plan
    const options = { runId: item.runId, identity, root, compiled: chart, library }
    return { kind: 'open', replay: new RunReplay({ ...options, block }) }
  }

  async #recordedOf(entry: RunStarted): Promise<RecordedCode> {
    const { definition, definitionHash, pins = null, obligations = null } = entry
    // Only to find it again: another order of keys would be looked up once more.
    const text = JSON.stringify([definition, definitionHash, pins, obligations])
    const known = this.#recorded.get(text)
    if (known !== undefined) return known
    const recorded = await this.#options.code.recorded(entry)
    if (this.#recorded.size >= limits.CACHE_ENTRIES_MAX) this.#recorded.clear()
    this.#recorded.set(text, recorded)
    return recorded
  }

  async #entry(
    replay: RunReplay,
    given: {
      readonly entry: JournalEntry
      readonly text: string
      readonly isLast: boolean
      readonly item: VerifiedItem
    }
  ): Promise<Finding | undefined> {
    const { entry, text, isLast, item } = given
    const finding = replay.check(entry) ?? (await this.#failure(replay, entry))
    if (finding !== undefined) return finding
    const completes = replay.completes(entry)
    const beside = isLast ? besideOf(item) : 'nothing'
    const problem = differing('journal.completes', completes ?? 'nothing', beside)
    if (problem !== undefined) return problem
    if (completes === 'unit') {
      this.#pending = { replay, entry, text }
      return undefined
    }
    const evidence =
      completes === 'evidence' ? evidenceFinding(replay, entry, item.evidence) : undefined
    return evidence ?? this.#take(item.runId, replay, entry, text)
  }

  async #failure(replay: RunReplay, entry: JournalEntry): Promise<Finding | undefined> {
    if (entry.k === 'sealed') this.#compensations.add(entry)
    if (!leavesNoReceipt(entry)) return undefined
    const isElsewhere = !isOurs(this.#profile)
    const undo = this.#compensations
    return this.failures.check({ replay, entry, below: this.#state, undo, isElsewhere })
  }

  #take(
    runId: RunId,
    replay: RunReplay,
    entry: JournalEntry,
    text: string,
    receipt?: VerifiedReceipt
  ): Finding | undefined {
    const { item } = this.#state
    const finding = replay.take(entry, text, { receiptHash: receipt?.receipt.receiptHash, item })
    if (replay.isFinished) this.#runs.set(runId, ended)
    return finding
  }

  async #receipt(verified: VerifiedReceipt): Promise<Finding | undefined> {
    const pending = this.#pending
    this.#pending = undefined
    const { index, receipt, runId } = verified
    if (pending === undefined && isRotation(verified)) return this.#rotation(verified)
    if (pending === undefined) {
      const run = this.#runs.get(runId)
      const isOfRun = receipt.inputPayload.run !== undefined
      if (isOfRun && (run?.kind !== 'skipped' || run.why === NO_DEFINITION)) {
        return { field: 'journal', signed: 'none', computed: 'an entry that this completes' }
      }
      // Those that are only folded have no place of their own.
      const isPlaced = index >= 0
      const finding = run?.kind === 'skipped' && isPlaced ? run.ends(verified) : undefined
      if (finding !== undefined) return finding
      const why = run?.kind === 'skipped' ? run.why : NO_DEFINITION
      if (isPlaced) {
        this.notChecked.receipt(index, `not executed again (${receipt.intent}): ${why}`)
      }
      return undefined
    }
    const { replay, entry, text } = pending
    const finding = await this.#again(replay, entry, verified)
    return finding ?? this.#take(runId, replay, entry, text, verified)
  }

  #rotation(verified: VerifiedReceipt): Finding | undefined {
    const finding = rotationFinding(verified)
    const { isWanted } = this.#options
    if (finding !== undefined || isWanted?.(verified) === false) return finding
    this.#count(verified.receipt.inputPayload.provider.profile)
    return undefined
  }

  async #again(
    replay: RunReplay,
    entry: JournalEntry,
    verified: VerifiedReceipt
  ): Promise<Finding | undefined> {
    const { executions, isWanted } = this.#options
    const { index, receipt } = verified
    if (isWanted?.(verified) === false) return undefined
    const missing = await missingCode(replay, entry, verified)
    if (missing !== undefined) {
      this.notChecked.receipt(index, `not executed again: ${missing}`)
      return undefined
    }
    const { provider, run } = receipt.inputPayload
    const touched: string[] = []
    const below = this.#state.touching(touched)
    const recorded = { at: run?.at ?? -1, profile: provider.profile }
    const undo = this.#compensations
    const unit = await replay.unit(entry, recorded, { below, executions, undo })
    if (unit.kind === 'skipped' || touched.length > 0) {
      const what = unit.kind === 'skipped' ? `a response to ${unit.what}` : `state ${touched[0]}`
      this.notChecked.receipt(index, `not executed again: ${what} is withheld`)
      return undefined
    }
    const finding = unit.kind === 'finding' ? unit.finding : compareUnit(unit.draft, verified)
    if (finding !== undefined) return this.#unlessProfile(finding, verified)
    this.#count(provider.profile)
    if (provider.kind === 'declared') this.#sayDeclared(provider.id)
    else this.#sayAllDeclared(replay.blocksOf(entry))
    return undefined
  }

  /**
   * Another engine may give other results; a difference is then reported and is no failure (K10).
   */
  #unlessProfile(finding: Finding, { index, receipt }: VerifiedReceipt): Finding | undefined {
    const { profile } = receipt.inputPayload.provider
    if (isOurs(profile) || !isOutput(finding)) return finding
    const change = profileChange(profile)
    this.notChecked.say(`${change} (compared all the same)`)
    this.notChecked.receipt(index, `${change}: ${finding.field} differs`)
    return undefined
  }

  #count(profile: Json): void {
    this.reexecuted += 1
    const text = JSON.stringify(profile)
    const known = this.#profiles.get(text)
    if (known !== undefined) {
      known.count += 1
      return
    }
    this.#profiles.set(text, { name: canonicalize(profile), count: 1 })
    if (!isOurs(profile)) {
      this.notChecked.say(`${profileChange(profile)} (compared all the same)`)
    }
  }

  // Packages are measured, and the kernel is part of this program.
  #sayAllDeclared(blocks: readonly Block[]): void {
    for (const { name, version, kernel } of blocks) {
      if (kernel === undefined) this.#sayDeclared(`${name}@${version}`)
    }
  }

  #sayDeclared(id: string): void {
    if (this.#declared.has(id)) return
    this.#declared.add(id)
    this.notChecked.say(`code of block ${id} is declared, not measured`)
  }
}

/**
 * Nothing that a ledger says may stop a verification: what cannot be read is a finding. Rejects
 * with `run.not_executed`: what this machine lacks is none.
 */
async function guarded(step: () => Promise<Finding | undefined>): Promise<HookVerdict | undefined> {
  try {
    const finding = await step()
    return finding === undefined ? undefined : wellFormed(finding)
  } catch (error) {
    if (isTallyError(error, 'run.not_executed')) throw error
    const computed = error instanceof Error ? error.message : String(error)
    return { field: 'journal', signed: 'entries that can be done again', computed }
  }
}

function afterEnd({ runId }: VerifiedItem, { k }: JournalEntry): Finding {
  return { field: 'journal.k', signed: k, computed: 'nothing after run.finished', key: runId }
}

/** Entries may hold anything where a text belongs. */
function wellFormed(finding: Finding): Finding {
  return { ...finding, signed: shownText(finding.signed), computed: shownText(finding.computed) }
}

function besideOf({ hasReceipt, evidence }: VerifiedItem): string {
  if (hasReceipt) return evidence === undefined ? 'unit' : 'unit and evidence'
  return evidence === undefined ? 'nothing' : 'evidence'
}

const outputs = new Set(['resultHash', 'writeSet', 'journal.response', 'result', 'determinism'])

/** Whether a difference may come from another version of the engine. */
function isOutput({ field }: Finding): boolean {
  return outputs.has(field) || field.startsWith('sealed.')
}

function profileChange(profile: Json): string {
  return `profile_changed: ${profileName(profile)} -> ${profileName(currentProfile())}`
}

function profileName(profile: Json): string {
  return isJsonObject(profile)
    ? Object.values(profile).map(shownText).join('+')
    : shownText(profile)
}

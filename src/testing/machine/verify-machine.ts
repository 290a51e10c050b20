import { limits, TallyError } from '../../core/index.js'
import { variations } from '../ambient.js'
import type { Case } from './case.js'
import { caseArbitrary } from './case-arbitrary.js'
import {
  type Counterexample,
  counterexampleText,
  plainCase,
  saveScript,
  seenFrom
} from './counterexample.js'
import { Coverage, type MachineCoverage } from './coverage.js'
import { loadFastCheck } from './fast-check.js'
import type { CaseOptions, CodePlace, MachineOptions } from './options.js'
import type { Stage } from './play.js'
import { type PlayedCase, playCase } from './play-case.js'
import type { Violation } from './promises/all.js'
import { type Evidence, playsOf } from './promises/promise.js'
import { partsOf, stageOf } from './stage.js'
import { type MachineTarget, type PreparedTarget, prepareTarget } from './target.js'

/** What was played, what of the target that has reached, and what it says nothing about. */
export interface MachineReport {
  readonly cases: number
  /** Lives of processes, over all plays of all cases. */
  readonly lives: number
  readonly crashes: number
  /** Receipts, over all plays. */
  readonly steps: number
  readonly seed: number | undefined
  readonly coverage: MachineCoverage
  readonly notChecked: readonly string[]
}

const SEED_DEFAULT = 20_261_123

/**
 * Plays many made-up lives of a block, composite or plan, with a world, people, crashes and
 * redeploys as each case says, in virtual time on the real runtime, and holds every one of them to
 * the promises of this library and to the caller's own. Rejects with `testing.promise_broken`,
 * whose message is the smallest case that was found; with the other codes of `testing` when
 * something is missing.
 *
 * It replaces the clock and chance of the whole process while it plays.
 *
 * @example
 * test('invoices are paid once', () =>
 *   verifyMachine(payment, { effects: { 'bank.transfer': { answer: () => ({ ok: true }) } } }))
 */
export function verifyMachine(
  target: MachineTarget,
  options: MachineOptions = {}
): Promise<MachineReport> {
  return verify(target, options, {})
}

/** {@link verifyMachine} with parts of the machine itself broken: for tests of the promises. */
export function verifyBroken(
  target: MachineTarget,
  options: MachineOptions,
  broken: Pick<Stage, 'disk' | 'wrapOutside'>
): Promise<MachineReport> {
  return verify(target, options, broken)
}

/** Plays one case, as the script of a counterexample gives it. Rejects as `verifyMachine` does. */
export async function verifyCase(
  target: MachineTarget,
  given: Case,
  options: CaseOptions & { readonly from?: CodePlace } = {}
): Promise<MachineReport> {
  if (!Array.isArray(given.inputs) || given.inputs.length === 0) {
    throw new TallyError('testing.case_invalid', { problem: 'it has no inputs' })
  }
  const prepared = await prepareTarget(target)
  const stage = stageOf(prepared, options)
  const tally = new Tally(prepared)
  const { evidence, violation } = await playCase(prepared, given, { stage, options })
  tally.add(evidence)
  if (violation === undefined) return tally.report(undefined)
  const { from } = options
  throw brokenError(counterexample({ prepared, evidence, violation, seed: undefined, from }))
}

async function verify(
  target: MachineTarget,
  options: MachineOptions,
  broken: Pick<Stage, 'disk' | 'wrapOutside'>
): Promise<MachineReport> {
  const fc = await loadFastCheck()
  const prepared = await prepareTarget(target)
  const { cases = limits.MACHINE_CASES_DEFAULT, seed = SEED_DEFAULT } = options
  const search = new Search(prepared, { ...stageOf(prepared, options), ...broken }, options)
  const arbitrary = caseArbitrary(fc, partsOf(fc, prepared, options))
  await fc.check(
    fc.asyncProperty(arbitrary, (given) => search.holds(given)),
    { seed, numRuns: cases, endOnFailure: false }
  )
  return search.outcome(seed)
}

interface Found {
  readonly given: Case
  readonly violation: Violation
}

/** Promises that code breaks which gives something else each time. */
const ofSteadyCode: ReadonlySet<string> = new Set(['replays', 'resumes'])

/** One search for a case that breaks a promise, and then for a smaller one. */
class Search {
  readonly #prepared: PreparedTarget
  readonly #stage: Stage
  readonly #options: MachineOptions
  readonly #tally: Tally
  #found: Found | undefined
  #misuse: { readonly error: unknown } | undefined
  #shrinks = 0
  #variations = variations().map(({ name }) => name)

  constructor(prepared: PreparedTarget, stage: Stage, options: MachineOptions) {
    this.#prepared = prepared
    this.#stage = stage
    this.#options = options
    this.#tally = new Tally(prepared)
  }

  /** Whether a case keeps every promise; in search of a smaller one, that which was broken. */
  async holds(given: Case): Promise<boolean> {
    if (this.#misuse !== undefined || this.#shrinks >= limits.MACHINE_SHRINKS_MAX) return true
    const before = this.#found
    if (before !== undefined) this.#shrinks += 1
    const played = await this.#played(given)
    if (played === undefined) return true
    if (before === undefined) this.#tally.add(played.evidence)
    const found = await this.#named(played)
    if (found === undefined) return true
    if (before !== undefined && before.violation.promise !== found.violation.promise) return true
    this.#found = found
    return false
  }

  /**
   * What a case breaks. Code that gives something else when it is executed again is asked which
   * thing around it makes the difference.
   */
  async #named({ evidence, violation }: PlayedCase): Promise<Found | undefined> {
    const { given } = evidence
    if (violation === undefined) return undefined
    if (!ofSteadyCode.has(violation.promise)) return { given, violation }
    const names = this.#variations
    // A smaller case is smaller in the same way.
    this.#variations = []
    for (const name of names) {
      const asked = { inputs: given.inputs, effects: given.effects ?? {}, again: name }
      const varied = await this.#played({ ...asked, people: given.people ?? [] })
      if (varied?.violation?.promise === 'deterministic') {
        this.#variations = [name]
        return { given: varied.evidence.given, violation: varied.violation }
      }
    }
    return { given, violation }
  }

  async #played(given: Case): Promise<PlayedCase | undefined> {
    const played = { stage: this.#stage, options: this.#options }
    try {
      return await playCase(this.#prepared, given, played)
    } catch (error) {
      this.#misuse = { error }
      return undefined
    }
  }

  /** The report of a search that found nothing; throws what it found. */
  async outcome(seed: number): Promise<MachineReport> {
    if (this.#misuse !== undefined) throw this.#misuse.error
    if (this.#found === undefined) return this.#tally.report(seed)
    const { violation: before } = this.#found
    const given = plainCase(this.#found.given)
    const { evidence, violation } = (await this.#played(given)) ?? {}
    if (evidence === undefined || violation === undefined) {
      const { promise, problem: what, actual = '' } = before
      const problem = actual === '' ? what : `${what} (${actual})`
      const target = this.#prepared.name
      throw new TallyError('testing.not_repeated', { target, promise, problem })
    }
    const { from: place, save } = this.#options
    const from = place && save !== undefined ? seenFrom(save, place) : place
    const prepared = this.#prepared
    const found = counterexample({ prepared, evidence, violation, seed, from })
    const saved = save === undefined ? undefined : await saveScript(found, save)
    throw brokenError(found, saved)
  }
}

function counterexample(parts: {
  readonly prepared: PreparedTarget
  readonly evidence: Evidence
  readonly violation: Violation
  readonly seed: number | undefined
  readonly from: CodePlace | undefined
}): Counterexample {
  const { prepared, evidence, ...rest } = parts
  const { name: target, compiled } = prepared
  const { given, undisturbed, disturbed } = evidence
  return { ...rest, target, compiled, given, play: disturbed ?? undisturbed }
}

function brokenError(found: Counterexample, saved?: string): TallyError {
  const { target, violation } = found
  const { promise, problem } = violation
  const where = saved === undefined ? '' : `\nwritten to ${saved}\n`
  const text = `${counterexampleText(found)}${where}`
  return new TallyError('testing.promise_broken', {
    target,
    promise,
    problem,
    counterexample: text
  })
}

/** What all cases together have done. */
class Tally {
  readonly #coverage: Coverage
  readonly #open = new Set<string>()
  #cases = 0
  #lives = 0
  #crashes = 0
  #steps = 0
  #unresumed = 0

  constructor({ compiled, notChecked }: PreparedTarget) {
    this.#coverage = new Coverage(compiled)
    for (const one of notChecked) this.#open.add(one)
  }

  add(evidence: Evidence): void {
    this.#cases += 1
    for (const play of playsOf(evidence)) {
      this.#lives += play.lives
      this.#crashes += play.crashes.length
      this.#steps += play.receipts.length
      this.#coverage.add(play, { ...evidence.options, inputs: evidence.given.inputs })
      for (const { approvers } of play.waits) {
        if (approvers !== undefined) this.#open.add('waits whose approvers sign with no given key')
      }
    }
    const { disturbed } = evidence
    if (disturbed !== undefined && !disturbed.isTimely) this.#unresumed += 1
  }

  report(seed: number | undefined): MachineReport {
    const notChecked = [
      'code that never gives up the thread: an endless loop without ctx is not ended',
      'what code does past ctx and is not seen in any result',
      ...this.#open
    ]
    if (this.#unresumed > 0) {
      const count = `${this.#unresumed} of ${this.#cases} cases`
      notChecked.push(`"resumes" in ${count}: time passed while the process was down`)
    }
    return {
      cases: this.#cases,
      lives: this.#lives,
      crashes: this.#crashes,
      steps: this.#steps,
      seed,
      coverage: this.#coverage.report(),
      notChecked
    }
  }
}

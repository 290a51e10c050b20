import { limits, type TallyError, testingError } from '../../core/index.js'
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
import { loadFastCheck } from './fast-check.js'
import type { CaseOptions, CodePlace, MachineOptions } from './options.js'
import type { Stage } from './play.js'
import { type PlayedCase, playCase } from './play-case.js'
import type { PreparedTarget } from './prepared-target.js'
import type { Violation } from './promises/all.js'
import type { Evidence } from './promises/promise.js'
import { playShares } from './shares.js'
import { partsOf, stageOf } from './stage.js'
import { type MachineReport, Tally, type TallyLeft } from './tally.js'
import { type MachineTarget, prepareTarget } from './target.js'
import { written } from './written-target.js'

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
    throw testingError('testing.case_invalid', { problem: 'it has no inputs' })
  }
  const prepared = await prepareTarget(target, options.next)
  try {
    const stage = stageOf(prepared, options)
    const tally = new Tally(prepared)
    const { evidence, violation } = await playCase(prepared, given, { stage, options })
    tally.add(evidence)
    if (violation === undefined) return tally.report(undefined)
    const { from } = options
    throw brokenError(counterexample({ prepared, evidence, violation, seed: undefined, from }))
  } finally {
    await prepared.close()
  }
}

/** A share of {@link verifyMachine}, in a process of its own. */
export async function verifyShare(
  target: MachineTarget,
  options: MachineOptions
): Promise<TallyLeft> {
  const { tally } = await searched(target, options, {})
  return tally.left()
}

async function verify(
  target: MachineTarget,
  options: MachineOptions,
  broken: Pick<Stage, 'disk' | 'wrapOutside'>
): Promise<MachineReport> {
  const { cases = limits.MACHINE_CASES_DEFAULT, seed = SEED_DEFAULT, processes = 1 } = options
  if (processes <= 1) {
    const { tally } = await searched(target, options, broken)
    return tally.report(seed)
  }
  const prepared = await prepareTarget(target, options.next)
  try {
    const tally = new Tally(prepared)
    for (const left of await playShares(options, { cases, seed, processes })) tally.take(left)
    return tally.report(seed)
  } finally {
    await prepared.close()
  }
}

/** Plays cases until one breaks a promise, and rejects with the smallest like it. */
async function searched(
  target: MachineTarget,
  options: MachineOptions,
  broken: Pick<Stage, 'disk' | 'wrapOutside'>
): Promise<Search> {
  const fc = await loadFastCheck()
  const prepared = await prepareTarget(target, options.next)
  const { cases = limits.MACHINE_CASES_DEFAULT, seed = SEED_DEFAULT } = options
  try {
    const search = new Search(prepared, { ...stageOf(prepared, options), ...broken }, options)
    const arbitrary = caseArbitrary(fc, partsOf(fc, prepared, options))
    await fc.check(
      fc.asyncProperty(arbitrary, (given) => search.holds(given)),
      { seed, numRuns: cases, endOnFailure: false }
    )
    await search.rejectFound(seed)
    return search
  } finally {
    await prepared.close()
  }
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
  readonly tally: Tally
  #found: Found | undefined
  #misuse: { readonly error: unknown } | undefined
  #shrinks = 0
  #variations = variations().map(({ name }) => name)

  constructor(prepared: PreparedTarget, stage: Stage, options: MachineOptions) {
    this.#prepared = prepared
    this.#stage = stage
    this.#options = options
    this.tally = new Tally(prepared)
  }

  /** Whether a case keeps every promise; in search of a smaller one, that which was broken. */
  async holds(given: Case): Promise<boolean> {
    if (this.#misuse !== undefined || this.#shrinks >= limits.MACHINE_SHRINKS_MAX) return true
    const before = this.#found
    if (before !== undefined) this.#shrinks += 1
    const played = await this.#played(given)
    if (played === undefined) return true
    if (before === undefined) this.tally.add(played.evidence)
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

  /** Rejects with what was found, if anything. */
  async rejectFound(seed: number): Promise<void> {
    if (this.#misuse !== undefined) throw this.#misuse.error
    if (this.#found === undefined) return
    const { violation: before } = this.#found
    const given = plainCase(this.#found.given)
    const { evidence, violation } = (await this.#played(given)) ?? {}
    if (evidence === undefined || violation === undefined) {
      const { promise, problem: what, actual = '' } = before
      const problem = actual === '' ? what : `${what} (${actual})`
      const target = this.#prepared.name
      throw testingError('testing.not_repeated', { target, promise, problem })
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
  const { prepared, evidence, violation, ...rest } = parts
  const { name: target, compiled } = prepared
  const { given, undisturbed, disturbed, options } = evidence
  return {
    ...{ ...rest, violation, target, compiled, given },
    context: options.context ?? {},
    play: disturbed ?? undisturbed,
    written: written(prepared.written, options, violation.promise)
  }
}

function brokenError(found: Counterexample, saved?: string): TallyError {
  const { target, violation } = found
  const { promise, problem } = violation
  const where = saved === undefined ? '' : `\nwritten to ${saved}\n`
  const text = `${counterexampleText(found)}${where}`
  return testingError('testing.promise_broken', {
    target,
    promise,
    problem,
    counterexample: text
  })
}

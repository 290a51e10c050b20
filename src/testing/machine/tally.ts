import type { CoverageLeft, MachineCoverage } from './coverage.js'
import type { PreparedTarget } from './prepared-target.js'
import { type Evidence, playsOf } from './promises/promise.js'
import { type AnyCoverage, coverageOf } from './step-coverage.js'

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

/** What a tally has counted: cases, lives, crashes, steps, cases that were not compared. */
export interface TallyLeft {
  readonly counts: readonly [number, number, number, number, number]
  readonly open: readonly string[]
  readonly coverage: CoverageLeft
}

/** What all cases together have done. */
export class Tally {
  readonly #coverage: AnyCoverage
  readonly #open = new Set<string>()
  #cases = 0
  #lives = 0
  #crashes = 0
  #steps = 0
  #unresumed = 0

  constructor({ compiled, notChecked }: PreparedTarget) {
    this.#coverage = coverageOf(compiled)
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

  /** As plain JSON, for another process to take. */
  left(): TallyLeft {
    return {
      counts: [this.#cases, this.#lives, this.#crashes, this.#steps, this.#unresumed],
      open: [...this.#open],
      coverage: this.#coverage.left()
    }
  }

  take({ counts: [cases, lives, crashes, steps, unresumed], open, coverage }: TallyLeft): void {
    this.#cases += cases
    this.#lives += lives
    this.#crashes += crashes
    this.#steps += steps
    this.#unresumed += unresumed
    for (const one of open) this.#open.add(one)
    this.#coverage.take(coverage)
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

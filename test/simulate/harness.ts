/**
 * The storage simulator: one seed is several lives of a ledger on a disk that fails.
 *
 * Owns the plan of a seed, what was acknowledged, and the checks. Does not own the ledger: it is
 * handed a way to open one, real or toy, so that the same faults and checks meet both.
 *
 * After every reopening: the chain is contiguous and verified; its head is the last receipt; no
 * unit is there twice; every acknowledged receipt is there with the same hash; nothing is there
 * that was not asked for. After a failed write nothing more is acknowledged (L3). At the end of a
 * seed the ledger's own verification finds nothing. After damage at rest opening refuses, or every
 * answer is what it was, or verification finds what opening does not look at.
 */
import { isTallyError } from '../../src/core/index.js'
import type { Store } from '../../src/ledger/index.js'
import { Chance } from '../../src/testing/chance.js'
import { FaultyDisk, type WriteFault } from '../../src/testing/index.js'

export interface HistoryEntry {
  readonly unit: string
  readonly hash: string
  readonly previous: string | null
}

/** A ledger as the simulator sees it. */
export interface SimulatedLedger {
  /** Queues a unit of work; throws when the ledger takes no more. */
  append(unit: string): { readonly hash: string; readonly durable: Promise<void> }
  /** Whether the unit is there, queued or durable: it is not appended again (L6). */
  has(unit: string): boolean | Promise<boolean>
  /** Hash of the last receipt. */
  head(): string | null
  /**
   * Everything durable, in order, read back and checked. Throws a TallyError when the ledger
   * refuses to continue, any other error when it gives a wrong answer.
   */
  history(): Promise<readonly HistoryEntry[]>
  /**
   * Full verification, and whether everything answers as the history says: what is wrong, or
   * undefined. Throws for a wrong answer.
   */
  verify?(): Promise<string | undefined>
  close(): Promise<void>
}

/** Opens the ledger of a store, creating it where there is none; throws when it is damaged. */
export type OpenLedger = (store: Store) => Promise<SimulatedLedger>

export interface SimulationOptions {
  /** False plants a disk that acknowledges from its cache. */
  readonly syncs?: boolean
  /** Lets everything else that is ready run; default: one microtask turn. */
  readonly turn?: () => Promise<void>
}

export interface SimulationReport {
  readonly seed: number
  readonly lives: number
  readonly acknowledged: number
  readonly injected: ReadonlyMap<string, number>
  /**
   * What came of damage at rest: opening alone refused, verification found it, nothing was the
   * worse for it, or none was done.
   */
  readonly damage: 'refused' | 'found' | 'harmless' | 'none'
}

/** A broken promise; the message tells how to run it again. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure'

  constructor(seed: number, plan: string, problem: string, cause?: unknown) {
    super(`seed ${seed}: ${problem} (${plan})`, { cause })
  }
}

/** Runs one seed. Throws {@link SimulationFailure}. */
export async function simulate(
  seed: number,
  open: OpenLedger,
  options: SimulationOptions = {}
): Promise<SimulationReport> {
  const simulation = new Simulation(seed, open, options)
  return simulation.run()
}

interface LifePlan {
  readonly units: number
  readonly fault: WriteFault | undefined
  readonly faultAfter: number
  readonly faultTimes: number
  readonly end: 'close' | 'process' | 'power'
  readonly turnsToEnd: number
  /** What happens while the ledger opens: recovery writes too. */
  readonly opening: 'calm' | 'fault' | 'crash'
}

class Simulation {
  readonly #seed: number
  readonly #open: OpenLedger
  readonly #turn: () => Promise<void>
  readonly #chance: Chance
  readonly #disk: FaultyDisk
  readonly #asked = new Set<string>()
  readonly #acknowledged = new Map<string, string>()
  #plan = ''

  constructor(seed: number, open: OpenLedger, options: SimulationOptions) {
    this.#seed = seed
    this.#open = open
    this.#turn = options.turn ?? (() => Promise.resolve())
    this.#chance = new Chance(`simulate/${seed}`)
    this.#disk = new FaultyDisk(seed, {
      slowTurnsMax: this.#chance.below(4),
      syncs: options.syncs ?? true
    })
  }

  async run(): Promise<SimulationReport> {
    const lives = 2 + this.#chance.below(3)
    for (let life = 1; life <= lives; life += 1) await this.#live(this.#lifePlan(), life)
    const damage = await this.#damage()
    return {
      seed: this.#seed,
      lives,
      acknowledged: this.#acknowledged.size,
      injected: this.#disk.injected,
      damage
    }
  }

  #lifePlan(): LifePlan {
    const faults = [undefined, undefined, 'disk_full', 'sync_failed'] as const
    const ends = ['close', 'process', 'power', 'power'] as const
    const openings = ['calm', 'calm', 'calm', 'calm', 'fault', 'crash'] as const
    const plan: LifePlan = {
      units: 1 + this.#chance.below(20),
      fault: this.#chance.oneOf(faults),
      faultAfter: this.#chance.below(6),
      faultTimes: 1 + this.#chance.below(3),
      end: this.#chance.oneOf(ends),
      turnsToEnd: this.#chance.below(80),
      opening: this.#chance.oneOf(openings)
    }
    this.#plan = JSON.stringify(plan)
    return plan
  }

  async #live(plan: LifePlan, life: number): Promise<void> {
    const ledger = await this.#openUnder(plan)
    if (ledger === undefined) return
    const { fault, faultAfter: after, faultTimes: times, end } = plan
    if (fault !== undefined) this.#disk.failCommits({ after, times, fault })
    const work = this.#work(ledger, plan.units, life)
    if (end === 'close') {
      await work
      await ledger.close().catch(() => undefined)
    } else {
      for (let turn = 0; turn < plan.turnsToEnd; turn += 1) await this.#turn()
      this.#disk.crash(end)
      await work
      await ledger.close().catch(() => undefined)
    }
  }

  /** Appends units, some at once and some one by one, and keeps book of what is acknowledged. */
  async #work(ledger: SimulatedLedger, units: number, life: number): Promise<void> {
    const pending: Promise<void>[] = []
    let failed = false
    for (let number = 0; number < units; number += 1) {
      const unit = this.#unit(life, number)
      try {
        if (await ledger.has(unit)) continue
        const { hash, durable } = ledger.append(unit)
        this.#asked.add(unit)
        const failedBefore = failed
        pending.push(
          durable.then(
            () => {
              if (failedBefore) this.#fail('a unit was acknowledged after a failed write')
              this.#acknowledged.set(unit, hash)
            },
            () => {
              failed = true
            }
          )
        )
      } catch (error) {
        if (error instanceof SimulationFailure || !isTallyError(error)) throw error
        failed = true
      }
      if (this.#chance.below(3) === 0) await Promise.all(pending)
      for (let turn = this.#chance.below(4); turn > 0; turn -= 1) await this.#turn()
    }
    await Promise.all(pending)
  }

  /** Usually a new unit, sometimes one that was asked for before: a client that tries again. */
  #unit(life: number, number: number): string {
    const known = [...this.#asked]
    if (known.length > 0 && this.#chance.below(4) === 0)
      return known[this.#chance.below(known.length)] ?? ''
    return `unit-${life}-${number}`
  }

  /** Opens as the plan says; undefined when the ledger did not come up, which it may then. */
  async #openUnder(plan: LifePlan): Promise<SimulatedLedger | undefined> {
    if (plan.opening === 'calm') return this.#openChecked()
    const store = this.#disk.open()
    const fault = plan.fault ?? 'disk_full'
    if (plan.opening === 'fault') this.#disk.failCommits({ after: 0, times: 1, fault })
    const crash = plan.opening === 'crash' ? this.#crashLater(plan) : undefined
    try {
      const ledger = await this.#open(store)
      await crash
      if (crash === undefined) return ledger
      await ledger.close().catch(() => undefined)
    } catch (error) {
      if (!isTallyError(error)) this.#fail(`opening is met with ${String(error)}`, error)
      await crash
      this.#disk.crash('power')
    }
    return undefined
  }

  async #crashLater({ turnsToEnd }: LifePlan): Promise<void> {
    for (let turn = 0; turn < turnsToEnd / 4; turn += 1) await this.#turn()
    this.#disk.crash('power')
  }

  async #openChecked(): Promise<SimulatedLedger> {
    try {
      const ledger = await this.#open(this.#disk.open())
      this.#check(await ledger.history(), ledger.head())
      return ledger
    } catch (error) {
      if (error instanceof SimulationFailure) throw error
      return this.#fail(`an undamaged ledger did not open: ${String(error)}`, error)
    }
  }

  #check(history: readonly HistoryEntry[], head: string | null): void {
    let previous: string | null = null
    const seen = new Map<string, string>()
    for (const entry of history) {
      if (entry.previous !== previous) this.#fail(`the link of ${entry.unit} is broken`)
      if (seen.has(entry.unit)) this.#fail(`${entry.unit} is there twice`)
      if (!this.#asked.has(entry.unit)) this.#fail(`${entry.unit} was never asked for`)
      seen.set(entry.unit, entry.hash)
      previous = entry.hash
    }
    if (head !== previous) this.#fail('the head is not the last receipt')
    for (const [unit, hash] of this.#acknowledged) {
      if (seen.get(unit) !== hash) this.#fail(`${unit} was acknowledged and is not there`)
    }
  }

  async #damage(): Promise<SimulationReport['damage']> {
    const ledger = await this.#openChecked()
    const before = JSON.stringify(await ledger.history())
    const problem = await ledger.verify?.().catch((error: unknown) => String(error))
    if (problem !== undefined) this.#fail(`verification finds ${problem}`)
    await ledger.close()
    const kind = this.#chance.below(6)
    if (kind === 0 || !this.#hurt(kind)) return 'none'
    this.#plan = `damage ${[...this.#disk.injected.keys()].at(-1)}`
    let after: string
    let found: string | undefined
    try {
      const damaged = await this.#open(this.#disk.open())
      after = JSON.stringify(await damaged.history())
      found = await damaged.verify?.()
      await damaged.close()
    } catch (error) {
      if (isTallyError(error) && error.code !== 'core.internal') return 'refused'
      return this.#fail(`damage is met with ${String(error)}`, error)
    }
    if (after !== before) this.#fail('damage changed the history in silence')
    return found === undefined ? 'harmless' : 'found'
  }

  #hurt(kind: number): boolean {
    switch (kind) {
      case 1:
        return this.#disk.flipBit() !== undefined
      case 2:
        return this.#disk.truncateValue() !== undefined
      case 3:
        return this.#disk.misplaceValue() !== undefined
      case 4:
        return this.#disk.loseValue() !== undefined
      default:
        return this.#disk.loseRecord()
    }
  }

  #fail(problem: string, cause?: unknown): never {
    throw new SimulationFailure(this.#seed, this.#plan, problem, cause)
  }
}

/** How an interface counts gas: polls of the engine, or steps of its metered code. */
export type GasUnit = 'polls' | 'steps'

/**
 * The gas of one execution. Like the thread it is sent as text: only types may be imported here.
 *
 * Owns: the count. Does not own: what happens when it has run out (the thread's).
 *
 * Invariants:
 * - X11 Steps are counted wherever the engine computes, built-ins included, and the engine traps
 *   where none is left: an execution takes a bounded number of them, whatever the machine does
 *   beside it. Packages of the interface `tally-abi/1` keep its gas, which is of polls, and have a
 *   bound of steps that is far away.
 */
export class GasMeter {
  readonly #limits: StepLimits
  #steps: StepsLeft = { value: 0n }
  #unit: GasUnit = 'polls'
  #ticksMax = 0
  #polledTicks = 0

  constructor(limits: StepLimits) {
    this.#limits = limits
  }

  /** Takes the engine's own count of steps that it may still take. */
  attach(steps: StepsLeft): void {
    this.#steps = steps
    this.allow(0, 'polls')
  }

  allow(ticksMax: number, unit: GasUnit): void {
    this.#unit = unit
    this.#ticksMax = ticksMax
    this.#polledTicks = 0
    this.#steps.value = BigInt(this.#stepsMax)
  }

  /** The engine has made another 10,000 polls. */
  polled(): void {
    this.#polledTicks += 1
  }

  get isSpent(): boolean {
    const isPolledOut = this.#unit === 'polls' && this.#polledTicks > this.#ticksMax
    return isPolledOut || this.#steps.value < 0n
  }

  /** Ticks used, one more than there are where they have run out. */
  get ticks(): number {
    if (this.#unit === 'polls') return this.#polledTicks
    if (this.isSpent) return this.#ticksMax + 1
    return Math.ceil((this.#stepsMax - Number(this.#steps.value)) / this.#limits.perTick)
  }

  get #stepsMax(): number {
    const { perTick, polledMax } = this.#limits
    return this.#unit === 'polls' ? polledMax : this.#ticksMax * perTick
  }
}

/** Of the interfaces, see `abi.ts`. */
export interface StepLimits {
  readonly perTick: number
  readonly polledMax: number
}

/** The global of 64 bits that metered code takes its steps from. */
interface StepsLeft {
  value: bigint
}

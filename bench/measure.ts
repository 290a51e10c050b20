import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { elapsedMs } from '../src/core/index.js'

/** One thing to measure, opened once and run in every round. */
export interface Contender {
  readonly name: string
  /** Does the work and gives the number of units done. */
  run(): Promise<number>
  close(): Promise<void>
}

/** What a contender took, medians over the rounds. */
export interface Measured {
  /** Units per second. */
  readonly rate: number
  /** Processor time of all threads of the process for one unit, microseconds. */
  readonly cpuUs: number
}

/**
 * Rounds of all contenders in turn, after one round that warms up, so that a slow minute of the
 * machine falls on all alike.
 */
export async function measured(
  contenders: readonly Contender[],
  rounds: number
): Promise<ReadonlyMap<string, Measured>> {
  const taken = new Map(contenders.map(({ name }) => [name, { rates: [], cpu: [] } as Taken]))
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, run } of contenders) {
      const begin = elapsedMs()
      const before = process.cpuUsage()
      const done = await run()
      const { user, system } = process.cpuUsage(before)
      const rate = (done * 1_000) / (elapsedMs() - begin)
      if (round < 0) continue
      taken.get(name)?.rates.push(rate)
      taken.get(name)?.cpu.push((user + system) / done)
    }
  }
  for (const contender of contenders) await contender.close()
  return new Map(
    [...taken].map(([name, { rates, cpu }]) => [name, { rate: median(rates), cpuUs: median(cpu) }])
  )
}

interface Taken {
  readonly rates: number[]
  readonly cpu: number[]
}

/** Units per second of each contender, as {@link measured} takes them. */
export async function interleaved(
  contenders: readonly Contender[],
  rounds: number
): Promise<ReadonlyMap<string, number>> {
  const all = await measured(contenders, rounds)
  return new Map([...all].map(([name, { rate }]) => [name, rate]))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2
}

/** A value that a measurement must have produced. */
export function rateOf(rates: ReadonlyMap<string, number>, name: string): number {
  const rate = rates.get(name)
  if (rate === undefined) throw new Error(`${name} was not measured`)
  return rate
}

/** Directories for one run of the suite, removed at its end. */
export class Scratch {
  readonly #root = mkdtempSync(join(tmpdir(), 'tally-bench-'))
  #count = 0

  directory(): string {
    this.#count += 1
    return join(this.#root, String(this.#count))
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** Collects garbage, then gives the bytes of the heap in use. */
export function settledHeapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 3; times += 1) collect()
  return process.memoryUsage().heapUsed
}

/** {@link settledHeapBytes}, and what typed arrays hold outside of the heap. */
export function settledBytes(): number {
  return settledHeapBytes() + process.memoryUsage().arrayBuffers
}

/** Runs `work` for 0..count-1 with at most `width` at once. */
export async function inParallel(
  count: number,
  width: number,
  work: (index: number) => Promise<void>
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane))
}

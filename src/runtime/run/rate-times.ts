import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalize, type IdentityId, isJsonObject, jsonIn, limits } from '../../core/index.js'
import type { RateTimes } from '../../queue/index.js'

const DIRECTORY = 'queues'

/**
 * When queues with a rate have given their last turns, so that a process that takes over begins
 * none too early: lines of a file beside the ledger, or nothing for one in memory.
 *
 * Owns: the file. Does not own any fact of the ledger: no record refers to it, no hash covers it,
 * no export has it. Where it is removed, a rate begins anew.
 */
export class KeptRateTimes implements RateTimes {
  readonly #file: string | undefined
  #times: Map<string, number[]> | undefined
  #lines = 0

  constructor(location: string | undefined, identity: IdentityId) {
    this.#file = location === undefined ? undefined : join(location, DIRECTORY, `${identity}.jsonl`)
  }

  timesOf(queue: string): readonly number[] {
    return [...(this.#known().get(queue) ?? [])]
  }

  /** Written before the turn is given: it survives a process that is killed. */
  begun(queue: string, at: number): void {
    if (this.#file === undefined) return
    const times = this.#known()
    const own = times.get(queue) ?? []
    times.set(queue, own)
    own.push(at)
    if (own.length > limits.QUEUE_RATE_MAX * 2) own.splice(0, limits.QUEUE_RATE_MAX)
    try {
      if (this.#lines >= LINES_MAX) this.#rewrite(this.#file, times)
      else appendFileSync(this.#file, rateLine(queue, at), { mode: 0o600 })
      this.#lines += 1
    } catch {
      // A full disk keeps no work from its turn.
    }
  }

  #known(): Map<string, number[]> {
    if (this.#times !== undefined) return this.#times
    const times = new Map<string, number[]>()
    this.#times = times
    if (this.#file === undefined) return times
    for (const text of linesOf(this.#file)) {
      const line = rateTime(text)
      this.#lines += 1
      if (line === undefined) continue
      const own = times.get(line.queue)
      if (own === undefined) times.set(line.queue, [line.at])
      else own.push(line.at)
    }
    for (const [queue, own] of times) times.set(queue, own.slice(-limits.QUEUE_RATE_MAX))
    return times
  }

  /** The last times of each queue alone. */
  #rewrite(file: string, times: ReadonlyMap<string, number[]>): void {
    const lines = [...times].flatMap(([queue, own]) =>
      own.slice(-limits.QUEUE_RATE_MAX).map((at) => rateLine(queue, at))
    )
    writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    this.#lines = lines.length % LINES_MAX
  }
}

/** Lines after which the file is written anew. */
const LINES_MAX = limits.QUEUE_RATE_MAX * 8

function linesOf(file: string): readonly string[] {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

function rateLine(queue: string, at: number): string {
  return `${canonicalize({ queue, at })}\n`
}

/** A line of the file; undefined for one that was cut off or is none. */
export function rateTime(
  text: string
): { readonly queue: string; readonly at: number } | undefined {
  const value = jsonIn(text)
  if (!isJsonObject(value)) return undefined
  const { queue, at } = value
  if (typeof queue !== 'string' || typeof at !== 'number' || !Number.isSafeInteger(at)) {
    return undefined
  }
  return { queue, at }
}

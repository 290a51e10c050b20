import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ThrownAt } from '../../block/index.js'
import {
  canonicalize,
  exceptionIn,
  type IdentityId,
  isJsonObject,
  jsonIn,
  limits,
  type RunId
} from '../../core/index.js'
import { readIfPresent } from '../../ledger/index.js'

const DIRECTORY = 'exceptions'

/** Something that code of a run has thrown, as it is kept and shown. */
export type ThrownLine = ThrownAt & {
  readonly run: RunId
  /** Milliseconds on the run's clock. */
  readonly at: number
}

/** Where the exceptions of an identity's runs are kept, newest first. */
function filesOf(location: string, identity: IdentityId): readonly [string, string] {
  const path = join(location, DIRECTORY, identity)
  return [`${path}.jsonl`, `${path}.old.jsonl`]
}

/**
 * What code has thrown in runs of a ledger, for people: lines of a file beside the ledger, or of
 * memory for one without a location.
 *
 * Owns: the file, of which the older half goes when it is full. Does not own any fact: a response
 * says that and why a step failed. No record refers to it, no hash covers it, no export has it, and
 * it may be removed at any time.
 */
export class ExceptionLog {
  readonly #files: readonly [string, string] | undefined
  #lines: ThrownLine[] = []
  #bytes: number | undefined

  constructor(location: string | undefined, identity: IdentityId) {
    this.#files = location === undefined ? undefined : filesOf(location, identity)
  }

  /** Never throws: a full disk keeps no run from failing as it does. */
  keep(line: ThrownLine): void {
    if (this.#files === undefined) {
      this.#lines = [...this.#lines.slice(1 - limits.EXCEPTIONS_SHOWN_MAX), line]
      return
    }
    try {
      this.#append(this.#files, `${canonicalize(line)}\n`)
    } catch {
      this.#bytes = undefined
    }
  }

  /** Those of a ledger in memory; undefined where a file has them. */
  get lines(): readonly ThrownLine[] | undefined {
    return this.#files === undefined ? this.#lines : undefined
  }

  /** Written before the attempt's end is: it survives a process that is killed. */
  #append([file, old]: readonly [string, string], text: string): void {
    if (this.#bytes === undefined) {
      mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 })
      this.#bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    }
    if (this.#bytes + text.length > limits.EXCEPTION_LOG_BYTES_MAX / 2) {
      if (this.#bytes > 0) renameSync(file, old)
      this.#bytes = 0
    }
    appendFileSync(file, text, { mode: 0o600 })
    this.#bytes += Buffer.byteLength(text)
  }
}

/** The last exceptions of a run of a ledger at a location, oldest first. */
export async function thrownIn(
  location: string,
  identity: IdentityId,
  runId: RunId
): Promise<readonly ThrownLine[]> {
  const [file, old] = filesOf(location, identity)
  const found: ThrownLine[] = []
  for (const path of [old, file]) {
    for (const text of ((await readIfPresent(path)) ?? '').split('\n')) {
      const line = text.includes(runId) ? thrownLine(text) : undefined
      if (line?.run === runId) found.push(line)
    }
  }
  return found.slice(-limits.EXCEPTIONS_SHOWN_MAX)
}

/** A line of the file; undefined for one that was cut off or is none. */
export function thrownLine(text: string): ThrownLine | undefined {
  const value = jsonIn(text)
  if (!isJsonObject(value)) return undefined
  const { run, at, path, step, attempt, block, effect, seq } = value
  const exception = exceptionIn(value['exception'] ?? null)
  if (typeof run !== 'string' || typeof path !== 'string' || typeof block !== 'string') {
    return undefined
  }
  if (typeof at !== 'number' || typeof step !== 'number' || typeof attempt !== 'number') {
    return undefined
  }
  if (exception === undefined) return undefined
  const isEffect = typeof effect === 'string' && typeof seq === 'number'
  const place = { run: run as RunId, at, path, step, attempt, block, exception }
  return isEffect ? { ...place, effect, seq } : place
}

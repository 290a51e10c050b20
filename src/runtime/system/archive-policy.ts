import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  type Clock,
  type Duration,
  durationMs,
  isTallyError,
  limits,
  runtimeError,
  type TallyError
} from '../../core/index.js'
import type { ArchiveOptions, ArchiveResult } from './archive-options.js'

/** History that is archived by itself. */
export interface ArchivePolicy {
  /** How old it has to be: milliseconds, or a text such as `30d`. */
  readonly after: Duration
  /** Where the files go; it is made if it is not there. */
  readonly directory: string
  /** How often it is looked. Default: once a day. */
  readonly every?: Duration
}

export interface ArchivePolicyParts {
  readonly clock: Clock
  /** Identity and commit number that a file is named by. */
  name(): string
  archive(options: ArchiveOptions): Promise<ArchiveResult>
}

/**
 * Archives by itself what has come of age, while a runtime has the ledger.
 *
 * Owns: the next time, which is the only timer, and the last failure. Does not own: archiving.
 *
 * - G4 A failure is a warning, and the next time tries again: nothing else of the runtime stops.
 */
export class ArchiveKeeper {
  readonly #parts: ArchivePolicyParts
  readonly #policy: ArchivePolicy
  readonly #afterMs: number
  readonly #everyMs: number
  readonly #calledOff = new AbortController()
  #cancel: (() => void) | undefined
  #working: Promise<void> = Promise.resolve()
  #problem: string | undefined

  /** Throws `runtime.invalid_archive`. */
  constructor(parts: ArchivePolicyParts, policy: ArchivePolicy) {
    this.#parts = parts
    this.#policy = policy
    this.#afterMs = spanOf('after', policy.after)
    this.#everyMs = spanOf('every', policy.every ?? limits.ARCHIVE_EVERY_MS)
    if (policy.directory === '') throw invalid('directory is empty')
  }

  /** Looks for the first time soon, so that a service that is often restarted archives too. */
  begin(): void {
    this.#next(Math.min(this.#everyMs, limits.ARCHIVE_FIRST_LOOK_MS))
  }

  warnings(): readonly string[] {
    return this.#problem === undefined ? [] : [`history was not archived: ${this.#problem}`]
  }

  /** Resolves when nothing is being archived. */
  settled(): Promise<void> {
    return this.#working
  }

  async close(): Promise<void> {
    this.#cancel?.()
    this.#calledOff.abort()
    await this.#working
  }

  #next(inMs: number): void {
    const { clock } = this.#parts
    if (this.#calledOff.signal.aborted) return
    this.#cancel = clock.schedule(clock.now() + inMs, () => {
      this.#working = this.#look().finally(() => this.#next(this.#everyMs))
    })
  }

  async #look(): Promise<void> {
    const { clock, name, archive } = this.#parts
    const before = clock.now() - this.#afterMs
    try {
      const directory = resolve(this.#policy.directory)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const path = join(directory, `${name()}-${clock.now()}.archive.gz`)
      await archive({ path, before, signal: this.#calledOff.signal })
      this.#problem = undefined
    } catch (error) {
      const isNothing = isTallyError(error, 'archive.nothing')
      if (this.#calledOff.signal.aborted) return
      this.#problem = isNothing ? undefined : messageOf(error)
    }
  }
}

function spanOf(name: string, given: Duration): number {
  const ms = durationMs(given)
  if (ms === undefined || ms === 0) throw invalid(`${name} is no time span`)
  return ms
}

function invalid(problem: string): TallyError {
  return runtimeError('runtime.invalid_archive', { problem })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

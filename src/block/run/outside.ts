import type { Hash } from '../../core/index.js'
import type { AttemptCommand } from '../chart/protocol.js'
import type { LeftOutside, Requested, Sealed } from './entries.js'
import type { SealedReference } from './journal.js'

/** One write, and what is known of it. */
export interface Write {
  readonly asked: Requested
  sealed: Sealed | undefined
}

/** A write that landed and that something undoes. */
export interface CompensableWrite {
  readonly asked: Requested
  readonly sealed: Sealed & { readonly undo: NonNullable<Sealed['undo']> }
}

/**
 * What an overlay's children have done outside, and what they have put off until its commit (C4).
 * Built from journal entries alone: live, on resume and in verification the same.
 */
export class Outside {
  /** By what an effect's key is made of, besides the run. */
  readonly #writes = new Map<string, Write>()
  /** Deferred steps, in the order in which they were asked for. */
  readonly deferred: AttemptCommand[] = []

  requested(entry: Requested): void {
    const known = this.#writes.get(callName(entry))
    // Asked for again after a failure: until it is answered, the outcome is unknown.
    if (known?.sealed?.ok !== true) {
      this.#writes.set(callName(entry), { asked: entry, sealed: undefined })
    }
  }

  sealed(entry: Sealed): void {
    const write = this.#writes.get(callName(entry))
    // A later attempt that is given a result again does not act again.
    if (write !== undefined && write.sealed?.ok !== true) write.sealed = entry
  }

  /** Takes over all of an overlay inside this one, at its commit. */
  join(inner: Outside): void {
    for (const [name, write] of inner.#writes) this.#writes.set(name, write)
    this.deferred.push(...inner.deferred)
  }

  /** Whether something happened outside, or may have. */
  get hasActed(): boolean {
    return this.#remaining().length > 0
  }

  /** What can be undone, the last first. */
  undoable(): readonly CompensableWrite[] {
    const all = this.all.filter(isCompensable)
    return all.sort((one, other) => other.sealed.n - one.sealed.n)
  }

  /** What was not undone; `undone` gives the reason why not, or null when it was. */
  left(undone: (key: Hash) => string | null | undefined): readonly LeftOutside[] {
    return this.#remaining().flatMap(({ asked, sealed }) => {
      const reason = undone(asked.key)
      if (reason === null) return []
      const { path, step, effect, key } = asked
      const state = sealed?.ok === true ? 'landed' : 'in_doubt'
      return [{ path, step, effect, key, state, reason: reason ?? whyNot(sealed) } as const]
    })
  }

  /** Sealed results of what is left, for evidence (formats.md §3). */
  references(left: readonly LeftOutside[]): readonly SealedReference[] {
    const keys = new Set(left.map(({ key }) => key))
    return this.#remaining().flatMap(({ asked, sealed }) => {
      if (sealed?.ok !== true || !keys.has(asked.key)) return []
      const { seq, effect, requestHash, responseHash, body } = sealed
      const bytes = Buffer.byteLength(JSON.stringify(body))
      return [{ seq, effect, requestHash, responseHash, bytes }]
    })
  }

  /** Every write, in the order in which they were first asked for. */
  get all(): readonly Write[] {
    return [...this.#writes.values()]
  }

  #remaining(): readonly Write[] {
    return this.all.filter(({ sealed }) => !isCertainlyNothing(sealed))
  }
}

/** Why nothing tried to undo it. */
function whyNot(sealed: Sealed | undefined): string {
  if (sealed?.ok !== true) return 'unknown_outcome'
  // It was answered when the rollback had begun.
  return sealed.undo === undefined || sealed.undo === null ? 'irreversible' : 'too_late'
}

function isCompensable(write: Write): write is Write & CompensableWrite {
  const { sealed } = write
  return sealed?.ok === true && sealed.undo !== undefined && sealed.undo !== null
}

/** Whether it was answered that it did nothing. */
export function isCertainlyNothing(sealed: Sealed | undefined): boolean {
  if (sealed === undefined || sealed.ok) return false
  return (sealed.body as { readonly definite?: boolean } | null)?.definite === true
}

function callName({
  path,
  step,
  seq,
  requestHash
}: Pick<Requested, 'path' | 'step' | 'seq' | 'requestHash'>): string {
  return `${path} ${step} ${seq} ${requestHash}`
}

import type { CompensationPort, JournalEntry, Provider } from '../block/index.js'
import type { NotChecked } from './not-checked.js'

type SealedEntry = JournalEntry & { readonly k: 'sealed' }

/**
 * What undoes the writes of atomic composites, as the journal keeps it (C4): worked out again where
 * the code that asked for the write is executed again.
 *
 * Owns: which of them have not been. Does not own: how it is worked out.
 *
 * - A block's own `compensate` is code under the block's version: a difference is a finding.
 * - A provider has no version, and no receipt names its code: a difference is reported and is no
 *   failure.
 */
export class Compensations implements CompensationPort {
  readonly #provider: (name: string) => Provider | undefined
  readonly #open = new Set<object>()
  /** Effects whose provider answers otherwise than it did. */
  readonly #differing = new Map<string, number>()

  constructor(provider: ((name: string) => Provider | undefined) | undefined) {
    this.#provider = provider ?? (() => undefined)
  }

  provider(name: string): Provider | undefined {
    return this.#provider(name)
  }

  /** An entry that says what undoes a write; the attempt that asked for it is yet to end. */
  add(entry: SealedEntry): void {
    if (entry.undo !== undefined) this.#open.add(entry)
  }

  workedOut({ entry, provider, finding }: Parameters<CompensationPort['workedOut']>[0]) {
    this.#open.delete(entry)
    if (finding === undefined || provider === undefined) return finding
    this.#differing.set(provider, (this.#differing.get(provider) ?? 0) + 1)
    return undefined
  }

  say(notChecked: NotChecked): void {
    const { size } = this.#open
    const what = size === 1 ? 'compensation' : 'compensations'
    if (size > 0) {
      notChecked.say(`${size} ${what} not worked out again: what asked for the write did not end`)
    }
    for (const [effect, count] of this.#differing) {
      const many = count === 1 ? '1 compensation' : `${count} compensations`
      notChecked.say(
        `${many} of ${effect}: its provider, whose code no receipt names, answers otherwise here`
      )
    }
  }
}

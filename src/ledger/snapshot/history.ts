import { type IdentityId, isTallyError, ledgerError } from '../../core/index.js'
import { archivedIn } from '../archive/history.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { parseHead } from '../record/head.js'
import type { Store } from '../stores/port.js'
import { verifyLedger } from '../verify/verify.js'

/** How what a snapshot holds stands to the ledger that is there. */
export type SnapshotRelation =
  /** It continues the ledger. */
  | 'extends'
  /** The ledger has all of it, and maybe more. */
  | 'held'

/** The commits of the ledger that is there; it may grow meanwhile. */
export class History {
  readonly #store: Store | undefined
  readonly #keys: StoreKeys
  /** As many as were there when it was looked last. */
  #commits: number
  #isWhole = true

  private constructor(store: Store | undefined, keys: StoreKeys, commits: number) {
    this.#store = store
    this.#keys = keys
    this.#commits = commits
  }

  /** Throws `snapshot.over_archives`: what was archived could not be compared. */
  static async of(
    store: Store | undefined,
    keys: StoreKeys,
    identity: IdentityId
  ): Promise<History> {
    const archived = store === undefined ? undefined : archivedIn(store, identity)
    if (archived !== undefined) {
      const { archive } = archived.context
      throw ledgerError('snapshot.over_archives', { archive }, { cause: archived })
    }
    return new History(store, keys, store === undefined ? 0 : await commitsIn(store, keys))
  }

  /** Throws `snapshot.diverges`. A record that is damaged here says nothing against the other. */
  compare(seq: number, text: string): void {
    if (seq >= this.#commits) return
    const there = this.#at(seq)
    if (there === undefined || there === text) return
    throw ledgerError('snapshot.diverges', { problem: `commit ${seq} is another one` })
  }

  /**
   * Verifies the ledger that is there where it has as many commits: one that is damaged elsewhere
   * gives way to a whole one.
   */
  async check(identity: IdentityId, commits: number): Promise<void> {
    if (this.#store === undefined || commits !== this.#commits) return
    try {
      this.#isWhole = (await verifyLedger({ store: this.#store, identity })).ok
    } catch (error) {
      if (!isTallyError(error, 'ledger.corrupt')) throw error
      this.#isWhole = false
    }
  }

  /** Throws `snapshot.diverges` where commits of a damaged ledger would be lost. */
  relation(commits: number): SnapshotRelation {
    if (commits > this.#commits) return 'extends'
    const damage = this.#damage()
    if (damage === undefined) return 'held'
    if (commits === this.#commits) return 'extends'
    const problem = `${damage}, and the snapshot lacks what follows ${commits}`
    throw ledgerError('snapshot.diverges', { problem })
  }

  #damage(): string | undefined {
    if (!this.#isWhole) return 'the ledger does not verify'
    for (let seq = 0; seq < this.#commits; seq += 1) {
      if (this.#at(seq) === undefined) return `commit ${seq} is damaged`
    }
    return undefined
  }

  /** Compares what was committed since with what was built. Throws `snapshot.diverges`. */
  async again(built: Store, commits: number): Promise<SnapshotRelation> {
    const before = this.#commits
    if (this.#store !== undefined) this.#commits = await commitsIn(this.#store, this.#keys)
    for (let seq = before; seq < Math.min(this.#commits, commits); seq += 1) {
      const text = this.#at(seq, built)
      if (text !== undefined) this.compare(seq, text)
    }
    return this.relation(commits)
  }

  #at(seq: number, store = this.#store): string | undefined {
    const key = this.#keys.commit(seq)
    try {
      const value = store?.get(key)
      return value === undefined ? undefined : unwrapText(key, value)
    } catch (error) {
      if (isTallyError(error, 'ledger.corrupt')) return undefined
      throw error
    }
  }
}

/** As many as the head says; where it is damaged, as there are. */
async function commitsIn(store: Store, keys: StoreKeys): Promise<number> {
  let last = -1
  for await (const [key] of store.entries({ ...keys.allCommits(), reverse: true, limit: 1 })) {
    last = keys.commitSeq(key)
  }
  try {
    const value = store.get(keys.head)
    const head = value === undefined ? 0 : parseHead(keys.head, unwrapText(keys.head, value)).seq
    return Math.max(head, last + 1)
  } catch (error) {
    if (!isTallyError(error, 'ledger.corrupt') && !(error instanceof SyntaxError)) throw error
    return last + 1
  }
}

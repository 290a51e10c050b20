import {
  type Hash,
  type IdentityId,
  ledgerError,
  sha256Hex,
  type TallyError
} from '../../core/index.js'
import { uncheckedForm } from '../derived/record-form.js'
import { wrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { corrupt } from '../record/record.js'
import type { KeyRange, Store } from '../stores/port.js'
import { storeAround } from '../stores/store-around.js'
import type { ArchiveReport } from './archiving-api.js'
import { type Boundary, firstBoundary, isSameBoundary } from './boundary.js'
import { checkArchive } from './check.js'
import { readHistory } from './history.js'
import { ArchiveReader } from './read.js'

type Entries = AsyncIterable<readonly [key: string, value: Uint8Array]>

/**
 * A store with what its archives hold: the ledger as if nothing had been archived, to verify or to
 * export. Every file is checked alone first, and must be the one whose hash the ledger names, in
 * their order and without gaps: nothing of another file is ever given. Nothing is written to it.
 * Throws `archive.*`, `ledger.corrupt`.
 */
export async function wholeStore(
  store: Store,
  identity: IdentityId,
  paths: readonly string[]
): Promise<Store> {
  const keys = new StoreKeys(identity)
  const history = readHistory(store, keys, uncheckedForm)
  const reports = await checked(identity, paths)
  const files = new Map<Hash, string>(reports.map(({ sha256, path }) => [sha256, path]))
  const named = history?.archives ?? []
  const ordered = named.map(({ sha256, file }) => {
    const path = files.get(sha256)
    if (path !== undefined) return path
    throw other(file, `no file with sha256 ${sha256} is given`)
  })
  const unknown = [...files].find(([sha256]) => !named.some((entry) => entry.sha256 === sha256))
  if (unknown !== undefined) throw other(unknown[1], 'the ledger does not name it')
  const boundary = history?.boundary ?? firstBoundary
  return new WholeStore(store, keys, { paths: ordered, boundary, prefers: 'store' })
}

/**
 * The source records of a ledger and of its archives: what it can be made again from when its own
 * records of what was archived are lost, or wrong. The archives then say themselves in which order
 * they stand and where they end; whether they are of this ledger, a verification of what this gives
 * says. Throws `archive.*`.
 */
export async function sourceStore(
  store: Store,
  identity: IdentityId,
  paths: readonly string[]
): Promise<Store> {
  const keys = new StoreKeys(identity)
  const reports = await checked(identity, paths)
  const ordered = reports.toSorted((one, next) => one.from.commits - next.from.commits)
  const end = ordered.at(-1)?.to ?? firstBoundary
  const files = ordered.map(({ path }) => path)
  const whole = new WholeStore(store, keys, { paths: files, boundary: end, prefers: 'archives' })
  return withoutDerived(whole, keys)
}

async function checked(
  identity: IdentityId,
  paths: readonly string[]
): Promise<readonly ArchiveReport[]> {
  const reports: ArchiveReport[] = []
  for (const path of paths) {
    const report = await checkArchive(path)
    if (report.identity !== identity) throw other(path, `it is of ${report.identity}`)
    reports.push(report)
  }
  return reports
}

function other(path: string, problem: string): TallyError {
  return ledgerError('archive.other_ledger', { path, problem })
}

interface WholeParts {
  /** In their order. */
  readonly paths: readonly string[]
  /** Where they end. */
  readonly boundary: Boundary
  /**
   * Whose bytes are given where both have them. Those of the store are compared with those of the
   * archives, so that a verification finds what is wrong with them.
   */
  readonly prefers: 'store' | 'archives'
}

class WholeStore implements Store {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #paths: readonly string[]
  readonly #boundary: Boundary
  readonly #prefers: WholeParts['prefers']
  /** Bodies that the commit names which was given last. */
  #blobs = new Map<string, Uint8Array>()

  constructor(store: Store, keys: StoreKeys, { paths, boundary, prefers }: WholeParts) {
    this.#store = store
    this.#keys = keys
    this.#paths = paths
    this.#boundary = boundary
    this.#prefers = prefers
  }

  get(key: string): Uint8Array | undefined {
    // It is whole: nothing is archived of it.
    if (key === this.#keys.archived) return undefined
    const archived = this.#blobs.get(key)
    return this.#prefers === 'archives'
      ? (archived ?? this.#store.get(key))
      : (this.#store.get(key) ?? archived)
  }

  entries(range: KeyRange): Entries {
    const { gte, lt } = this.#keys.allCommits()
    if (gte <= range.gte && range.gte < lt && range.reverse !== true) return this.#commits(range)
    const blobs = this.#keys.blobs()
    if (range.gte === blobs.gte && range.lt === blobs.lt) return this.#allBlobs()
    return this.#store.entries(range)
  }

  commit(): Promise<readonly boolean[]> {
    return Promise.reject(ledgerError('ledger.read_only', {}))
  }

  compact(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async *#commits(range: KeyRange): Entries {
    // The store is looked at as it is now, not once the files were read.
    const behind = this.#keys.commitsFrom(this.#boundary.commits)
    const live = this.#store.entries(range.gte < behind.gte ? { ...range, gte: behind.gte } : range)
    for await (const [key, value, blobs] of this.#archived()) {
      if (key < range.gte || key >= range.lt) continue
      const kept = this.#prefers === 'store' ? this.#store.get(key) : undefined
      if (kept !== undefined && Buffer.compare(kept, value) !== 0) {
        throw corrupt(key, 'it is another commit than the archive has')
      }
      this.#blobs = blobs
      yield [key, value]
    }
    this.#blobs = new Map()
    yield* live
  }

  async *#archived(): AsyncGenerator<
    readonly [key: string, value: Uint8Array, blobs: Map<string, Uint8Array>]
  > {
    let at: Boundary = firstBoundary
    for (const path of this.#paths) {
      const reader = await ArchiveReader.open(path)
      try {
        const { from, to } = reader.header
        if (!isSameBoundary(from, at)) throw other(path, 'it does not follow the one before it')
        let seq = from.commits
        let blobs = new Map<string, Uint8Array>()
        for await (const { kind, text } of reader.body()) {
          const key = kind === 'commit' ? this.#keys.commit(seq) : this.#keys.blob(sha256Hex(text))
          const value = wrapValue(key, text)
          if (kind === 'blob') {
            blobs.set(key, value)
            continue
          }
          yield [key, value, blobs]
          blobs = new Map()
          seq += 1
        }
        at = to
      } finally {
        reader.close()
      }
    }
    const { commits } = this.#boundary
    if (at.commits !== commits) throw corrupt(this.#keys.commit(at.commits), 'no archive has it')
  }

  async *#allBlobs(): Entries {
    const given = new Set<string>()
    for await (const [, , blobs] of this.#archived()) {
      for (const [key, value] of blobs) {
        if (given.has(key) || this.#store.get(key) !== undefined) continue
        given.add(key)
        yield [key, value]
      }
    }
    yield* this.#store.entries(this.#keys.blobs())
  }
}

/** A store without its derived records, and without its checkpoints. */
function withoutDerived(store: Store, keys: StoreKeys): Store {
  return storeAround(store, {
    get: (key) => (keys.isDerived(key) ? undefined : store.get(key)),
    entries: async function* (range) {
      for await (const entry of store.entries(range)) if (!keys.isDerived(entry[0])) yield entry
    }
  })
}

import { type Hash, type IdentityId, sha256Hex, TallyError } from '../../core/index.js'
import { uncheckedForm } from '../derived/record-form.js'
import { wrapValue } from '../envelope.js'
import { StoreKeys } from '../keys.js'
import { corrupt } from '../record/record.js'
import type { KeyRange, Store } from '../stores/port.js'
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
  const files = new Map<Hash, string>()
  for (const path of paths) {
    const report = await checkArchive(path)
    if (report.identity !== identity) throw other(path, `it is of ${report.identity}`)
    files.set(report.sha256, path)
  }
  const named = history?.archives ?? []
  const ordered = named.map(({ sha256, file }) => {
    const path = files.get(sha256)
    if (path !== undefined) return path
    throw other(file, `no file with sha256 ${sha256} is given`)
  })
  const unknown = [...files].find(([sha256]) => !named.some((entry) => entry.sha256 === sha256))
  if (unknown !== undefined) throw other(unknown[1], 'the ledger does not name it')
  return new WholeStore(store, keys, ordered, history?.boundary ?? firstBoundary)
}

function other(path: string, problem: string): TallyError {
  return new TallyError('archive.other_ledger', { path, problem })
}

class WholeStore implements Store {
  readonly #store: Store
  readonly #keys: StoreKeys
  readonly #paths: readonly string[]
  readonly #boundary: Boundary
  /** Bodies that the commit names which was given last. */
  #blobs = new Map<string, Uint8Array>()

  constructor(store: Store, keys: StoreKeys, paths: readonly string[], boundary: Boundary) {
    this.#store = store
    this.#keys = keys
    this.#paths = paths
    this.#boundary = boundary
  }

  get(key: string): Uint8Array | undefined {
    // It is whole: nothing is archived of it.
    if (key === this.#keys.archived) return undefined
    return this.#store.get(key) ?? this.#blobs.get(key)
  }

  entries(range: KeyRange): Entries {
    const { gte, lt } = this.#keys.allCommits()
    if (gte <= range.gte && range.gte < lt && range.reverse !== true) return this.#commits(range)
    const blobs = this.#keys.blobs()
    if (range.gte === blobs.gte && range.lt === blobs.lt) return this.#allBlobs()
    return this.#store.entries(range)
  }

  commit(): Promise<readonly boolean[]> {
    return Promise.reject(new TallyError('ledger.read_only', {}))
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
      const kept = this.#store.get(key)
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

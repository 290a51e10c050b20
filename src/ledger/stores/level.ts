/**
 * The LevelDB driver.
 *
 * Owns one LevelDB directory, its lock and the order of commits. Does not own checksums (the
 * envelope does), the registry of open directories (location does) or poisoning (the ledger does).
 *
 * - S1 A commit lies in one chained batch with `sync: true`.
 * - S2 One batch is written at a time. Commits that come meanwhile are collected in their order and
 *   written as the next one: as many identities as commit at once wait for one sync.
 * - S3 What a condition names is read once: the lock keeps every other process from changing it.
 *   Where it cannot be read, that commit alone fails.
 * - S5 LevelDB continues after a failed append and loses what it acknowledges later; so after the
 *   first failed write this driver refuses every other, and each commit of that batch hears it.
 * - L4 Nothing is created unless `create` says so: LevelDB takes a missing CURRENT for a new
 *   database and deletes the tables of the old one.
 */
import { mkdir, readdir } from 'node:fs/promises'
import type { Level } from 'level'
import { isError, ledgerError, type TallyError } from '../../core/index.js'
import { Conditions } from './conditions.js'
import { openError, readError, writeError } from './level-errors.js'
import type { KeyRange, Store, StoreItem } from './port.js'

/**
 * Opens a LevelDB directory.
 * With `create`, the directory must be absent or empty.
 * Throws `ledger.not_found`, `ledger.exists`, `ledger.locked`, `ledger.corrupt`,
 * `store.open_failed`.
 */
export async function openLevelStore({
  path,
  create
}: {
  readonly path: string
  readonly create: boolean
}): Promise<Store> {
  if (create) {
    if ((await filesOf(path)).length > 0) throw ledgerError('ledger.exists', { path })
    await mkdir(path, { recursive: true, mode: 0o700 })
  } else await checkCurrent(path)
  const database = await newDatabase(path, { createIfMissing: create, errorIfExists: create })
  try {
    await database.open()
  } catch (error) {
    throw openError(path, error)
  }
  return new LevelStore(path, database)
}

/**
 * Throws `ledger.locked` while another process has the directory open, and what
 * {@link openLevelStore} throws of a directory without a database. LevelDB takes its lock before it
 * looks whether there is a database, so an open that must not find one reports the lock and
 * recovers nothing.
 */
export async function probeLevelLock(path: string): Promise<void> {
  await checkCurrent(path)
  const database = await newDatabase(path, { createIfMissing: false, errorIfExists: true })
  try {
    await database.open()
  } catch (error) {
    const refusal = openError(path, error)
    if (refusal.code === 'ledger.locked') throw refusal
    return
  }
  await database.close()
}

/**
 * Makes manifest and tables of a damaged directory anew, of what of them can be read. It writes in
 * the directory, and what it drops is gone: give it a copy. Rejects where nothing can be read.
 */
export async function repairLevelDirectory(path: string): Promise<void> {
  const { Level } = await import('level')
  await (Level as unknown as { repair(path: string): Promise<void> }).repair(path)
}

async function checkCurrent(path: string): Promise<void> {
  const files = await filesOf(path)
  if (files.includes('CURRENT')) return
  if (!files.some((file) => file.startsWith('MANIFEST') || file.endsWith('.ldb'))) {
    throw ledgerError('ledger.not_found', { path })
  }
  throw ledgerError('ledger.corrupt', { key: path, problem: 'the file CURRENT is missing' })
}

/** The library is loaded here: a program that imports tallystick may never open a directory. */
async function newDatabase(
  path: string,
  how: { readonly createIfMissing: boolean; readonly errorIfExists: boolean }
): Promise<Database> {
  const { Level } = await import('level')
  return new Level<string, Uint8Array>(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    writeBufferSize: WRITE_BUFFER_BYTES,
    ...how
  }) as Database
}

/** What `level` is in Node; its own types describe what it shares with browsers. */
type Database = Level<string, Uint8Array> & {
  compactRange(start: string, end: string): Promise<void>
}

/**
 * Twice LevelDB's own: what is written is sorted into tables half as often, which is a third of its
 * work. More makes a ledger that was not closed slow to open.
 */
const WRITE_BUFFER_BYTES = 8 * 1024 * 1024

/** A batch takes no further commit once it has so many bytes: LevelDB copies it as a whole. */
const BATCH_BYTES = 4 * 1024 * 1024

const SYNCED: object = { sync: true }

/**
 * Entries that cross from LevelDB in one call, and the bytes after which a call ends early. Larger
 * pages cost more than the calls that they save: fresh memory for all of their values.
 */
const PAGE_ENTRIES = 1_000
const PAGE_BYTES = 256 * 1024

/**
 * `getSync` writes a text key into a buffer that it keeps, and takes a key that did not fit for a
 * shorter one unless the cut falls between two characters. So the buffer is made large at once (it
 * never shrinks), and a key that might not fit goes the other way, as bytes.
 */
const KEY_BUFFER_BYTES = 4_096
/** Most bytes of UTF-8 that one UTF-16 unit takes. */
const UTF8_BYTES_MAX = 3
const BINARY_KEY = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

interface WaitingCommit {
  readonly items: readonly StoreItem[]
  readonly resolve: (applies: readonly boolean[]) => void
  readonly reject: (error: unknown) => void
}

class LevelStore implements Store {
  readonly #path: string
  readonly #database: Database
  /** Commits that no batch has yet, in the order of the calls. */
  #waiting: WaitingCommit[] = []
  /** Resolves when nothing waits any more. */
  #writing: Promise<void> | undefined
  readonly #conditions = new Conditions((key) => this.#read(key))
  #failed = false
  #open = true

  constructor(path: string, database: Database) {
    this.#path = path
    this.#database = database
    database.getSync('k'.repeat(KEY_BUFFER_BYTES))
  }

  get(key: string): Uint8Array | undefined {
    this.#check()
    return this.#read(key)
  }

  #read(key: string): Uint8Array | undefined {
    try {
      if (key.length <= KEY_BUFFER_BYTES / UTF8_BYTES_MAX) return this.#database.getSync(key)
      return this.#database.getSync(Buffer.from(key), BINARY_KEY)
    } catch (error) {
      throw readError(this.#path, key, error)
    }
  }

  entries(range: KeyRange): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    this.#check()
    const { gte, lt, reverse = false, limit = -1 } = range
    const iterator = this.#database.iterator({
      gte,
      lt,
      reverse,
      limit,
      highWaterMarkBytes: PAGE_BYTES
    })
    return pages(iterator, (error) => readError(this.#path, gte, error))
  }

  commit(items: readonly StoreItem[]): Promise<readonly boolean[]> {
    if (!this.#open) return Promise.reject(this.#closed())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  async compact(): Promise<void> {
    this.#check()
    await this.#database.compactRange('', '\u{10ffff}')
  }

  async close(): Promise<void> {
    this.#open = false
    await this.#writing
    try {
      await this.#database.close()
    } catch (error) {
      throw writeError(this.#path, error)
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#write(this.#take())
    this.#writing = undefined
  }

  #take(): readonly WaitingCommit[] {
    let bytes = 0
    const isFull = ({ items }: WaitingCommit) => {
      const isOver = bytes >= BATCH_BYTES
      bytes += bytesOf(items)
      return isOver
    }
    const full = this.#waiting.length === 1 ? -1 : this.#waiting.findIndex(isFull)
    return this.#waiting.splice(0, full === -1 ? this.#waiting.length : full)
  }

  /** Rejects with nothing: each commit hears for itself what came of it. */
  async #write(commits: readonly WaitingCommit[]): Promise<void> {
    const written: (() => void)[] = []
    try {
      if (this.#failed) throw new Error('an earlier write failed')
      const batch = this.#database.batch()
      this.#conditions.begin(commits.map(({ items }) => items))
      for (const { items, resolve, reject } of commits) {
        const applies = this.#judge(items, reject)
        if (applies === undefined) continue
        items.forEach((item, index) => {
          if (!applies[index]) return
          for (const [key, value] of item.puts) batch.put(key, value)
          for (const key of item.deletes) batch.del(key)
        })
        written.push(() => resolve(applies))
      }
      await batch.write(SYNCED)
    } catch (error) {
      this.#failed = true
      for (const { reject } of commits) reject(writeError(this.#path, error))
      return
    }
    for (const resolve of written) resolve()
  }

  #judge(
    items: readonly StoreItem[],
    reject: (error: unknown) => void
  ): readonly boolean[] | undefined {
    try {
      return this.#conditions.judge(items)
    } catch (error) {
      reject(error)
      return undefined
    }
  }

  #check(): void {
    if (!this.#open) throw this.#closed()
  }

  #closed(): TallyError {
    return ledgerError('store.closed', { path: this.#path })
  }
}

function bytesOf(items: readonly StoreItem[]): number {
  let bytes = 0
  for (const { puts } of items) for (const [, value] of puts) bytes += value.byteLength
  return bytes
}

interface PagedIterator {
  nextv(size: number): Promise<readonly (readonly [key: string, value: Uint8Array])[]>
  close(): Promise<void>
}

async function* pages(
  iterator: PagedIterator,
  translate: (error: unknown) => Error
): AsyncGenerator<readonly [key: string, value: Uint8Array]> {
  try {
    // LevelDB reads the next page on its thread while this one is used.
    let next = iterator.nextv(PAGE_ENTRIES)
    for (;;) {
      const page = await next
      if (page.length === 0) return
      next = iterator.nextv(PAGE_ENTRIES)
      // The next iteration throws a failure; an iteration that stops has no use for it.
      next.catch(() => undefined)
      yield* page
    }
  } catch (error) {
    throw translate(error)
  } finally {
    await iterator.close()
  }
}

async function filesOf(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (isError(error) && 'code' in error && error.code === 'ENOENT') return []
    throw openError(path, error)
  }
}

import { readFileSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorNumber, type IdentityId, limits, type Random } from '../../core/index.js'
import type { SubjectId, SubjectKeys } from '../subject/subject-keys.js'
import { createFile, syncDirectory } from './durable-file.js'

const DIRECTORY = 'subjects'
const KEY_BYTES = 32
const keyText = /^[0-9a-f]{64}\n$/

/**
 * Keys of subjects as files beside the ledger: `subjects/<identity>/<id>`, 64 hex digits and a line
 * break, mode 0600. Not in the store, which keeps what it has removed until it is compacted.
 *
 * Owns: the files, and a few keys that were read. A file that is malformed is no key.
 */
export class SubjectKeyFiles implements SubjectKeys {
  readonly #directory: string
  readonly #random: Random
  readonly #known = new Map<SubjectId, Uint8Array>()

  constructor(location: string, identity: IdentityId, random: Random) {
    this.#directory = join(location, DIRECTORY, identity)
    this.#random = random
  }

  get(id: SubjectId): Uint8Array | undefined {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const text = readNow(this.#pathOf(id))
    if (text === undefined || !keyText.test(text)) return undefined
    const key = Buffer.from(text.slice(0, 2 * KEY_BYTES), 'hex')
    if (this.#known.size >= limits.SUBJECT_KEYS_KEPT) this.#known.clear()
    this.#known.set(id, key)
    return key
  }

  async create(id: SubjectId): Promise<void> {
    if (this.get(id) !== undefined) return
    await makeDirectory(this.#directory)
    const key = Buffer.from(this.#random.bytes(KEY_BYTES)).toString('hex')
    try {
      await createFile(this.#pathOf(id), `${key}\n`)
    } catch (error) {
      if (errorNumber(error) !== 'EEXIST') throw error
    }
  }

  /** With what a process that was killed while it made the key has left of it. */
  async destroy(id: SubjectId): Promise<void> {
    this.#known.get(id)?.fill(0)
    this.#known.delete(id)
    const names = await namesIn(this.#directory)
    // Itself the last: as long as it is there, somebody knows that more may be.
    const left = names
      .filter((name) => name.startsWith(id))
      .sort()
      .reverse()
    for (const name of left) await rm(join(this.#directory, name), { force: true })
    if (left.length > 0) await syncDirectory(this.#directory)
  }

  #pathOf(id: SubjectId): string {
    return join(this.#directory, id)
  }
}

async function makeDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  await syncDirectory(dirname(path))
  await syncDirectory(dirname(dirname(path)))
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (errorNumber(error) === 'ENOENT') return []
    throw error
  }
}

function readNow(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorNumber(error) === 'ENOENT' || errorNumber(error) === 'ENOTDIR') return undefined
    throw error
  }
}

import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorNumber, type IdentityId, isIdentityId } from '../../core/index.js'
import { syncDirectory } from '../../ledger/index.js'

const DIRECTORY = 'awake'
const dueText = /^[1-9][0-9]{0,15}$/

/** When an identity is to be opened again: at once, since it was open; or at a time. */
export type WakeTime = 'now' | number

/**
 * Which identities of a location have timers or interrupted runs: empty files beside the ledger,
 * `awake/<identity>` of one that is open, or was when its process died, and
 * `awake/<identity>.<milliseconds since 1970>` of one that was closed with a timer.
 *
 * Owns: the files. Does not own any fact of the ledger: what is to be done, its runs say. A mark
 * too many costs one opening. Where marks are removed, work waits until its identity is asked for.
 *
 * - L17 The mark of an identity is durable before anything of it can be acknowledged.
 */
export class AwakeMarks {
  readonly #directory: string
  /** Names of the files. */
  readonly #names = new Map<IdentityId, string>()

  private constructor(realPath: string) {
    this.#directory = join(realPath, DIRECTORY)
  }

  /**
   * Reads the marks of a location. Where there have never been any, `all` have been opened without:
   * each is to be looked at once.
   */
  static async read(realPath: string, all: readonly IdentityId[]): Promise<AwakeMarks> {
    const marks = new AwakeMarks(realPath)
    const isFirst = (await mkdir(marks.#directory, { recursive: true, mode: 0o700 })) !== undefined
    if (isFirst) for (const identity of all) await marks.#create(identity)
    if (isFirst) await syncDirectory(marks.#directory)
    if (isFirst) await syncDirectory(dirname(marks.#directory))
    for (const name of await readdir(marks.#directory)) {
      const mark = markIn(name)
      // Of two the sooner one: a rename leaves one, and what others have copied here is looked at.
      if (mark === undefined || marks.timeOf(mark.identity) === 'now') continue
      marks.#names.set(mark.identity, name)
    }
    return marks
  }

  /** Identities with a mark, and when they are to be opened. */
  *times(): Generator<readonly [IdentityId, WakeTime]> {
    for (const [identity, name] of this.#names) yield [identity, markIn(name)?.time ?? 'now']
  }

  timeOf(identity: IdentityId): WakeTime | undefined {
    const name = this.#names.get(identity)
    return name === undefined ? undefined : markIn(name)?.time
  }

  /** Resolves when it is durable that the identity is open. */
  async opened(identity: IdentityId): Promise<void> {
    const name = this.#names.get(identity)
    if (name === identity) return
    if (name === undefined) await this.#create(identity)
    else await this.#rename(name, identity)
    this.#names.set(identity, identity)
    await syncDirectory(this.#directory)
  }

  /**
   * The identity was closed, and has nothing left to do before `due`; undefined: until it is asked.
   * Not synced: the mark of before only has it opened once more.
   */
  async closed(identity: IdentityId, due: number | undefined): Promise<void> {
    const name = this.#names.get(identity) ?? identity
    if (due === undefined) {
      await rm(join(this.#directory, name), { force: true })
      this.#names.delete(identity)
      return
    }
    const next = `${identity}.${Math.max(1, Math.ceil(due))}`
    await this.#rename(name, next)
    this.#names.set(identity, next)
  }

  async #create(identity: IdentityId): Promise<void> {
    await createMark(this.#directory, identity)
    this.#names.set(identity, identity)
  }

  async #rename(from: string, to: string): Promise<void> {
    try {
      await rename(join(this.#directory, from), join(this.#directory, to))
    } catch (error) {
      if (errorNumber(error) !== 'ENOENT') throw error
      await createMark(this.#directory, to)
    }
  }
}

/** Has the next one who opens a location for many look at an identity, before it is used. */
export async function markAwake(realPath: string, identity: IdentityId): Promise<void> {
  const directory = join(realPath, DIRECTORY)
  try {
    await createMark(directory, identity)
  } catch (error) {
    // Where there is no directory yet, all of them are looked at.
    if (errorNumber(error) === 'ENOENT') return
    throw error
  }
  await syncDirectory(directory)
}

async function createMark(directory: string, name: string): Promise<void> {
  await (await open(join(directory, name), 'a', 0o600)).close()
}

function markIn(
  name: string
): { readonly identity: IdentityId; readonly time: WakeTime } | undefined {
  const [identity, due, ...rest] = name.split('.')
  if (!isIdentityId(identity) || rest.length > 0) return undefined
  if (due === undefined) return { identity, time: 'now' }
  return dueText.test(due) ? { identity, time: Number(due) } : undefined
}

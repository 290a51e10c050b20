import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  canonicalize,
  errorNumber,
  ledgerError,
  limits,
  type Random,
  systemClock,
  systemRandom,
  type TallyError
} from '../../core/index.js'
import { OWNER_FILE, OWNER_FILE_FORMAT } from '../../owner/index.js'

/**
 * The owner file of a location (store.md), `owner.json`: who opened it last.
 *
 *   {"command":"node server.js","format":"tally-owner-file","nonce":"<32 hex>","process":4711,
 *    "since":1790000000000,"socket":"/run/…/tally-….sock"}
 *
 * `command` and `since` (milliseconds) are for people who find the ledger in use; files of 0.1.0
 * have neither.
 *
 * Owns: the file while its nonce is ours, and a descriptor of it. Does not own: LevelDB's lock and
 * the socket, which refuse a second process where both see the same kernel and runtime directory.
 *
 * Invariants:
 * - L13 The file is replaced before the store is opened and read afresh before each batch, past any
 *   cache of the store: a writer whose file was replaced or removed writes nothing more.
 * - L13 A batch is acknowledged only if the file was still ours after its sync. The process that
 *   replaced it opens the store later, and so finds every batch that was acknowledged.
 * - A file that is left behind means nothing: only its replacement does.
 */
export class OwnerFile {
  readonly #path: string
  readonly #bytes: Buffer
  readonly #read = Buffer.alloc(limits.OWNER_FILE_BYTES_MAX)
  readonly #descriptor: number
  #isHeld = true

  private constructor(path: string, bytes: Buffer, descriptor: number) {
    this.#path = path
    this.#bytes = bytes
    this.#descriptor = descriptor
  }

  /** Replaces the owner file of a location. Throws `ledger.locked` when another does it now. */
  static async take(
    realPath: string,
    {
      socket,
      command,
      random = systemRandom
    }: { readonly socket: string; readonly command: string; readonly random?: Random }
  ): Promise<OwnerFile> {
    const path = join(realPath, OWNER_FILE)
    const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex')
    const since = systemClock.now()
    const format = OWNER_FILE_FORMAT
    const holder = { command, format, nonce, process: process.pid, since, socket }
    const text = `${canonicalize(holder)}\n`
    const temporary = `${path}.new`
    try {
      await rm(temporary, { force: true })
      await writeFile(temporary, text, { flag: 'wx', mode: 0o600 })
      await rename(temporary, path)
    } catch (error) {
      throw refusalOf(error, realPath)
    }
    const descriptor = openSync(path, constants.O_RDONLY)
    return new OwnerFile(path, Buffer.from(text), descriptor)
  }

  /** Throws `ledger.fenced` unless the file is still ours, as it is on the medium now. */
  check(): void {
    if (!this.#isHeld || !this.#isOurs()) this.#refuse()
  }

  /** Whether our file still has its name: {@link OwnerFile.check} for one system call. */
  checkName(): void {
    if (!this.#isHeld || fstatSync(this.#descriptor).nlink === 0) this.#refuse()
  }

  /** Removes the file if it is still ours. */
  async release(): Promise<void> {
    if (!this.#isHeld) return
    const isOurs = this.#isOurs()
    this.#isHeld = false
    closeSync(this.#descriptor)
    if (isOurs) await rm(this.#path, { force: true })
  }

  #isOurs(): boolean {
    let descriptor: number
    try {
      descriptor = openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK)
    } catch (error) {
      if (errorNumber(error) === 'ENOENT') return false
      throw error
    }
    try {
      const length = readSync(descriptor, this.#read, 0, this.#read.length, 0)
      return this.#read.subarray(0, length).equals(this.#bytes)
    } finally {
      closeSync(descriptor)
    }
  }

  #refuse(): never {
    throw ledgerError('ledger.fenced', { ledger: this.#path })
  }
}

const NONCE_BYTES = 16

function refusalOf(error: unknown, path: string): TallyError {
  const kind = errorNumber(error)
  const options = { cause: error }
  // Its temporary name is the same for all: of two that open at once one may find it gone.
  if (kind === 'EEXIST' || kind === 'ENOENT') {
    return ledgerError('ledger.locked', { path, problem: 'another process opens it' }, options)
  }
  const problem = `its owner file cannot be written (${kind})`
  return ledgerError('store.open_failed', { path, problem }, options)
}

import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  canonicalize,
  type Hash,
  type IdentityId,
  type Json,
  type JsonObject,
  runtimeError
} from '../../core/index.js'
import { type KeptPlace, type Ledger, readIfPresent, replaceFile } from '../../ledger/index.js'
import { encodeLock, type IntegrityRecord, parseLock } from './integrity-record.js'

/** Why a ledger is not the one that its lock was written for. */
export interface IntegrityCause {
  readonly code: 'runtime.integrity_lock' | 'runtime.rolled_back'
  readonly message: string
}

/**
 * The integrity lock of a ledger (K10): a small file beside the data, over head root and installed
 * code, with a code that only the holder of the identity's blob key can make.
 *
 * Owns: the file. Does not own: the mode of the ledger, or what is installed.
 *
 * - K10 It is written after installs and at close, of what is durable, and compared at open: the
 *   ledger must be at that position, or continue it. A data directory put back to an earlier time
 *   is found by it; one that was put back together with its lock is found by notes alone (P5).
 */
export class IntegrityLock {
  readonly #ledger: Ledger
  #kept: Promise<void> = Promise.resolve()
  readonly #path: string | undefined
  /** Given, not imported: a reader of a ledger loads this file, and no kernel. */
  readonly #kernel: string
  readonly #code = (hash: Hash): Hash => this.#ledger.authenticate(hash)
  readonly #codeHashes: () => Promise<Readonly<Record<string, string>>>
  /** Without the key the lock is compared, and its code is not. */
  readonly isKeyed: boolean

  constructor(options: {
    readonly ledger: Ledger
    /** Version of the kernel's rules. */
    readonly kernel: string
    /** Undefined in memory: then there is nothing to compare with. */
    readonly realPath: string | undefined
    readonly codeHashes: () => Promise<Readonly<Record<string, string>>>
    /** Default true. */
    readonly isKeyed?: boolean
  }) {
    const { ledger, kernel, realPath, codeHashes, isKeyed = true } = options
    this.#ledger = ledger
    this.#kernel = kernel
    this.#path = realPath === undefined ? undefined : lockPath(realPath, ledger.identity)
    this.#codeHashes = codeHashes
    this.isKeyed = isKeyed
  }

  /** What is wrong; undefined when nothing is, or when there is no lock yet. */
  async check(): Promise<IntegrityCause | undefined> {
    const text = this.#path === undefined ? undefined : await readIfPresent(this.#path)
    if (text === undefined) return undefined
    const record = parseLock(text)
    const isOurs =
      record !== undefined && (!this.isKeyed || encodeLock(record, this.#code) === text)
    if (record !== undefined && isOurs) {
      const rollback = rollbackOf(record, this.#ledger.state().receipts)
      return rollback ?? (await this.#difference(record))
    }
    const differing = record === undefined ? [] : await this.#differing(record)
    const members = differing.length === 0 ? '' : `, and differs in ${differing.join(', ')}`
    return causeOf('runtime.integrity_lock', `the lock itself was changed${members}`)
  }

  /** What a verification compares the chain with; undefined where there is no lock. */
  async kept(): Promise<KeptPlace | undefined> {
    return this.#path === undefined ? undefined : keptAt(this.#path, this.#code)
  }

  async #difference(record: IntegrityRecord): Promise<IntegrityCause | undefined> {
    const { receipts, receiptHash, headRoot, codeHashes, kernel } = record
    const wrong = (problem: string) => causeOf('runtime.integrity_lock', problem)
    if (Number(kernel) > Number(this.#kernel)) {
      return wrong(`version ${kernel} of the kernel wrote it, and this is ${this.#kernel}`)
    }
    const { boundary } = this.#ledger.archiving.history ?? {}
    if (boundary !== undefined && receipts <= boundary.receipts) {
      // What archives have is compared where it ends; a lock of earlier times says nothing more.
      const isSame = receipts < boundary.receipts || receiptHash === boundary.receiptHash
      return isSame ? undefined : wrong(`receipt ${receipts - 1} is another one`)
    }
    const last = receipts === 0 ? null : await this.#ledger.receipt(receipts - 1)
    const actual = last?.receipt.receiptHash ?? null
    if (actual !== receiptHash) {
      return wrong(`receipt ${receipts - 1} is ${actual ?? 'missing'}, and was ${receiptHash}`)
    }
    // After a crash the ledger has gone on from where the lock was written.
    if (this.#ledger.state().receipts !== receipts) return undefined
    const { head } = this.#ledger.roots()
    if (head === headRoot) return undefined
    const installed = canonicalize(await this.#codeHashes())
    const before = canonicalize(codeHashes)
    const code =
      !this.isKeyed || installed === before ? '' : `; installed is ${installed}, and was ${before}`
    return wrong(`the head root is ${head}, and was ${headRoot}${code}`)
  }

  /** Members of a lock that are not as the ledger has them now. */
  async #differing(record: IntegrityRecord): Promise<readonly string[]> {
    const now: Readonly<Record<string, Json>> = {
      receipts: this.#ledger.state().receipts,
      receiptHash: this.#ledger.head(),
      headRoot: this.#ledger.roots().head,
      codeHashes: await this.#codeHashes()
    }
    const before = record as unknown as JsonObject
    return Object.keys(now).filter(
      (name) => canonicalize(now[name] ?? null) !== canonicalize(before[name] ?? null)
    )
  }

  /** Notes where the ledger stands now, once that is durable; nothing in safe mode. */
  keep(): Promise<void> {
    // One at a time: two writers would take each other's file away, and the older could win.
    const kept = this.#kept.then(() => this.#keep())
    this.#kept = kept.catch(() => undefined)
    return kept
  }

  async #keep(): Promise<void> {
    const { mode, receipts } = this.#ledger.state()
    if (this.#path === undefined || mode === 'safe' || mode === 'poisoned') return
    const receiptHash = this.#ledger.head()
    const headRoot = this.#ledger.roots().head
    // A lock that is ahead of the disk would say of a crash that the ledger was put back.
    if (mode !== 'closed') await this.#ledger.logHashes()
    const codeHashes = await this.#codeHashes()
    const kernel = this.#kernel
    const record = { kernel, receipts, receiptHash, headRoot, codeHashes } as const
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    await replaceFile(this.#path, encodeLock(record, this.#code))
  }
}

function lockPath(realPath: string, identity: IdentityId): string {
  return join(realPath, 'integrity', `${identity}.json`)
}

function rollbackOf({ receipts }: IntegrityRecord, actual: number): IntegrityCause | undefined {
  if (actual >= receipts) return undefined
  return causeOf('runtime.rolled_back', `${receipts} receipts were there, and ${actual} are left`)
}

function causeOf(code: IntegrityCause['code'], problem: string): IntegrityCause {
  return { code, message: runtimeError(code, { problem }).message }
}

/**
 * What the lock of a location says of a ledger with so many receipts, without the key: for tools
 * that only read. Undefined when there is no lock or nothing is wrong as far as can be seen.
 */
export async function readRollback(
  realPath: string,
  ledger: { readonly identity: IdentityId; readonly receipts: number }
): Promise<IntegrityCause | undefined> {
  const text = await readIfPresent(lockPath(realPath, ledger.identity))
  const record = text === undefined ? undefined : parseLock(text)
  return record === undefined ? undefined : rollbackOf(record, ledger.receipts)
}

/** {@link IntegrityLock.kept} of a location; without the key its code is not checked. */
export function readKept(
  realPath: string,
  identity: IdentityId,
  key: { authenticate(hash: Hash): Hash } | undefined
): Promise<KeptPlace | undefined> {
  return keptAt(lockPath(realPath, identity), key && ((hash) => key.authenticate(hash)))
}

async function keptAt(
  path: string,
  code: ((hash: Hash) => Hash) | undefined
): Promise<KeptPlace | undefined> {
  const text = await readIfPresent(path)
  if (text === undefined) return undefined
  const record = parseLock(text)
  if (record === undefined) return null
  return code === undefined || encodeLock(record, code) === text ? record : null
}

/** Takes the lock away: the next one who opens the ledger for writing makes a new one. */
export async function dropLock(realPath: string, identity: IdentityId): Promise<void> {
  await rm(lockPath(realPath, identity), { force: true })
}

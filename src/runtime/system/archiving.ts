import { resolve } from 'node:path'
import {
  type Clock,
  checkSafeMode,
  coreError,
  type Hash,
  isHash,
  isTallyError,
  type JsonObject,
  ledgerError,
  type RunId,
  runtimeError
} from '../../core/index.js'
import { doneReply, type IntentReply, KERNEL_ID } from '../../intent/index.js'
import {
  type ArchivedHistory,
  type ArchiveProgress,
  type Ledger,
  type OnArchiveProgress,
  type QuarantineMark,
  signedHistory
} from '../../ledger/index.js'
import type { AskedIntent } from '../gate/asked-intent.js'
import { refusal } from '../gate/refusal.js'
import type { ArchiveOptions, ArchiveResult } from './archive-options.js'
import type { ArchiveKeeper, ArchivePolicy } from './archive-policy.js'

const ACTION = 'system.archive'
/** Digits of the identity in the name of a file. */
const NAME_LENGTH = 8

/** What archiving needs of the runtime. */
export interface ArchivesParts {
  readonly ledger: Ledger
  /** Runs that came out otherwise when they were executed again: they stay. */
  quarantined(): readonly QuarantineMark[]
  /** Has the intent done in the name of the owner. */
  submit(id: RunId, payload: JsonObject): Promise<IntentReply>
  /** Notes where the ledger stands in the integrity lock (K10). */
  keepLock(): Promise<void>
}

/**
 * `system.archive`: `{ path, before? or through? }`, a file on the machine of the ledger. The
 * owner's only (K13).
 *
 * Owns: which archiving is under way; there is one at a time. Does not own: what is written and
 * removed, which is the ledger's.
 *
 * - G1 The file is written, read back and verified; then the receipt names it; then what it has is
 *   removed. A crash between leaves a whole ledger, or one that goes on with removing.
 */
export class Archives {
  readonly #parts: ArchivesParts
  #last: Promise<unknown> = Promise.resolve()
  readonly #closing = new AbortController()
  #keeper: ArchiveKeeper | undefined
  readonly #given = new Map<RunId, { readonly options: ArchiveOptions; error?: unknown }>()

  constructor(parts: ArchivesParts) {
    this.#parts = parts
  }

  /** Archives in the name of the owner. Rejects with what stood in the way. */
  async archive(id: RunId, options: ArchiveOptions): Promise<ArchiveResult> {
    const given: { readonly options: ArchiveOptions; error?: unknown } = { options }
    this.#given.set(id, given)
    try {
      const { path, before, through } = options
      const reply = await this.#parts.submit(id, {
        path,
        ...(before === undefined ? {} : { before: timeOf(before) }),
        ...(through === undefined ? {} : { through })
      })
      if (given.error !== undefined) throw given.error
      if (reply.type === 'error') {
        checkSafeMode(reply)
        throw ledgerError('archive.unwritable', { path, problem: reply.message })
      }
      const { archives } = this.#parts.ledger.archiving.history ?? { archives: [] }
      const entry = archives.at(-1)
      if (reply.type !== 'dapp' || entry === undefined) {
        throw coreError('core.internal', { problem: 'an archive ended without a receipt' })
      }
      return { ...entry, path: resolve(path), receiptHash: (reply.receipt ?? null) as Hash | null }
    } finally {
      this.#given.delete(id)
    }
  }

  /** Archives by itself from now on. Throws `runtime.invalid_archive`. */
  async keep(policy: ArchivePolicy, clock: Clock, newId: () => string): Promise<void> {
    const { ArchiveKeeper } = await import('./archive-policy.js')
    const { ledger } = this.#parts
    const name = () => {
      const from = ledger.archiving.history?.boundary.commits ?? 0
      return `${ledger.identity.slice(0, NAME_LENGTH)}-${from}`
    }
    const archive = (options: ArchiveOptions) => this.archive(newId() as RunId, options)
    this.#keeper = new ArchiveKeeper({ clock, name, archive }, policy)
    this.#keeper.begin()
  }

  /** Resolves when nothing is being archived. */
  async settled(): Promise<void> {
    await this.#keeper?.settled()
    await this.#last
  }

  warnings(): readonly string[] {
    return this.#keeper?.warnings() ?? []
  }

  /** Goes on with what an earlier process has begun. */
  async resume(): Promise<void> {
    const { ledger } = this.#parts
    const { mode } = ledger.state()
    if (mode !== 'ready') return
    const isDone = (runId: RunId) => ledger.run(runId)?.status === 'done'
    await ledger.archiving.resume(isDone, this.#held())
  }

  async act(asked: AskedIntent): Promise<IntentReply> {
    const { id, intent } = asked
    const done = this.#last.then(() => this.#act(asked))
    this.#last = done.catch(() => undefined)
    try {
      return await done
    } catch (error) {
      const given = this.#given.get(id)
      if (given !== undefined) given.error = error
      if (!isTallyError(error) && given === undefined) throw error
      const { code, message, fix } = isTallyError(error)
        ? error
        : { code: 'aborted', message: 'it was called off', fix: 'Archive again.' }
      return refusal(id, intent.action, 'not_archived', { problem: message, code, fix })
    }
  }

  /**
   * Calls off what is under way, and waits for its end: before the receipt nothing has happened,
   * and behind it removing goes on at the next opening.
   */
  async close(): Promise<void> {
    this.#closing.abort(runtimeError('runtime.closed', {}))
    await this.#keeper?.close()
    await this.#last
  }

  async #act({ id, intent, go }: AskedIntent): Promise<IntentReply> {
    const { ledger } = this.#parts
    const earlier = ledger.run(id)
    if (earlier !== undefined) return this.#earlier(id)
    const end = await this.#endOf(intent.payload)
    if (end === undefined) {
      const problem = 'it takes { path } and one of { before } and { through }'
      return refusal(id, ACTION, 'invalid_input', { problem })
    }
    const { signal, onProgress } = this.#given.get(id)?.options ?? {}
    const { archiving } = ledger
    const told = (progress: ArchiveProgress) => {
      if (progress.phase !== 'removing') signal?.throwIfAborted()
      this.#closing.signal.throwIfAborted()
      onProgress?.(progress)
    }
    signal?.throwIfAborted()
    const to = await archiving.end(end.end)
    const { history } = await archiving.write(resolve(end.path), to, told)
    signal?.throwIfAborted()
    await archiving.begin({ history, runId: id })
    let reply: IntentReply
    try {
      reply = await go(signedHistory(history))
    } catch (error) {
      if (ledger.state().mode === 'ready' && !ledger.hasRun(id)) await archiving.abandon()
      throw error
    }
    if (reply.type !== 'dapp') {
      await archiving.abandon()
      return reply
    }
    await this.#finish(history, told)
    await this.#parts.keepLock()
    return reply
  }

  async #finish(history: ArchivedHistory, told: OnArchiveProgress): Promise<void> {
    try {
      await this.#parts.ledger.archiving.finish(history, this.#held(), told)
    } catch (error) {
      // The archive is part of the ledger: what is left to remove is removed at the next opening.
      if (error !== this.#closing.signal.reason) throw error
    }
  }

  /** The same id is the same archive (L6). */
  async #earlier(id: RunId): Promise<IntentReply> {
    const record = this.#parts.ledger.run(id)
    const { data = null } = (record?.last['response'] ?? {}) as { readonly data?: never }
    if (record?.status === 'done' && record.started['name'] === ACTION) {
      return doneReply({ id, dappId: KERNEL_ID, receipt: null, result: data })
    }
    return refusal(id, ACTION, 'id_reused', { problem: 'another intent has this id' })
  }

  async #endOf({ path, before, through, ...rest }: JsonObject) {
    if (typeof path !== 'string' || path === '' || Object.keys(rest).length > 0) return undefined
    if (typeof before === 'number' && through === undefined) return { path, end: { before } }
    if (before !== undefined) return undefined
    if (!isHash(through) && typeof through !== 'number') return undefined
    const stored = await this.#parts.ledger.receipt(through)
    if (stored === undefined) throw ledgerError('receipt.not_found', { which: through })
    return { path, end: { throughCommit: stored.commitSeq } }
  }

  /**
   * Runs that stay though they have ended: those in quarantine, and parents of open ones. They are
   * looked up once it is asked for one: most openings have nothing to remove.
   */
  #held(): (runId: RunId) => boolean {
    let held: ReadonlySet<string> | undefined
    return (runId) => {
      held ??= this.#heldNow()
      return held.has(runId)
    }
  }

  #heldNow(): ReadonlySet<string> {
    const { ledger, quarantined } = this.#parts
    const held = new Set<string>(quarantined().map(({ run }) => run))
    for (const runId of ledger.archiving.openRuns()) {
      const { parent } = ledger.run(runId)?.started ?? {}
      if (typeof parent === 'string') held.add(parent)
    }
    return held
  }
}

/** Milliseconds. Throws `archive.nothing` for what is no time. */
function timeOf(before: Date | string | number): number {
  const time = typeof before === 'string' ? Date.parse(before) : Number(before)
  if (Number.isSafeInteger(time)) return time
  throw ledgerError('archive.nothing', { problem: `${String(before)} is no time` })
}

/** Archiving of a runtime. */
export function archivesOf(
  runtime: {
    readonly ledger: Ledger
    readonly quarantine: { marks(): readonly QuarantineMark[] }
    intent(request: {
      readonly id: RunId
      readonly action: string
      readonly payload: JsonObject
    }): Promise<IntentReply>
  },
  keepLock: () => Promise<void>
): Archives {
  return new Archives({
    ledger: runtime.ledger,
    quarantined: () => runtime.quarantine.marks(),
    submit: (id, payload) => runtime.intent({ id, action: ACTION, payload }),
    keepLock
  })
}

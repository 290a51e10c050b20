import { stateOf } from '../../capability/index.js'
import {
  checkSafeMode,
  isJsonObject,
  type Json,
  type JsonObject,
  ledgerError,
  limits,
  type RunId
} from '../../core/index.js'
import { doneReply, type IntentReply, KERNEL_ID, SCHEDULES_PREFIX } from '../../intent/index.js'
import {
  ERASED_PREFIX,
  isSubjectId,
  type Ledger,
  type RunRecord,
  type Store,
  type SubjectId,
  scrubStore,
  subjectOfText
} from '../../ledger/index.js'
import type { AskedIntent } from '../gate/asked-intent.js'
import { refusal } from '../gate/refusal.js'

const ACTION = 'system.erase'
/** Ids of open runs that a refusal names. */
const NAMED_MAX = 16

/** What is erased of a subject, and what cannot be. */
export interface ErasedSubject {
  /** Names the key, which says nothing of the subject without the key of the ledger. */
  readonly key: string
  /** Runs of the subject, and the entries of their journals. */
  readonly runs: number
  readonly entries: number
  /** Of these runs, those whose entries stand in archives, under the same key. */
  readonly archived: number
  /**
   * Keys of the state that these runs have written and that still have a value, in clear; at most
   * `ERASED_STATE_KEYS_MAX`. Code has to remove them. None where it was erased before.
   */
  readonly stateKeys: readonly string[]
  /** Schedules of the subject, which begin nothing any more. */
  readonly schedules: readonly string[]
  /** What is never erased, in words. */
  readonly kept: readonly string[]
}

export interface ErasingParts {
  readonly ledger: Ledger
  readonly store: Store
  /** Has the intent done in the name of the owner. */
  submit(payload: JsonObject): Promise<IntentReply>
}

/**
 * `system.erase`: `{ subject, dryRun? }`; the owner's only (K13).
 *
 * Owns nothing: the receipt says that a key was erased, and from then on it is (docs/spec).
 *
 * - G6 The receipt is durable before the key is destroyed; what a crash leaves is destroyed by the
 *   next opening. Nothing begins under a key that is about to be erased, and none while a run
 *   under it is open.
 */
export class Erasing {
  readonly #parts: ErasingParts
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: ErasingParts) {
    this.#parts = parts
  }

  /** Erases in the name of the owner. Rejects with what stood in the way. */
  async erase(
    subject: string,
    { dryRun = false }: { readonly dryRun?: boolean } = {}
  ): Promise<ErasedSubject> {
    const reply = await this.#parts.submit({ subject, ...(dryRun ? { dryRun } : {}) })
    if (reply.type === 'error') {
      checkSafeMode(reply)
      throw ledgerError('ledger.not_erased', { problem: reply.message })
    }
    const { key, runs, entries, archived } = reply as unknown as ErasedSubject
    const { stateKeys, schedules, kept } = reply as unknown as ErasedSubject
    return { key, runs, entries, archived, stateKeys, schedules, kept }
  }

  act(asked: AskedIntent): Promise<IntentReply> {
    const done = this.#last.then(() => this.#act(asked))
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Resolves when nothing is being erased. */
  async settled(): Promise<void> {
    await this.#last
  }

  /** Destroys keys that an earlier process has not come to. */
  async resume(): Promise<void> {
    const { ledger } = this.#parts
    if (ledger.state().mode !== 'ready') return
    for (const key of await ledger.list(ERASED_PREFIX)) {
      const id = key.slice(ERASED_PREFIX.length)
      if (!isSubjectId(id) || !ledger.subjects.has(id)) continue
      await this.#destroy(id)
    }
  }

  /** Values that code has removed go first: as long as the key is there, more is to be done. */
  async #destroy(id: SubjectId): Promise<void> {
    const { ledger, store } = this.#parts
    await scrubStore(store, ledger.identity)
    await ledger.subjects.destroy(id)
  }

  async #act({ id, intent, go }: AskedIntent): Promise<IntentReply> {
    const { ledger } = this.#parts
    const { subject, dryRun = false, ...rest } = intent.payload
    const isAsked = isSubject(subject) && typeof dryRun === 'boolean'
    if (!isAsked || Object.keys(rest).length > 0) {
      const subjects = `a subject of 1 to ${limits.SUBJECT_LENGTH_MAX} characters`
      const problem = `it takes { subject, dryRun? }, ${subjects}`
      return refusal(id, ACTION, 'invalid_input', { problem })
    }
    const { subjects } = ledger
    const key = subjects.idOf(subject)
    const replied = (found: ErasedSubject) =>
      doneReply({ id, dappId: KERNEL_ID, receipt: null, result: { ...found } as unknown as Json })
    const earlier = ledger.run(id)
    if (earlier !== undefined) {
      // The same id is the same erasing (L6).
      if (keyErasedBy(earlier) === key) return replied(await this.#found(key))
      return refusal(id, ACTION, 'id_reused', { problem: 'another intent has this id' })
    }
    const wasErased = subjects.isErased(key)
    if (dryRun) return replied(await this.#found(key))
    subjects.close(key)
    try {
      const open = this.#openRuns(key)
      if (open.length > 0) {
        const named = open.slice(0, NAMED_MAX).join(', ')
        const problem = `${open.length} runs of the subject are open: ${named}`
        return refusal(id, ACTION, 'runs_open', { problem, fix: 'Let them end, or cancel them.' })
      }
      const found = await this.#found(key)
      if (wasErased) return replied(found)
      const { runs, entries } = found
      const reply = await go({ entries, key, runs })
      if (reply.type !== 'dapp') return reply
      await this.#destroy(key)
      return { ...reply, ...extra(found) }
    } finally {
      subjects.reopen(key)
    }
  }

  #openRuns(key: SubjectId): readonly RunId[] {
    const open = [...this.#parts.ledger.openRuns()].filter(({ subject }) => subject === key)
    return open.map(({ runId }) => runId)
  }

  async #found(key: SubjectId): Promise<ErasedSubject> {
    const { ledger } = this.#parts
    const stateKeys = new Set<string>()
    let [runs, entries, archived] = [0, 0, 0]
    for await (const record of ledger.runs()) {
      if (record.subject !== key) continue
      runs += 1
      entries += record.entries
      if (ledger.archiving.errorOf(record.runId) !== undefined) archived += 1
      else if (record.isErased !== true) await this.#written(record.runId, stateKeys)
    }
    const kept = [...(archived > 0 ? [archives] : []), ...always]
    const schedules = await schedulesOf(ledger, key)
    const found = { key, runs, entries, archived, stateKeys: [...stateKeys].sort() }
    return { ...found, schedules, kept }
  }

  /** Keys that a run has written and that have a value. */
  async #written(runId: RunId, keys: Set<string>): Promise<void> {
    const { ledger } = this.#parts
    for await (const { receiptHash } of ledger.journal(runId)) {
      const stored = receiptHash === undefined ? undefined : await ledger.receipt(receiptHash)
      for (const { key } of stored?.writeSet ?? []) {
        if (keys.size >= limits.ERASED_STATE_KEYS_MAX) return
        if (ledger.read(key) !== undefined) keys.add(key)
      }
    }
  }
}

/** What a run can have been started for. */
function isSubject(given: unknown): given is string {
  return typeof given === 'string' && given.length > 0 && given.length <= limits.SUBJECT_LENGTH_MAX
}

/** The key that a run has erased; undefined where it is none that erases, or has not ended well. */
function keyErasedBy({ status, started, last }: RunRecord): unknown {
  if (status !== 'done' || started['name'] !== ACTION) return undefined
  const { data } = (last['response'] ?? {}) as { readonly data?: { readonly key?: unknown } }
  return data?.key
}

const archives = 'entries in archives are under the same key: who has a copy of the key reads them'
const always = [
  'what runs without this subject have kept of it, and all data of before',
  'state that is there, and values before it in write sets of runs without this subject',
  'ids of runs, names and times, and hashes of requests, which a guess can confirm',
  'copies of the key: backups and copies of the directory `subjects`'
]

function extra({ archived, stateKeys, schedules, kept }: ErasedSubject): JsonObject {
  return { archived, stateKeys, schedules, kept } as unknown as JsonObject
}

/** Names of schedules whose runs would begin under a key. */
async function schedulesOf(ledger: Ledger, key: SubjectId): Promise<readonly string[]> {
  const keys = await ledger.list(SCHEDULES_PREFIX)
  const state = stateOf(ledger)
  return keys.flatMap((stateKey) => {
    const entry = state.get(stateKey)
    const spec = isJsonObject(entry) ? entry['spec'] : undefined
    const sealed = isJsonObject(spec) ? spec['sealed'] : undefined
    const isIts = typeof sealed === 'string' && subjectOfText(sealed) === key
    return isIts ? [stateKey.slice(SCHEDULES_PREFIX.length)] : []
  })
}

/** Erasing of a runtime. */
export function erasingOf(
  runtime: {
    readonly ledger: Ledger
    intent(request: { readonly action: string; readonly payload: JsonObject }): Promise<IntentReply>
  },
  store: Store
): Erasing {
  const submit = (payload: JsonObject) => runtime.intent({ action: ACTION, payload })
  return new Erasing({ ledger: runtime.ledger, store, submit })
}

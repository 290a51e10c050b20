import { type Hash, type Json, type JsonObject, type RunId, sha256Hex } from '../../core/index.js'
import { foldRecord } from '../derived/run-records.js'
import type { RunRecord } from '../ledger-api.js'
import { saltedBlob } from '../receipt/blob.js'
import { type FieldProblem, readCanonical, type TextOf } from '../receipt/parse.js'
import { hasEntryFields } from '../record/record.js'

interface SeenRun {
  next: number
  /** Entries, and hash of the record, at the stamp of the derived records. */
  derived: { readonly entries: number; readonly record: RunRecord | undefined }
  record: RunRecord | undefined
}

export interface KeptBody {
  readonly salt: Hash
  readonly bodyText: string
  readonly entry: string
}

export type CheckedEntry =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: FieldProblem }

/** Units of sealed bodies that wait for the receipt that names them. */
const SEALED_LENGTH_MAX = 64 * 1024 * 1024

/**
 * Checks the journals of all runs: entries are canonical, of their run, numbered without gaps, and
 * sealed bodies hash to their names. Keeps sealed bodies, oldest dropped first, until a receipt
 * asks for them.
 */
export class RunCheck {
  readonly #runs = new Map<RunId, SeenRun>()
  readonly #sealed = new Map<Hash, KeptBody>()
  #sealedLength = 0
  entries = 0

  get runs(): ReadonlyMap<RunId, Readonly<SeenRun>> {
    return this.#runs
  }

  /** Checks one entry; `derived` says that derived records cover it. */
  add(runId: RunId, text: string, derived: boolean): CheckedEntry {
    const read = readCanonical(text)
    if (read === undefined || !hasEntryFields(read.value)) {
      return wrong('journal', 'a canonical journal entry', text.slice(0, 200))
    }
    const { value } = read
    if (value.run !== runId) return wrong('journal.run', runId, value.run)
    const run = this.#run(runId)
    if (value.n !== run.next) return wrong('journal.n', String(run.next), String(value.n))
    run.next += 1
    this.entries += 1
    if (value.k.startsWith('run.')) {
      const last = value as unknown as JsonObject
      const started = value.k === 'run.started' ? last : undefined
      run.record = foldRecord(runId, run.record, value.n, { entries: 1, started, last })
    }
    if (derived) run.derived = { entries: run.next, record: run.record }
    const problem = value.k === 'sealed' ? this.#keep(value, read.textOf, text) : undefined
    return problem === undefined ? { ok: true, value } : { ok: false, problem }
  }

  sealed(hash: Hash): KeptBody | undefined {
    return this.#sealed.get(hash)
  }

  #run(runId: RunId): SeenRun {
    let run = this.#runs.get(runId)
    if (run === undefined) {
      run = { next: 0, derived: { entries: 0, record: undefined }, record: undefined }
      this.#runs.set(runId, run)
    }
    return run
  }

  #keep(value: Json, textOf: TextOf, entry: string): FieldProblem | undefined {
    const { responseHash, salt, body } = value as unknown as {
      readonly responseHash?: Hash
      readonly salt?: Hash
      readonly body?: Json
    }
    // A body that was erased leaves its hash.
    if (responseHash === undefined || salt === undefined || body === undefined) return undefined
    const bodyText = textOf(body)
    const actual = sha256Hex(saltedBlob(bodyText, salt))
    if (actual !== responseHash) {
      return { field: 'journal.responseHash', expected: actual, actual: responseHash }
    }
    this.#sealed.set(responseHash, { salt, bodyText, entry })
    this.#sealedLength += entry.length
    for (const [oldest, kept] of this.#sealed) {
      if (this.#sealedLength <= SEALED_LENGTH_MAX) break
      this.#sealed.delete(oldest)
      this.#sealedLength -= kept.entry.length
    }
    return undefined
  }
}

function wrong(field: string, expected: string, actual: string): CheckedEntry {
  return { ok: false, problem: { field, expected, actual } }
}

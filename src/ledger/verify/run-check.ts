import { type Hash, type Json, type JsonObject, type RunId, sha256Hex } from '../../core/index.js'
import { saltedBlob } from '../receipt/blob.js'
import { type FieldProblem, readCanonical, type TextOf } from '../receipt/parse.js'
import { hasEntryFields } from '../record/record.js'
import { RunTable } from './run-table.js'

export interface KeptBody {
  readonly salt: Hash
  readonly bodyText: string
  readonly entry: string
}

export type CheckedEntry =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: FieldProblem }

/** Units of sealed bodies that wait for the receipt that names them. */
const SEALED_LENGTH_MAX = 32 * 1024 * 1024
/** What a kept body costs beside its own units. */
const KEPT_OVERHEAD = 512

/**
 * Checks the journals of all runs: entries are canonical, of their run, numbered without gaps, and
 * sealed bodies hash to their names. Keeps sealed bodies, oldest dropped first, until a receipt
 * asks for them.
 */
export class RunCheck {
  readonly runs = new RunTable()
  readonly #sealed = new Map<Hash, KeptBody>()
  #sealedLength = 0
  entries = 0

  /** Checks one entry; `visit` is its commit, if derived records cover that. */
  add(runId: RunId, text: string, visit: number | undefined): CheckedEntry {
    const read = readCanonical(text)
    if (read === undefined || !hasEntryFields(read.value)) {
      return wrong('journal', text.slice(0, 200), 'a canonical journal entry')
    }
    const { value } = read
    if (value.run !== runId) return wrong('journal.run', value.run, runId)
    const { runs } = this
    const row = runs.row(runId)
    const next = runs.next(row)
    if (value.n !== next) return wrong('journal.n', String(value.n), String(next))
    runs.count(row, visit)
    this.entries += 1
    if (visit !== undefined && value.k.startsWith('run.')) {
      const { status, at } = value as unknown as JsonObject
      runs.fold(row, { text, kind: value.k, status, at })
    }
    const problem = value.k === 'sealed' ? this.#keep(value, read.textOf, text) : undefined
    return problem === undefined ? { ok: true, value } : { ok: false, problem }
  }

  sealed(hash: Hash): KeptBody | undefined {
    return this.#sealed.get(hash)
  }

  /** In words: nothing signs the journals of runs that have not ended. */
  notChecked(): readonly string[] {
    const { openRuns } = this.runs
    if (openRuns === 0) return []
    const journals = openRuns === 1 ? 'journal of 1 open run' : `journals of ${openRuns} open runs`
    return [`${journals}: what authenticates it needs the blob key`]
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
    const computed = sha256Hex(saltedBlob(bodyText, salt))
    if (computed !== responseHash) {
      return { field: 'journal.responseHash', signed: responseHash, computed }
    }
    this.#sealed.set(responseHash, { salt, bodyText, entry })
    this.#sealedLength += entry.length + KEPT_OVERHEAD
    for (const [oldest, kept] of this.#sealed) {
      if (this.#sealedLength <= SEALED_LENGTH_MAX) break
      this.#sealed.delete(oldest)
      this.#sealedLength -= kept.entry.length + KEPT_OVERHEAD
    }
    return undefined
  }
}

function wrong(field: string, signed: string, computed: string): CheckedEntry {
  return { ok: false, problem: { field, signed, computed } }
}

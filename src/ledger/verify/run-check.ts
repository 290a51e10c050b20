import {
  CanonicalScan,
  type Hash,
  type IdentityId,
  type RunId,
  sha256Hex
} from '../../core/index.js'
import { saltedBlob } from '../receipt/blob.js'
import type { FieldProblem } from '../receipt/parse.js'
import { ApprovalCheck } from './approval-check.js'
import { RunTable } from './run-table.js'

export interface KeptBody {
  readonly salt: Hash
  readonly bodyText: string
  readonly entry: string
}

export type CheckedEntry =
  | { readonly ok: true; readonly kind: string }
  | { readonly ok: false; readonly problem: FieldProblem }

/** What every entry has. */
interface ReadEntry {
  readonly kind: string
  readonly run: string
  readonly n: number
  readonly at: number
}

/** Units of sealed bodies that wait for the receipt that names them. */
const SEALED_LENGTH_MAX = 32 * 1024 * 1024
/** What a kept body costs beside its own units. */
const KEPT_OVERHEAD = 512

/**
 * Checks the journals of all runs: entries are canonical, of their run, numbered without gaps, and
 * sealed bodies hash to their names, and what approvers have signed is valid. Keeps sealed bodies,
 * oldest dropped first, until a receipt asks for them.
 */
export class RunCheck {
  readonly runs = new RunTable()
  readonly #scan = new CanonicalScan()
  readonly #sealed = new Map<Hash, KeptBody>()
  #sealedLength = 0
  readonly #approvals: ApprovalCheck
  entries = 0

  constructor(identity: IdentityId) {
    this.#approvals = new ApprovalCheck(identity)
  }

  /**
   * Checks one entry; `visit` is its commit, if derived records cover that, and `stored` how it
   * stands there.
   */
  add(runId: RunId, text: string, visit: number | undefined, stored = text): CheckedEntry {
    const entry = this.#read(text)
    if (entry === undefined) {
      return wrong('journal', text.slice(0, 200), 'a canonical journal entry')
    }
    const { kind, run, n, at } = entry
    if (run !== runId) return wrong('journal.run', run, runId)
    const { runs } = this
    const row = runs.row(runId)
    const next = runs.next(row)
    if (n !== next) return wrong('journal.n', String(n), String(next))
    runs.count(row, visit)
    this.entries += 1
    const kept = kind === 'sealed' ? this.#keep(text) : undefined
    const problem = kept ?? this.#approvals.add(runId, kind, text)
    if (visit !== undefined && kind.startsWith('run.')) {
      runs.fold(row, { text: stored, kind, status: stringIn(this.#scan.member('status')), at })
    }
    return problem === undefined ? { ok: true, kind } : { ok: false, problem }
  }

  /** The fields that every entry has; undefined where they are not, or the text is another. */
  #read(text: string): ReadEntry | undefined {
    const scan = this.#scan
    if (!scan.read(text)) return undefined
    const [kind, run] = [stringIn(scan.member('k')), stringIn(scan.member('run'))]
    const [n, at] = [numberIn(scan.member('n')), numberIn(scan.member('at'))]
    const isEntry = kind !== undefined && run !== undefined && at !== undefined
    return isEntry && Number.isSafeInteger(n) ? { kind, run, n: n ?? 0, at } : undefined
  }

  sealed(hash: Hash): KeptBody | undefined {
    return this.#sealed.get(hash)
  }

  /** Keeps the body of the entry that was read last. */
  #keep(entry: string): FieldProblem | undefined {
    const scan = this.#scan
    const responseHash = stringIn(scan.member('responseHash')) as Hash | undefined
    const salt = stringIn(scan.member('salt')) as Hash | undefined
    const bodyText = scan.member('body')
    // A body that was erased leaves its hash.
    if (responseHash === undefined || salt === undefined || bodyText === undefined) return undefined
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

/** The value of a member's canonical text, if that is a string. */
function stringIn(text: string | undefined): string | undefined {
  if (text?.startsWith('"') !== true) return undefined
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
}

/** The value of a member's canonical text, if that is a number. */
function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^[-\d]/.test(text) ? Number(text) : undefined
}

import { createHmac } from 'node:crypto'
import { ledgerError, type TallyError } from '../../core/index.js'

/** Names the key of a subject: 32 hex digits, which say nothing of it without the blob key. */
export type SubjectId = string & { readonly subjectId: unique symbol }

/** Where the keys of subjects are kept: outside of the store, of which nothing is ever gone. */
export interface SubjectKeys {
  /** 32 bytes; undefined where there is none: it was destroyed, or is not here. */
  get(id: SubjectId): Uint8Array | undefined
  /** Makes one, durably, unless it is there. */
  create(id: SubjectId): Promise<void>
  /** Removes one, durably. */
  destroy(id: SubjectId): Promise<void>
}

const subjectId = /^[0-9a-f]{32}$/

/** Whether a text names the key of a subject. */
export function isSubjectId(text: string): text is SubjectId {
  return subjectId.test(text)
}

/** HMAC-SHA256(blob key, "tallystick/subject" || line feed || subject), its first 16 bytes. */
export function subjectIdOf(blobKey: Uint8Array, subject: string): SubjectId {
  const code = createHmac('sha256', blobKey).update(`tallystick/subject\n${subject}`).digest('hex')
  return code.slice(0, 32) as SubjectId
}

/** Keys that are gone with the process: for ledgers in memory. */
export class SubjectKeysInMemory implements SubjectKeys {
  readonly #keys = new Map<SubjectId, Uint8Array>()
  readonly #newKey: () => Uint8Array

  constructor(newKey: () => Uint8Array) {
    this.#newKey = newKey
  }

  get(id: SubjectId): Uint8Array | undefined {
    return this.#keys.get(id)
  }

  async create(id: SubjectId): Promise<void> {
    if (!this.#keys.has(id)) this.#keys.set(id, this.#newKey())
  }

  async destroy(id: SubjectId): Promise<void> {
    this.#keys.get(id)?.fill(0)
    this.#keys.delete(id)
  }
}

/** Of a kind of ledger that cannot erase. Throws `ledger.no_subjects`. */
export function noSubjects(): TallyError {
  return ledgerError('ledger.no_subjects', {})
}

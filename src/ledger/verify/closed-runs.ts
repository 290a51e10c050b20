import type { IdentityId } from '../../core/index.js'
import type { RecordItem } from '../record/record.js'
import { type ReadItem, SubjectCipher } from '../subject/cipher.js'
import type { SubjectId, SubjectKeys } from '../subject/subject-keys.js'
import { ERASED_PREFIX } from '../subject/subjects-api.js'
import type { VerificationKey } from './key.js'

/**
 * Opens items of runs with a subject during a verification.
 * Owns: of subjects whose keys are not here, how many runs they have.
 */
export class ClosedRuns {
  readonly #cipher: SubjectCipher
  readonly #runs = new Map<SubjectId, number>()

  constructor(
    identity: IdentityId,
    given: {
      readonly subjects?: SubjectKeys | undefined
      readonly key?: VerificationKey | undefined
    } = {}
  ) {
    const { subjects, key } = given
    const own = subjects && new SubjectCipher(identity, subjects)
    this.#cipher = own ?? key?.cipher ?? new SubjectCipher(identity, undefined)
  }

  /** Throws `ledger.corrupt` with the key of the commit record. */
  open(key: string, item: RecordItem): ReadItem {
    return this.#cipher.open(key, item)
  }

  /** Takes note of an entry of an item. */
  met({ closedBy }: ReadItem, kind: string): void {
    if (closedBy === undefined || kind !== 'run.started') return
    this.#runs.set(closedBy, (this.#runs.get(closedBy) ?? 0) + 1)
  }

  /** In words; `read` gives the state, which says whose keys were erased. */
  notChecked(read: (key: string) => string | undefined = () => undefined): readonly string[] {
    let [erased, missing] = [0, 0]
    for (const [id, count] of this.#runs) {
      if (read(ERASED_PREFIX + id) === undefined) missing += count
      else erased += count
    }
    return [
      ...(erased === 0 ? [] : [`${journalsOf(erased)}: the keys of their subjects were erased`]),
      ...(missing === 0 ? [] : [`${journalsOf(missing)}: the keys of their subjects are not here`])
    ]
  }
}

function journalsOf(count: number): string {
  return `journals and bodies of ${count === 1 ? '1 run' : `${count} runs`}`
}

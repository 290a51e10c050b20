import { TallyError } from '../errors/error.js'
import { CACHE_ENTRIES_MAX, DOCUMENT_SLICE_STEPS, DOCUMENT_WORK_MAX } from '../limits.js'

/**
 * The work that reading one document takes, counted in steps: a node that is read, a finding, an
 * edge that is followed, a kibi-character of text that is searched.
 *
 * Owns which count is under way. A slice of a reading is synchronous, so there is one at a time; a
 * reading in slices takes its count up again with each. It does not measure time: the same document
 * costs the same on every machine.
 *
 * - W-1 What readers do beyond a bounded share of the document's bytes, they spend first.
 * - W-2 Outside {@link DocumentWork.during} nothing is refused: a definition that a ledger has kept
 *   can always be compiled again.
 */
let current: DocumentWork | undefined

/** Pays for steps of the reading that is under way; throws `document.too_much_work`. */
export function spendWork(steps: number): void {
  current?.spend(steps)
}

/** Whether the slice that is under way has taken enough steps: work in pieces yields then. */
export function isSliceFull(): boolean {
  return current?.isSliceFull ?? false
}

/**
 * Pays for compiling an expression: for one that the document has had before, only for finding it
 * again, as long as it has few enough for caches to hold them.
 */
export function spendWorkOnce(text: string, first: number, again: number): void {
  current?.spend(current.isNew(text) ? first : again)
}

/** Work of an object or list that is read: a schema looks at it with all that it may have. */
export const STEPS_OF_CONTAINER = 32
/** Work of any other value. */
export const STEPS_OF_SCALAR = 2

/** The count of one document, over all slices of its reading. */
export class DocumentWork {
  readonly #limit: number
  readonly #texts = new Set<string>()
  #steps = 0
  #sliceBegin = 0

  constructor(limit: number = DOCUMENT_WORK_MAX) {
    this.#limit = limit
  }

  /** Steps so far. */
  get steps(): number {
    return this.#steps
  }

  get isSliceFull(): boolean {
    return this.#steps - this.#sliceBegin >= DOCUMENT_SLICE_STEPS
  }

  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > this.#limit) {
      throw new TallyError('document.too_much_work', { limit: this.#limit })
    }
  }

  /** Whether a text is met for the first time, or too many others were met. */
  isNew(text: string): boolean {
    if (this.#texts.size > CACHE_ENTRIES_MAX) return true
    const before = this.#texts.size
    return this.#texts.add(text).size > before
  }

  /** Counts what `act` spends, as one slice. */
  during<Result>(act: () => Result): Result {
    const before = current
    current = this
    this.#sliceBegin = this.#steps
    try {
      return act()
    } finally {
      current = before
    }
  }
}

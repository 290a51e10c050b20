import { nextTurn } from '../clock.js'
import { coreError } from '../errors/error.js'
import { CACHE_ENTRIES_MAX, DOCUMENT_SLICE_STEPS, DOCUMENT_WORK_MAX } from '../limits.js'
import type { Pieces } from './pieces.js'

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

/** Pays for work that is done later, and is then counted for the slices that do it. */
export function payWork(steps: number): void {
  current?.pay(steps)
}

/**
 * Counts steps for the slice that is under way, and not against what the document may take: work
 * of which a reader does no more than a share of the document's bytes.
 */
export function passSteps(steps: number): void {
  current?.pass(steps)
}

/** Whether the slice that is under way has taken enough steps: work in pieces yields then. */
export function isSliceFull(): boolean {
  return current?.isSliceFull ?? false
}

/** Whether a document's work is counted: then it may be done in pieces. */
export function isWorkCounted(): boolean {
  return current !== undefined
}

/**
 * Pays for compiling an expression: for one that the document has had before, only for finding it
 * again, as long as it has few enough for caches to hold them.
 */
export function spendWorkOnce(text: string, first: number, again: number): void {
  current?.spend(current.isNew(text) ? first : again)
}

/**
 * Does work in slices that a document's count pays for: the event loop has its turn between two.
 * Throws what the work throws.
 */
export async function inSlices<Result>(
  pieces: Pieces<Result>,
  work: DocumentWork
): Promise<Result> {
  for (;;) {
    const { done, value } = work.during(() => pieces.next())
    if (done === true) return value
    await nextTurn()
  }
}

/** {@link inSlices} of work that is no document's, and has no bound but what it is about. */
export function inTurns<Result>(pieces: Pieces<Result>): Promise<Result> {
  return inSlices(pieces, new DocumentWork(Number.POSITIVE_INFINITY))
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
  #slice = 0

  constructor(limit: number = DOCUMENT_WORK_MAX) {
    this.#limit = limit
  }

  /** Steps so far. */
  get steps(): number {
    return this.#steps
  }

  /** Steps of the slice that is under way, or of the last one. */
  get sliceSteps(): number {
    return this.#slice
  }

  get isSliceFull(): boolean {
    return this.#slice >= DOCUMENT_SLICE_STEPS
  }

  pass(steps: number): void {
    this.#slice += steps
  }

  spend(steps: number): void {
    this.pass(steps)
    this.pay(steps)
  }

  pay(steps: number): void {
    this.#steps += steps
    if (this.#steps > this.#limit) {
      throw coreError('document.too_much_work', { limit: this.#limit })
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
    this.#slice = 0
    try {
      return act()
    } finally {
      current = before
    }
  }
}

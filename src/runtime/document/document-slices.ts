import type { Diagnostic } from '../../block/index.js'
import {
  DocumentWork,
  isTallyError,
  type Json,
  limits,
  nextTurn,
  type Pieces
} from '../../core/index.js'

/** What one slice gave, or that the document takes too much work. */
type Taken<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * The reading of one document from outside, in slices: each is bounded by what the whole document
 * may take. Before each slice of a long text the event loop has its turn, and so it has whenever
 * the slices since the last one are as much work as one may be, whether the document came as text
 * or as a value.
 *
 * Owns the count of the document's work.
 */
export class DocumentSlices {
  readonly #work: DocumentWork | undefined
  readonly #isLong: boolean
  #stepsSinceTurn = 0

  /** Without a source nothing is counted: what a ledger has kept is compiled whatever it takes. */
  constructor(source?: string | Json) {
    this.#work = source === undefined ? undefined : new DocumentWork()
    this.#isLong = typeof source === 'string' && source.length > limits.DOCUMENT_SLICE_LENGTH
  }

  /** Takes each piece of the work as a slice. */
  async takeEach<Value>(pieces: Pieces<Value>): Promise<Taken<Value>> {
    for (;;) {
      const taken = await this.take(() => pieces.next())
      if (!taken.ok) return taken
      const { done, value } = taken.value
      if (done === true) return { ok: true, value }
    }
  }

  async take<Value>(act: () => Value): Promise<Taken<Value>> {
    if (this.#work === undefined) return { ok: true, value: act() }
    if (this.#isLong || this.#stepsSinceTurn >= limits.DOCUMENT_SLICE_STEPS) await this.#turn()
    try {
      return { ok: true, value: this.#work.during(act) }
    } catch (error) {
      // Text that is nested nearly too deep is too deep once it is a definition.
      const isRefusal =
        isTallyError(error, 'document.too_much_work') || isTallyError(error, 'core.not_json')
      if (!isRefusal) throw error
      const { message } = error
      return { ok: false, diagnostics: [{ reason: 'invalid_graph', path: [], message }] }
    } finally {
      this.#stepsSinceTurn += this.#work.sliceSteps
    }
  }

  async #turn(): Promise<void> {
    this.#stepsSinceTurn = 0
    await nextTurn()
  }
}

/** For documents that are not from outside. */
export const unboundSlices = new DocumentSlices()

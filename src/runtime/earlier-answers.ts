import type { JournalEntry, OpenWait, WaitMessage } from '../block/index.js'
import { isJsonObject, type RunId } from '../core/index.js'
import type { Ledger } from '../ledger/index.js'
import type { RunDocuments } from '../workflow/index.js'

export interface EarlierAnswersOptions {
  readonly ledger: Pick<Ledger, 'journals'>
  /** Resolves when everything that a run was told is durable: then its journal has it. */
  durable(runId: RunId): Promise<void>
  documents(runId: RunId): RunDocuments
  /** Takes the run up if it is parked. */
  deliver(runId: RunId, message: WaitMessage): Promise<unknown>
  /** A run could not be told. */
  failed(runId: RunId, error: unknown): void
}

/** What is under way for one run. */
interface Opened {
  /** Waits that were not looked at. */
  readonly waits: OpenWait[]
  looking: Promise<void>
  /** Messages that the run has not decided about. */
  telling: number
}

/**
 * Tells a node of a workflow what its workflow was told of an input before the node asked for it.
 *
 * Owns: which waits have opened and were not looked at. Does not own: answers, which are in the
 * journals; runs and waits.
 *
 * 1. W3 What is told is a message like any other, in the name of who gave the answer: it becomes a
 *    sealed entry of the node that asks, and replays without this.
 * 2. A node that was told of an input and asks for it again is not told the same again.
 * 3. A run is not called parked before its waits were looked at.
 */
export class EarlierAnswers {
  readonly #options: EarlierAnswersOptions
  readonly #opened = new Map<RunId, Opened>()

  constructor(options: EarlierAnswersOptions) {
    this.#options = options
  }

  /** A wait of a run in memory has opened, or was found open when the run was taken up. */
  opened(runId: RunId, wait: OpenWait): void {
    if (!asksForValues(wait)) return
    const known = this.#opened.get(runId)
    if (known === undefined) {
      const opened: Opened = { waits: [wait], looking: Promise.resolve(), telling: 0 }
      this.#opened.set(runId, opened)
      opened.looking = this.#look(runId, opened)
    } else {
      known.waits.push(wait)
      if (known.waits.length === 1)
        known.looking = known.looking.then(() => this.#look(runId, known))
    }
  }

  /**
   * Resolves when all waits of a run that has parked were looked at: true when there is something
   * to tell it, which takes it up.
   */
  async looked(runId: RunId): Promise<boolean> {
    const opened = this.#opened.get(runId)
    await opened?.looking
    return opened !== undefined && opened.telling > 0
  }

  async #look(runId: RunId, opened: Opened): Promise<void> {
    try {
      await this.#options.durable(runId)
      const waits = opened.waits.splice(0)
      for (const message of await this.#messages(runId, waits))
        void this.#tell(runId, opened, message)
    } catch (error) {
      opened.waits.length = 0
      this.#options.failed(runId, error)
    } finally {
      this.#drop(runId, opened)
    }
  }

  async #messages(runId: RunId, waits: readonly OpenWait[]): Promise<readonly WaitMessage[]> {
    const { answerTexts, earlierAnswer, givenAnswers } = await import('../workflow/index.js')
    const given = givenAnswers(await this.#entries(runId, answerTexts))
    if (given.length === 0) return []
    const documents = this.#options.documents(runId)
    return waits.flatMap((wait) => {
      const { token, digest } = wait
      const answer = earlierAnswer(given, wait, documents)
      return answer === undefined ? [] : [{ token, digest, action: 'resume', ...answer }]
    })
  }

  /** Somebody may have answered meanwhile: then it is refused, and changes nothing. */
  async #tell(runId: RunId, opened: Opened, message: WaitMessage): Promise<void> {
    opened.telling += 1
    try {
      await this.#options.deliver(runId, message)
    } catch (error) {
      this.#options.failed(runId, error)
    } finally {
      opened.telling -= 1
      this.#drop(runId, opened)
    }
  }

  #drop(runId: RunId, opened: Opened): void {
    if (opened.waits.length > 0 || opened.telling > 0) return
    if (this.#opened.get(runId) === opened) this.#opened.delete(runId)
  }

  async #entries(runId: RunId, texts: readonly string[]): Promise<readonly JournalEntry[]> {
    for await (const entries of this.#options.ledger.journals([runId], texts)) {
      // The journal gives back what the pump has written.
      return entries.map(({ value }) => value as unknown as JournalEntry)
    }
    return []
  }
}

/** Whether a wait may be that of a workflow's node for what it lacks. */
export function asksForValues({ reason, request }: OpenWait): boolean {
  const shown = isJsonObject(request) ? (request['request'] ?? null) : null
  return reason === 'external' && isJsonObject(shown) && shown['kind'] === 'missing'
}

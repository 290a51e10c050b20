import type { MessageOutcome, OpenWait, SignalOutcome } from '../../block/index.js'
import type { Response } from '../../code/index.js'
import type { Hash, Json, RunId } from '../../core/index.js'
import type { KeySignature } from '../../identity/index.js'
import type { StoredReceipt } from '../../ledger/index.js'
import type { DeliveredEvent } from './channel.js'
import type { SignalOptions } from './signal-options.js'

/** How a run ended. `success` false is data, not an exception: `reason` says why. */
export interface RunResult<Output = Json> {
  readonly id: RunId
  readonly status: 'done' | 'failed' | 'cancelled'
  readonly response: ResponseOf<Output>
  /** The `run.completed` receipt; undefined for runs that failed. */
  readonly receiptHash?: Hash
  /** Who did it, of an intent. */
  readonly dappId?: string
}

/** A response whose data, where it has succeeded, is of a type. */
export type ResponseOf<Output> = Json extends Output
  ? Response
  :
      | (Omit<Response, 'data' | 'success'> & { readonly success: true; readonly data: Output })
      | (Omit<Response, 'data' | 'success'> & { readonly success: false; readonly data: null })

/** An answer to a wait: bound to what was shown by `digest` (W7). */
export interface Answer {
  readonly digest: string
  /** Who answers, as they call themselves: reported as "claimed" (K13). */
  readonly by?: string
  readonly value?: Json
  /**
   * Who has signed this answer ({@link signApproval}): checked, and kept with what it ends. A wait
   * with approvers needs it.
   */
  readonly approval?: KeySignature
  /**
   * Names this command in its run (W10): given again, also after a crash, it has the same outcome
   * and changes nothing. Without one, an answer to a used token is refused. A grant that a wait for
   * permission asks for is state, and keeps no id.
   */
  readonly commandId?: string
}

/**
 * One run, wherever it is: live in this process, parked in the ledger, or ended.
 *
 * @example
 * const run = tally.begin(document, { inputs: { limit: 100 } })
 * for await (const event of run) {
 *   if (event.type === 'waiting') await run.approve(event.token, { digest: event.digest })
 * }
 * const { response } = await run.result
 */
export interface RunHandle<Output = Json> extends AsyncIterable<DeliveredEvent>, AsyncDisposable {
  readonly id: RunId
  /**
   * Settles when the run has ended and that is durable. Rejects with `ledger.poisoned`,
   * `run.interrupted` (the runtime closed), `run.diverged`, `run.definition_changed`,
   * `run.id_reused`.
   */
  readonly result: Promise<RunResult<Output>>
  /** The waits that a message can end now. */
  waits(): Promise<readonly OpenWait[]>
  approve(token: string, answer: Answer): Promise<MessageOutcome>
  deny(token: string, answer: Answer): Promise<MessageOutcome>
  /**
   * Ends a wait with a value; with `action`, decides about a failure: retry, patch, skip, abort.
   */
  resume(
    token: string,
    answer: Answer & { readonly action?: 'resume' | 'retry' | 'patch' | 'skip' | 'abort' }
  ): Promise<MessageOutcome>
  /** Its durable receipts, in the order in which it has left them. */
  receipts(): AsyncIterable<StoredReceipt>
  /** {@link Runtime.signal} of this run. */
  signal(name: string, value?: Json, options?: SignalOptions): Promise<SignalOutcome>
  cancel(reason?: string): Promise<void>
}

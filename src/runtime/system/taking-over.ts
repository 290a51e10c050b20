import { ledgerError } from '../../core/index.js'
import type { IntentReply } from '../../intent/index.js'
import type { Ledger } from '../../ledger/index.js'
import type { AskedIntent } from '../gate/asked-intent.js'
import { refusal } from '../gate/refusal.js'

/** A ledger that was imported, opened with its key to take it over. */
export interface ReadOnlyReplica {
  /** Lets the location's marker say that it is none any more. */
  end(): Promise<void>
}

/**
 * Taking over an imported identity (formats.md §8): a receipt that names where its chain stood, and
 * then the marker.
 *
 * Owns: nothing. What is a follower, the marker says; whether another process still runs the
 * identity cannot be known from here.
 *
 * - P3 The receipt is durable before the marker changes. A process that dies between leaves a
 *   follower whose next take-over leaves another receipt.
 */
export class TakingOver {
  readonly #ledger: Ledger
  #replica: ReadOnlyReplica | undefined

  constructor(ledger: Ledger, replica: ReadOnlyReplica | undefined) {
    this.#ledger = ledger
    this.#replica = replica
  }

  /** Before anything else is done. Throws `ledger.safe_mode` when that cannot be. */
  async begin(ask: () => Promise<IntentReply>): Promise<void> {
    if (this.#replica === undefined) return
    const { mode, cause } = this.#ledger.state()
    const reply = mode === 'safe' ? undefined : await ask()
    if (reply?.type === 'dapp') return
    const problem = reply?.type === 'error' ? reply.message : (cause?.message ?? 'it takes nothing')
    throw ledgerError('ledger.safe_mode', { problem })
  }

  async act({ id, intent, go }: AskedIntent): Promise<IntentReply> {
    const replica = this.#replica
    if (replica === undefined) {
      const problem = 'the ledger is run by its owner already'
      return refusal(id, intent.action, 'not_a_follower', { problem })
    }
    const { receipts } = this.#ledger.state()
    const reply = await go({ receipts, receiptHash: this.#ledger.head() })
    if (reply.type !== 'dapp') return reply
    await replica.end()
    this.#replica = undefined
    return reply
  }
}

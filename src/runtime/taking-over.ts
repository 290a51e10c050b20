import { TallyError } from '../core/index.js'
import type { IntentReply } from '../intent/index.js'
import type { Ledger } from '../ledger/index.js'
import type { AskedIntent } from './asked-intent.js'
import { refusal } from './refusal.js'

/** A ledger that was imported, opened with its key by somebody who takes it over. */
export interface Follower {
  /** Lets the location's marker say that it is none any more. */
  end(): Promise<void>
}

/**
 * Taking over an imported identity (formats.md §8): a receipt that names where its chain stood, and
 * then the marker.
 *
 * Owns: nothing. What is a follower, the marker says; whether somebody else still runs the identity
 * nobody can know from here.
 *
 * - P3 The receipt is durable before the marker changes. A process that dies between leaves a
 *   follower whose next take-over leaves another receipt.
 */
export class TakingOver {
  readonly #ledger: Ledger
  #follower: Follower | undefined

  constructor(ledger: Ledger, follower: Follower | undefined) {
    this.#ledger = ledger
    this.#follower = follower
  }

  /** Before anything else is done. Throws `ledger.safe_mode` when that cannot be. */
  async begin(ask: () => Promise<IntentReply>): Promise<void> {
    if (this.#follower === undefined) return
    const { mode, cause } = this.#ledger.state()
    const reply = mode === 'safe' ? undefined : await ask()
    if (reply?.type === 'dapp') return
    const problem = reply?.type === 'error' ? reply.message : (cause?.message ?? 'it takes nothing')
    throw new TallyError('ledger.safe_mode', { problem })
  }

  async act({ id, intent, go }: AskedIntent): Promise<IntentReply> {
    const follower = this.#follower
    if (follower === undefined) {
      const problem = 'the ledger is run by its owner already'
      return refusal(id, intent.action, 'not_a_follower', { problem })
    }
    const { receipts } = this.#ledger.state()
    const reply = await go({ receipts, receiptHash: this.#ledger.head() })
    if (reply.type !== 'dapp') return reply
    await follower.end()
    this.#follower = undefined
    return reply
  }
}

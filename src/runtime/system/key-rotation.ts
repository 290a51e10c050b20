import { seedOf, singleStepUnitId } from '../../block/index.js'
import {
  blockError,
  type Clock,
  coreError,
  isRunId,
  type Json,
  type JsonObject,
  type Random,
  type RunId,
  shownText
} from '../../core/index.js'
import {
  doneReply,
  type IntentReply,
  KERNEL_HASH,
  KERNEL_ID,
  KERNEL_VERSION,
  keyRotation
} from '../../intent/index.js'
import { type JournalItem, type Ledger, ROTATION_ACTION } from '../../ledger/index.js'
import { refusal } from '../gate/refusal.js'
import type { OwnKeys } from './own-keys.js'

/**
 * `system.key.rotate`: hands the identity over to a new key (formats.md §2).
 *
 * Owns: the turn, since of two rotations the second begins with the first one's key. Does not own:
 * the keys, or the receipt, which the ledger makes: its payload proves a place in the chain, so it
 * is the end of no run.
 *
 * - K2 First the new key is durable, then the receipt that puts it into force, then it takes the
 *   place of the old one. A process that dies between leaves a ledger that opens with the right
 * key.
 */
export class KeyRotation {
  readonly #parts: KeyRotationParts
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: KeyRotationParts) {
    this.#parts = parts
  }

  rotate(id: RunId, principal: Json): Promise<IntentReply> {
    const turn = this.#turn.then(() => this.#rotate(id, principal))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #rotate(id: RunId, principal: Json): Promise<IntentReply> {
    const { ledger, keys, random } = this.#parts
    if (!isRunId(id)) throw blockError('run.invalid_id', { runId: shownText(id) })
    const earlier = await this.#earlier(id)
    if (earlier !== undefined) return earlier
    const next = await keys?.prepare(random)
    if (keys === undefined || next === undefined) {
      return refusal(id, ROTATION_ACTION, 'no_key_file', {
        problem: 'the key was handed over by the program that opened the ledger',
        fix: 'Open the ledger with its key file.'
      })
    }
    const { publicKey } = keys.keys
    const at = this.#parts.clock.now()
    const { publicKey: newPublicKey } = next
    const change = keyRotation({ publicKey, newPublicKey, at: Math.floor(at / 1000), principal })
    const item = (payloadText: string) => this.#item({ id, at, principal, payloadText, ...change })
    let appended: Awaited<ReturnType<Ledger['rotate']>>
    try {
      appended = await ledger.rotate({ signer: keys.signerOf(next), item })
    } catch (error) {
      // Nothing was appended: this key is never asked for.
      await keys.destroy(newPublicKey)
      throw error
    }
    if (!appended.ok) throw coreError('core.internal', { problem: 'a rotation reads nothing' })
    await ledger.durable(appended.position)
    // Where this fails, the next opening does it: the receipt stands.
    await keys.use(next).catch(() => undefined)
    const { receiptHash: receipt = null } = appended
    const result = JSON.parse(change.resultText) as JsonObject
    return doneReply({ id, dappId: KERNEL_ID, receipt, result })
  }

  /** The same id is the same work (L6). */
  async #earlier(id: RunId): Promise<IntentReply | undefined> {
    const { ledger } = this.#parts
    const stored = await ledger.unit(singleStepUnitId(id))
    if (stored?.receipt.intent === ROTATION_ACTION && stored.resultText !== undefined) {
      const { receiptHash: receipt } = stored.receipt
      const result = JSON.parse(stored.resultText) as JsonObject
      return doneReply({ id, dappId: KERNEL_ID, receipt, result })
    }
    if (stored === undefined && !ledger.hasRun(id)) return undefined
    const problem = 'another intent has this id'
    return refusal(id, ROTATION_ACTION, 'id_reused', { problem })
  }

  #item(given: {
    readonly id: RunId
    readonly at: number
    readonly principal: Json
    readonly payloadText: string
    readonly resultText: string
    readonly writes: ReadonlyMap<string, string>
  }): JournalItem {
    const { id: runId, at, principal, payloadText, resultText, writes } = given
    const id = singleStepUnitId(runId)
    const base = this.#parts.ledger.head() ?? 'GENESIS'
    return {
      runId,
      entries: [],
      unit: {
        id,
        action: ROTATION_ACTION,
        dappId: KERNEL_ID,
        payloadText,
        payloadPrivate: false,
        at,
        seed: { base, value: seedOf(base, id) },
        principal,
        provider: {
          kind: 'kernel',
          id: `${KERNEL_ID}@${KERNEL_VERSION}`,
          codeHash: KERNEL_HASH,
          profile: this.#parts.profile
        },
        capabilitiesDeclared: [],
        capabilitiesUsed: [],
        sealed: [],
        resultText,
        resultPrivate: false,
        reads: new Map(),
        lists: new Map(),
        writes
      }
    }
  }
}

export interface KeyRotationParts {
  readonly ledger: Ledger
  /** Absent where a test holds them. */
  readonly keys?: OwnKeys
  readonly clock: Clock
  readonly random: Random
  readonly profile: Json
}

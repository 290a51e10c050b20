import { resolve } from 'node:path'
import {
  isJsonObject,
  isTallyError,
  type Json,
  type JsonObject,
  ledgerError,
  type RunId
} from '../../core/index.js'
import { doneReply, type IntentReply, KERNEL_ID } from '../../intent/index.js'
import {
  type GivenNote,
  importIntoOpen,
  type Ledger,
  type Location,
  type Store
} from '../../ledger/index.js'
import { openForMany, refusal } from '../gate/refusal.js'

const ACTION = 'system.import'

interface Asked {
  readonly file: string
  readonly notes: readonly GivenNote[]
}

/**
 * `system.import`: `{ file, notes? }` on the machine of the ledger, which it replaces (K2, K10).
 *
 * Owns: which import is under way; there is one at a time, and the runtime closes only after it.
 * Does not own: what is built and compared, and the mode, which are the ledger's.
 *
 * It leaves no receipt: the chain that was asked is not the one that continues. What is imported is
 * a read-only replica, as after `importSnapshot`; opening it to run takes it over (formats.md §8).
 */
export class Importing {
  readonly #ledger: Ledger
  readonly #store: Store
  /** Undefined in memory. */
  readonly #location: Location | undefined
  /** A data directory is that of all identities. */
  readonly #isShared: boolean
  #underWay: { readonly id: RunId; readonly reply: Promise<IntentReply> } | undefined
  #isClosing = false

  constructor(opened: {
    readonly ledger: Ledger
    readonly store: Store
    readonly location?: Location
    readonly shared?: object
  }) {
    this.#ledger = opened.ledger
    this.#store = opened.store
    this.#location = opened.location
    this.#isShared = opened.shared !== undefined
  }

  async act(asked: { readonly id: RunId; readonly payload: JsonObject }): Promise<IntentReply> {
    const { id, payload } = asked
    const given = askedIn(payload)
    if (given === undefined) {
      const problem = 'it takes { file } and { notes: [{ source, text }] } and nothing else'
      return refusal(id, ACTION, 'invalid_input', { problem })
    }
    // The same id is the same work (L6), as long as it is under way.
    if (this.#underWay?.id === id) return this.#underWay.reply
    if (this.#isShared) return openForMany(id, ACTION)
    const busy = this.#whyNot()
    if (busy !== undefined) return refusal(id, ACTION, 'restoring', { problem: busy })
    const location = this.#location
    if (location === undefined) {
      return refusal(id, ACTION, 'not_on_disk', { problem: 'the ledger is in memory' })
    }
    const reply = this.#import(id, location, given)
    this.#underWay = { id, reply }
    try {
      return await reply
    } finally {
      this.#underWay = undefined
    }
  }

  /** Calls off what is under way, unless it is past that, and waits for its end. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#underWay?.reply.catch(() => undefined)
  }

  #whyNot(): string | undefined {
    if (this.#isClosing) return 'the ledger is being closed'
    if (this.#underWay !== undefined) return 'another snapshot is being imported'
    if (this.#ledger.state().mode !== 'restoring') return undefined
    return 'a snapshot has taken its place; close it and open it again'
  }

  async #import(id: RunId, location: Location, { file, notes }: Asked): Promise<IntentReply> {
    const open = { location, store: this.#store, restoring: this.#ledger.restoring }
    const options = { file: resolve(file), notes, isCalledOff: () => this.#isClosing }
    try {
      const { mode, cause } = this.#ledger.state()
      if (mode === 'poisoned') {
        throw ledgerError('ledger.poisoned', { problem: cause?.message ?? 'a write failed' })
      }
      const { outcome, report, ...rest } = await importIntoOpen(open, options)
      const isReplaced = outcome === 'replaced'
      const { notChecked } = report
      const about = { outcome, restored: isReplaced, restart: isReplaced, ...rest }
      const result = { ...about, openRuns: [...rest.openRuns], notChecked: [...notChecked] }
      return doneReply({ id, dappId: KERNEL_ID, receipt: null, result })
    } catch (error) {
      if (!isTallyError(error)) throw error
      const { code, message, fix } = error
      return refusal(id, ACTION, 'not_imported', { problem: message, code, fix })
    }
  }
}

function askedIn(payload: JsonObject): Asked | undefined {
  const { file, notes = [], ...rest } = payload
  if (typeof file !== 'string' || file === '' || Object.keys(rest).length > 0) return undefined
  const given = Array.isArray(notes) ? notes.map(noteIn) : [undefined]
  const whole = given.filter((note) => note !== undefined)
  return whole.length === given.length ? { file, notes: whole } : undefined
}

function noteIn(value: Json): GivenNote | undefined {
  const { source, text, ...rest } = isJsonObject(value) ? value : {}
  if (typeof source !== 'string' || typeof text !== 'string') return undefined
  return Object.keys(rest).length === 0 ? { source, text } : undefined
}

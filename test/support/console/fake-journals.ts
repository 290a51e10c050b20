import type { JournalEntry } from '../../../src/block/index.js'
import type { Response } from '../../../src/code/index.js'
import {
  canonicalize,
  digestOf,
  type Hash,
  hashJson,
  type Json,
  type JsonObject
} from '../../../src/core/index.js'
import { localSigner } from '../../../src/identity/index.js'
import type { JournalLine } from '../../../src/runtime/index.js'

/** When the runs of the fake ledger begin: the same in every test. */
export const START = Date.UTC(2026, 10, 22, 15, 2, 39, 115)
const signer = localSigner(Buffer.from(hashJson('seed of the fake ledger'), 'hex'))
export const identity = signer.publicKey

/** Signature of a hash by the fake ledger's key. */
export function signed(hash: string): string {
  return Buffer.from(signer.sign(Buffer.from(hash, 'hex'))).toString('hex')
}

export interface FakeWait {
  readonly reason: string
  readonly request: Json
  readonly actions: readonly string[]
  readonly due?: number
}

/** The entry of a kind; one entry may be of two. */
type EntryOf<Entry, Kind> = Entry extends { readonly k: infer Known }
  ? Kind extends Known
    ? Entry
    : never
  : never
type Part<Kind extends JournalEntry['k']> = Omit<
  EntryOf<JournalEntry, Kind>,
  'run' | 'n' | 'at' | 'k'
>

/** Writes the journal of a run that never ran: what the page draws, in the kernel's own shape. */
export class FakeJournal {
  readonly id: string
  readonly lines: JournalLine[] = []
  readonly startedAt: number
  readonly #blockHash = hashJson('code')
  #at: number
  #step = 0

  constructor(
    id: string,
    { name, input, startedAt }: { name: string; input: Json; startedAt: number }
  ) {
    this.id = id
    this.startedAt = startedAt
    this.#at = startedAt
    this.#add('run.started', {
      status: 'running',
      name,
      definition: {},
      definitionHash: hashJson(name),
      input,
      inputHash: hashJson(input),
      base: 'GENESIS',
      principal: { kind: 'owner', id: 'local' }
    })
  }

  get at(): number {
    return this.#at
  }

  /** A step that succeeds, with an effect where one is named. */
  step(node: string, data: Json, { effect, ms = 2 }: { effect?: string; ms?: number } = {}): this {
    const place = this.#place(node)
    if (effect !== undefined) this.#effect(place, effect, data, ms)
    else this.#at += ms
    return this.#settled(place, { success: true, data, metadata: {} })
  }

  /** A step that fails, after attempts that failed before it. */
  fails(node: string, reason: string, { tries = 1 }: { tries?: number } = {}): this {
    const { path, step } = this.#place(node)
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      this.#at += 40
      const details = { message: `${reason} at try ${attempt}` }
      this.#settled(
        { path, step, attempt },
        { success: false, data: null, reason, details, metadata: {} }
      )
      if (attempt < tries) {
        this.#at += 900 * attempt
        this.#add('timer', { path, step })
      }
    }
    return this
  }

  /** A step that asks; the run is parked, and what it asked is its open wait. */
  waits(node: string, wait: FakeWait) {
    const place = this.#place(node)
    const token = hashJson([this.id, place]).slice(0, 24)
    const due = wait.due ?? null
    const digested = {
      request: wait.request,
      path: place.path,
      step: place.step,
      blockHash: this.#blockHash,
      identity,
      runId: this.id
    }
    const digest = digestOf(digested as never) ?? hashJson(null)
    const { reason, request, actions } = wait
    const requestHash = hashJson(request)
    const began = { ...place, seq: 1, token, reason, request, requestHash, actions, digest, due }
    this.#add('wait', { ...began, blockHash: this.#blockHash })
    this.#add('waiting', { ...place, token })
    const open = { ...digested, token, digest, reason, actions, due }
    this.#add('run.waiting', { status: 'waiting', waits: [open as never], due })
    return open
  }

  /** The process was gone; the next one takes the run up. */
  crashed(ms: number): this {
    this.#at += ms
    this.#add('run.resumed', { status: 'running', waits: [], due: null })
    return this
  }

  /** A turn of an agent, as the room of agents seals and settles it. */
  turn(node: string, text: string, data: JsonObject): this {
    const tokens = { inputTokens: 812, outputTokens: 64, totalTokens: 876 }
    const usage = { ...tokens, costUsd: '0.0021' }
    const place = this.#place(node)
    this.#effect(place, 'agent.turn', { finalText: text, usage }, 1_400)
    return this.#settled(place, { success: true, data: { ...data, text }, metadata: {} })
  }

  begins(node: string, effect: string): this {
    const place = this.#place(node)
    this.#at += 4
    const requestHash = hashJson([effect, place])
    const key = hashJson([requestHash])
    const sideEffects = 'non_idempotent'
    this.#add('requested', { ...place, seq: 1, effect, sideEffects, requestHash, key })
    return this
  }

  finishes(status: 'done' | 'failed' | 'cancelled', response: Response): this {
    this.#at += 1
    const journalHash = hashJson(canonicalize(this.lines.map(({ entry }) => entry)))
    this.#add('run.finished', { status, response, journalHash }, hashJson([this.id, 'completed']))
    return this
  }

  #effect(
    place: { path: string; step: number; attempt: number },
    effect: string,
    body: Json,
    ms: number
  ) {
    const requestHash = hashJson([effect, place])
    const key = hashJson([requestHash])
    this.#at += 1
    const sideEffects = 'idempotent'
    this.#add('requested', { ...place, seq: 1, effect, sideEffects, requestHash, key })
    this.#at += ms
    const salt = hashJson('salt')
    const responseHash = hashJson({ body, salt })
    this.#add('sealed', {
      ...place,
      seq: 1,
      effect,
      requestHash,
      responseHash,
      salt,
      ok: true,
      body
    })
  }

  #place(node: string) {
    this.#step += 1
    return { path: node === '' ? 'root' : `root/${node}`, step: this.#step, attempt: 1 }
  }

  #settled(place: { path: string; step: number; attempt: number }, response: Response): this {
    this.#at += 1
    const receipt = response.success ? hashJson([this.id, place]) : null
    this.#add('settled', { ...place, response, sent: false }, receipt)
    return this
  }

  #add<Kind extends JournalEntry['k']>(k: Kind, part: Part<Kind>, receiptHash: Hash | null = null) {
    const entry = { ...part, k, run: this.id, n: this.lines.length, at: this.#at }
    this.lines.push({ entry: JSON.parse(canonicalize(entry)), receiptHash })
  }
}

import { canonicalString, type Json, type JsonObject, sha256Hex } from '../core/index.js'
import type { Execution } from '../executor/index.js'

/** What a write does to a fake chain's state, or a refusal. */
export type FakeEffect =
  | { readonly ok: true; readonly outputs: JsonObject }
  | { readonly ok: false; readonly name: string; readonly args?: JsonObject }

/** What kind of chain a fake one is. */
export interface FakeChainOptions {
  /** CAIP-2. */
  readonly id: string
  /**
   * Whether transactions are ordered by account nonces; without them, they expire. Default: not on
   * `solana:...`.
   */
  readonly hasNonces?: boolean
  /** Without nonces: blocks in which a transaction can be included. Default 150. */
  readonly validityBlocks?: number
  /** Whether nodes tell of a transaction that it waits. Default: true. */
  readonly showsPool?: boolean
  /** Answers a read from the state. Default: `{}`. */
  readonly read?: (execution: Execution, state: ReadonlyMap<string, Json>) => JsonObject
  /** Carries out a write on the state. Default: succeeds, and changes nothing. */
  readonly write?: (execution: Execution, state: Map<string, Json>, from: string) => FakeEffect
  /** Whether a transaction takes the place of one that waits with its nonce. Default: none does. */
  readonly outbids?: (next: Execution, waiting: Execution) => boolean
}

/** A transaction as the fake chain keeps it. */
export interface FakeTransaction {
  readonly hash: string
  readonly from: string
  readonly nonce: number | null
  readonly validUntil: number | null
  readonly execution: Execution
  /** What it pays; a tenth more takes the place of what waits with its nonce. Default 0. */
  readonly fee?: number
}

/** A block as the fake chain keeps it. */
export interface FakeBlock {
  readonly hash: string
  readonly transactions: readonly FakeTransaction[]
  readonly effects: ReadonlyMap<string, FakeEffect>
}

const VALIDITY_BLOCKS = 150

/**
 * A chain in memory: a pool, blocks, a state that is computed from the blocks, and reorgs.
 * Deterministic: the same calls give the same hashes. A documented fake, for tests without a node.
 *
 * Owns: its blocks and its pool. Does not own: keys; knowing an address is enough to send from it.
 */
export class FakeChain {
  readonly id: string
  /** Whether a transaction is included as soon as it arrives. */
  mining = true
  /** Whether a transaction stays in the pool, and with it those that come after it. */
  holds: (transaction: FakeTransaction) => boolean = () => false
  /** Called before each request of an executor; what it throws is what the executor gets. */
  fault: (request: 'read' | 'ready' | 'prepare' | 'broadcast' | 'look') => void = () => undefined
  /** Whether an account has anything to pay fees with. */
  canPay: (account: string) => boolean = () => true
  /** Whether a contract is at an address. */
  hasCode: (address: string) => boolean = () => true
  readonly #options: FakeChainOptions
  #blocks: FakeBlock[] = []
  #pool: FakeTransaction[] = []
  #forks = 0

  constructor(options: FakeChainOptions) {
    this.id = options.id
    this.#options = options
  }

  /** Whether transactions are ordered by account nonces. */
  get hasNonces(): boolean {
    return this.#options.hasNonces ?? !this.id.startsWith('solana:')
  }

  /** Number of the last block that can hold a transaction which is signed now; null: none is. */
  get validUntil(): number | null {
    return this.hasNonces ? null : this.height + (this.#options.validityBlocks ?? VALIDITY_BLOCKS)
  }

  get showsPool(): boolean {
    return this.#options.showsPool ?? true
  }

  /** Number of the newest block; 0 before the first. */
  get height(): number {
    return this.#blocks.length
  }

  get state(): ReadonlyMap<string, Json> {
    return this.#stateAfter(this.#blocks)
  }

  /** The state after a block, by its number; 0: before the first. */
  stateAt(height: number): ReadonlyMap<string, Json> {
    return this.#stateAfter(this.#blocks.slice(0, height))
  }

  /** A block by its number, from 1 on. */
  block(number: number): FakeBlock | undefined {
    return this.#blocks[number - 1]
  }

  /** What waits for a block. */
  get pool(): readonly FakeTransaction[] {
    return this.#pool
  }

  read(execution: Execution): JsonObject {
    return this.#options.read?.(execution, this.state) ?? {}
  }

  /** What a write would do now. */
  trial(execution: Execution, from: string): FakeEffect {
    const state = new Map(this.state)
    // What waits comes first.
    for (const one of this.#pool) this.#apply(one, state)
    return this.#apply({ execution, from }, state)
  }

  counts(from: string): { readonly included: number; readonly pending: number } {
    const own = (list: readonly FakeTransaction[]) =>
      list.filter((one) => one.from === from && one.nonce !== null).length
    const included = own(this.#blocks.flatMap(({ transactions }) => transactions))
    return { included, pending: included + own(this.#pool) }
  }

  /** Takes a transaction, as a node does; bytes that it has are no harm. */
  receive(transaction: FakeTransaction): 'accepted' | 'known' | 'nonce_used' | 'expired' {
    const { hash, from, nonce, validUntil } = transaction
    if (this.find(hash) !== undefined) return 'known'
    if (validUntil !== null && validUntil <= this.height) return 'expired'
    if (nonce !== null && nonce < this.counts(from).included) return 'nonce_used'
    const waiting = this.#pool.find((one) => one.from === from && one.nonce === nonce)
    if (nonce !== null && waiting !== undefined) {
      const { outbids } = this.#options
      const { fee = 0, execution } = transaction
      const isDearer = fee > 0 && fee * 10 >= (waiting.fee ?? 0) * 11
      if (!isDearer && outbids?.(execution, waiting.execution) !== true) return 'nonce_used'
      this.#pool = this.#pool.filter((one) => one !== waiting)
    }
    this.#pool.push(transaction)
    if (this.mining) this.mine()
    return 'accepted'
  }

  /** Makes blocks; the first takes what can be included, in the order of the nonces. */
  mine(blocks = 1): void {
    for (let made = 0; made < blocks; made += 1) {
      const number = this.height + 1
      this.#pool = this.#pool.filter(
        ({ validUntil }) => validUntil === null || validUntil >= number
      )
      const state = new Map(this.state)
      const taken: FakeTransaction[] = []
      const effects = new Map<string, FakeEffect>()
      for (let next = this.#next(taken); next !== undefined; next = this.#next(taken)) {
        effects.set(next.hash, this.#apply(next, state))
        taken.push(next)
        this.#pool = this.#pool.filter((one) => one !== next)
      }
      const hash = this.#hashOf(['block', this.height, this.#forks])
      this.#blocks.push({ hash, transactions: taken, effects })
    }
  }

  /** Takes the newest blocks away, and with them their transactions. */
  reorg(depth: number): void {
    this.#forks += 1
    const kept = Math.max(0, this.height - depth)
    this.#blocks = this.#blocks.slice(0, kept)
    this.mine(depth)
  }

  /** Forgets what waits for a block. */
  forgetPool(): void {
    this.#pool = []
  }

  find(
    hash: string
  ):
    | { readonly block: null }
    | { readonly block: number; readonly blockHash: string; readonly effect: FakeEffect }
    | undefined {
    if (this.#pool.some((one) => one.hash === hash)) return { block: null }
    for (const [index, { hash: blockHash, effects }] of this.#blocks.entries()) {
      const effect = effects.get(hash)
      if (effect !== undefined) return { block: index + 1, blockHash, effect }
    }
    return undefined
  }

  /** A transaction that waits or was included, by its hash. */
  sent(hash: string): FakeTransaction | undefined {
    const all = [...this.#pool, ...this.#blocks.flatMap(({ transactions }) => transactions)]
    return all.find((one) => one.hash === hash)
  }

  /** The transaction that used a nonce. */
  atNonce(from: string, nonce: number): string | undefined {
    const all = this.#blocks.flatMap(({ transactions }) => transactions)
    return all.find((one) => one.from === from && one.nonce === nonce)?.hash
  }

  /** Transactions that were included and took effect, in order. */
  effective(): readonly FakeTransaction[] {
    return this.#blocks.flatMap(({ transactions, effects }) =>
      transactions.filter(({ hash }) => effects.get(hash)?.ok === true)
    )
  }

  #next(taken: readonly FakeTransaction[]): FakeTransaction | undefined {
    return this.#pool.find((transaction) => {
      const { from, nonce } = transaction
      if (this.holds(transaction)) return false
      if (nonce === null) return true
      const own = taken.filter((one) => one.from === from).length
      return nonce === this.counts(from).included + own
    })
  }

  #stateAfter(blocks: readonly FakeBlock[]): ReadonlyMap<string, Json> {
    const state = new Map<string, Json>()
    for (const { transactions } of blocks) for (const one of transactions) this.#apply(one, state)
    return state
  }

  // A refusal leaves no trace in the state.
  #apply(
    { execution, from }: Pick<FakeTransaction, 'execution' | 'from'>,
    state: Map<string, Json>
  ): FakeEffect {
    const { write } = this.#options
    if (write === undefined) return { ok: true, outputs: {} }
    const copy = new Map(state)
    const effect = write(execution, copy, from)
    if (effect.ok) for (const [key, value] of copy) state.set(key, value)
    return effect
  }

  #hashOf(parts: Json): string {
    return `0x${sha256Hex(`${this.id} ${canonicalString(JSON.stringify(parts))}`)}`
  }
}

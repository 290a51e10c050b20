import { testingError } from '../../core/index.js'
import type { RpcValue } from '../rpc-node/index.js'
import type { SolanaLibraries } from './libraries.js'
import { type Execution, Machine } from './machine.js'
import { Resolver } from './resolver.js'
import { type SolanaSent, sentOf } from './sent.js'
import { shownMeta } from './shown-meta.js'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

export interface SolanaBlock {
  readonly slot: number
  readonly blockhash: string
}

/** A transaction that is in the chain. */
export interface SolanaRecord {
  readonly sent: SolanaSent
  readonly slot: number
  readonly error: RpcValue
  /** Static ones first, then those that lookup tables name. */
  readonly accounts: readonly string[]
  readonly meta: RpcValue
}

/** What a chain is made from again. */
export interface SolanaState {
  readonly genesisHash: string
  readonly machine: Uint8Array
  readonly blocks: readonly SolanaBlock[]
  readonly records: readonly (Omit<SolanaRecord, 'sent'> & { readonly wire: Uint8Array })[]
  readonly pool: readonly Uint8Array[]
}

/** Blocks above its own with which a block has these commitments. */
const depths: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 2, finalized: 32 }
/** Blocks for which a blockhash is good. */
export const VALIDITY_BLOCKS = 150
/** Slots in which no block came, before this chain began: heights are no slots. */
const SKIPPED_SLOTS = 22_000_000
/** Finalized blocks of which nodes keep blockhashes and statuses at hand. */
const RECENT_BLOCKS = 300
const KEPT_BLOCKS = RECENT_BLOCKS + depths.finalized
const ADVANCE_SLOTS_MAX = 100_000
/** Of slot 0; the machine begins at slot 447,552,000. */
const FIRST_SECOND = 1_520_979_200
const SLOTS_IN_TWO_SECONDS = 5

/**
 * Slots, blockhashes and transactions on a virtual machine. Each slot has a block. There is one
 * state, the newest, whatever commitment a read asks for.
 *
 * Owns: which transactions are in the chain, and which wait for a block.
 */
export class SolanaChain {
  readonly genesisHash: string
  readonly machine: Machine
  readonly resolver: Resolver
  mining = true
  holds: (signature: string) => boolean = () => false
  readonly #kit: SolanaLibraries['kit']
  readonly #records = new Map<string, SolanaRecord>()
  #blocks: SolanaBlock[]
  #pool: SolanaSent[]

  constructor(libraries: SolanaLibraries, from: SolanaState | { readonly genesisHash: string }) {
    const { kit } = libraries
    const state = 'machine' in from ? from : undefined
    this.#kit = kit
    this.genesisHash = from.genesisHash
    this.machine = new Machine(libraries, state?.machine)
    this.resolver = new Resolver(libraries, this.machine)
    this.#blocks = [...(state?.blocks ?? [])]
    this.#pool = (state?.pool ?? []).map((wire) => sentOf(kit, wire))
    for (const { wire, ...record } of state?.records ?? []) {
      const sent = sentOf(kit, wire)
      this.#records.set(sent.signature, { ...record, sent })
    }
    if (state === undefined) this.advance(KEPT_BLOCKS)
  }

  get slot(): number {
    return this.machine.slot
  }

  get pool(): readonly string[] {
    return this.#pool.map(({ signature }) => signature)
  }

  get records(): readonly SolanaRecord[] {
    return [...this.#records.values()]
  }

  state(): SolanaState {
    return {
      genesisHash: this.genesisHash,
      machine: this.machine.bytes(),
      blocks: this.#blocks,
      records: this.records.map(({ sent, ...record }) => ({ ...record, wire: sent.wire })),
      pool: this.#pool.map(({ wire }) => wire)
    }
  }

  /** Begins slots; what waits is carried out in the first of them, unless it is held. */
  advance(slots: number): void {
    if (!Number.isSafeInteger(slots) || slots < 0 || slots > ADVANCE_SLOTS_MAX) {
      const problem = `${slots} is no number of slots up to ${ADVANCE_SLOTS_MAX}`
      throw testingError('testing.chain_invalid', { problem })
    }
    for (let begun = 0; begun < slots; begun += 1) {
      this.machine.tick(secondOf(this.slot + 1))
      this.#blocks.push({ slot: this.slot, blockhash: this.machine.blockhash })
      if (this.#blocks.length > KEPT_BLOCKS) this.#blocks.shift()
      const waiting = this.#pool
      this.#pool = []
      for (const sent of waiting) {
        if (this.holds(sent.signature)) this.#pool.push(sent)
        else this.#include(sent)
      }
      this.#pool = this.#pool.filter((sent) => this.#isYoung(sent))
    }
  }

  forgetPool(): void {
    this.#pool = []
  }

  block(commitment: Commitment): SolanaBlock & { readonly height: number } {
    const block = this.#blocks.at(-1 - depths[commitment])
    if (block === undefined) throw new Error('a chain has more blocks than it finalizes')
    return { ...block, height: heightOf(block.slot) }
  }

  /** Slots of the newest blocks, oldest first. */
  slots(count: number): readonly number[] {
    return this.#blocks.slice(-count).map(({ slot }) => slot)
  }

  /** Height of the last block that may hold a transaction with this blockhash. */
  validUntil(blockhash: string): number | undefined {
    const block = this.#blocks.findLast((one) => one.blockhash === blockhash)
    return block === undefined ? undefined : heightOf(block.slot) + VALIDITY_BLOCKS
  }

  /** As it is seen from the newest block of a commitment. */
  isValid(blockhash: string, commitment: Commitment): boolean {
    const { slot, height } = this.block(commitment)
    const block = this.#blocks.findLast((one) => one.blockhash === blockhash)
    if (block === undefined || block.slot > slot) return false
    return height <= heightOf(block.slot) + VALIDITY_BLOCKS
  }

  /** Tries a transaction as a node does before it passes it on. */
  preflight(
    sent: SolanaSent,
    options: {
      readonly commitment: Commitment
      readonly checksSignatures: boolean
      readonly checksBlockhash: boolean
    }
  ): Execution {
    const { commitment, checksSignatures, checksBlockhash } = options
    if (checksBlockhash && !this.isValid(sent.blockhash, commitment) && !this.#isDurable(sent)) {
      return refused('BlockhashNotFound')
    }
    if (this.#records.has(sent.signature)) return refused('AlreadyProcessed')
    return this.machine.try(sent, checksSignatures)
  }

  /** Takes a transaction that a node passed on, or the same once more: another chance for it. */
  receive(sent: SolanaSent): void {
    this.#pool = this.#pool.filter(({ signature }) => signature !== sent.signature)
    if (this.mining && !this.holds(sent.signature)) this.#include(sent)
    else this.#pool.push(sent)
  }

  find(signature: string): SolanaRecord | undefined {
    return this.#records.get(signature)
  }

  /** Whether nodes keep the status of a transaction of this slot at hand. */
  isRecent({ slot }: SolanaRecord): boolean {
    return this.slot - slot < KEPT_BLOCKS
  }

  commitmentOf({ slot }: SolanaRecord): Commitment {
    const depth = this.slot - slot
    if (depth >= depths.finalized) return 'finalized'
    return depth >= depths.confirmed ? 'confirmed' : 'processed'
  }

  /** Carries a transaction out; one that a leader would not take leaves no trace. */
  #include(sent: SolanaSent): void {
    if (!sent.isSigned || this.#records.has(sent.signature) || !this.#isYoung(sent)) return
    const isDurable = this.#isDurable(sent)
    const accounts = this.resolver.accountsOf(sent.message)
    const before = this.resolver.holdings(accounts.all)
    const execution = this.machine.carryOut(sent)
    if (!execution.isIncluded) return
    // The machine takes back all that a failing transaction did, and nodes all but this.
    if (execution.error !== null && isDurable) this.resolver.advanceNonce(sent.message)
    const after = this.resolver.holdings(accounts.all)
    const meta = shownMeta(this.#kit, { execution, accounts, before, after })
    const { slot } = this
    const record = { sent, slot, error: execution.error, accounts: accounts.all, meta }
    this.#records.set(sent.signature, record)
  }

  #isYoung(sent: SolanaSent): boolean {
    return this.isValid(sent.blockhash, 'processed') || this.#isDurable(sent)
  }

  /** Whether it begins with advancing a nonce account that has its blockhash. */
  #isDurable({ message, blockhash }: SolanaSent): boolean {
    return this.resolver.nonceOf(message) === blockhash
  }
}

export function heightOf(slot: number): number {
  return slot - SKIPPED_SLOTS
}

export function secondOf(slot: number): number {
  return FIRST_SECOND + Math.floor((slot * 2) / SLOTS_IN_TWO_SECONDS)
}

function refused(error: string): Execution {
  return {
    error,
    isIncluded: false,
    fee: 0n,
    logs: [],
    units: 0n,
    inner: [],
    returned: undefined,
    accounts: new Map()
  }
}

import { type Json, present, shownText } from '../../core/index.js'
import type { Execution } from '../../executor/index.js'
import { FakeChain, type FakeEffect } from '../fake-chain.js'
import type { EvmToken } from './evm-token.js'
import { type CallEnd, type Contract, tokenContract } from './token.js'
import type { EvmSent } from './transaction.js'
import type { Hex, Viem } from './viem.js'

/** A call as it is executed. */
export interface EvmCall {
  readonly from: string
  readonly to: string
  readonly input: Hex
  readonly value: bigint
  /** Undefined: as much as it needs. */
  readonly gas: bigint | undefined
}

/** Wei for a unit of gas: of every block, and the tip that the node suggests. */
export const BASE_FEE = 1_000_000_000n
export const TIP = 1_000_000_000n

const GAS_OF_TRANSACTION = 21_000n
const GAS_OF_BYTE = 16n
const GAS_OF_CONTRACT = 40_000n
/** Percent of its fee with which another transaction takes the place of one that waits. */
const OUTBID_PERCENT = 110n

/**
 * The accounts and contracts of the fake node, on a {@link FakeChain}: that has pool, blocks,
 * nonces and reorgs, and this says what transactions do and cost.
 *
 * Owns: the transactions that it was sent, decoded.
 */
export class EvmState {
  readonly chain: FakeChain
  readonly #begun: ReadonlyMap<string, bigint>
  readonly #contracts: ReadonlyMap<string, Contract>
  readonly #sent = new Map<string, EvmSent>()

  constructor(
    viem: Viem,
    options: {
      readonly chainId: number
      readonly balances: Readonly<Record<string, bigint>>
      readonly tokens: readonly EvmToken[]
    }
  ) {
    const { chainId, balances, tokens } = options
    this.#begun = new Map(
      Object.entries(balances).map(([address, wei]) => [address.toLowerCase(), wei])
    )
    this.#contracts = new Map(
      tokens.map((token) => [token.address.toLowerCase(), tokenContract(viem, token)])
    )
    this.chain = new FakeChain({
      id: `eip155:${chainId}`,
      write: (execution, state) => this.#write(execution, state),
      outbids: (next, waiting) => {
        const least = this.#sentBy(waiting).maxFeePerGas * OUTBID_PERCENT
        return this.#sentBy(next).maxFeePerGas * 100n >= least
      }
    })
  }

  isContract(address: string): boolean {
    return this.#contracts.has(address.toLowerCase())
  }

  receive(sent: EvmSent): ReturnType<FakeChain['receive']> {
    const { hash, from, nonce } = sent
    this.#sent.set(hash, sent)
    const execution = { type: 'evm_transaction', hash }
    return this.chain.receive({ hash, from: lower(from), nonce, validUntil: null, execution })
  }

  /** A transaction that was sent to the node, wherever it is now. */
  sent(hash: string): EvmSent | undefined {
    return this.#sent.get(hash)
  }

  /** Wei of an account after a block, fees that it has paid taken off. */
  balance(address: string, height: number): bigint {
    let paid = 0n
    for (let number = 1; number <= height; number += 1) {
      for (const { from, execution } of this.chain.block(number)?.transactions ?? []) {
        const sent = this.#sentBy(execution)
        if (from === lower(address)) paid += this.gasUsed(sent) * priceOf(sent)
      }
    }
    return this.#wei(this.chain.stateAt(height), address) - paid
  }

  /** What is left of an account when all that waits has been included, at the worst. */
  unspent(address: string): bigint {
    const waiting = this.chain.pool.filter(({ from }) => from === lower(address))
    const bound = waiting.reduce((sum, { execution }) => sum + costOf(this.#sentBy(execution)), 0n)
    return this.balance(address, this.chain.height) - bound
  }

  /** Executes a call on the state after a block, and changes nothing. */
  call(call: EvmCall, height: number): CallEnd {
    return this.#execute(call, new Map(this.chain.stateAt(height)))
  }

  gasNeeded({ to, input }: Pick<EvmCall, 'to' | 'input'>): bigint {
    const bytes = BigInt((input.length - 2) / 2)
    const contract = this.isContract(to) ? GAS_OF_CONTRACT : 0n
    return GAS_OF_TRANSACTION + GAS_OF_BYTE * bytes + contract
  }

  gasUsed(sent: EvmSent): bigint {
    const needed = this.gasNeeded(sent)
    if (sent.gas < needed) return sent.gas
    return needed
  }

  #write(execution: Execution, state: Map<string, Json>): FakeEffect {
    const end = this.#execute(this.#sentBy(execution), state)
    if (!end.ok) return { ok: false, name: end.name, args: { data: end.data } }
    return { ok: true, outputs: { logs: end.logs as unknown as Json } }
  }

  #execute({ from, to, input, value, gas }: EvmCall, state: Map<string, Json>): CallEnd {
    if (gas !== undefined && gas < this.gasNeeded({ to, input })) return refused('OutOfGas')
    if (value > 0n) {
      const has = this.#wei(state, from)
      // These contracts take no money.
      if (has < value || this.isContract(to)) return refused('ValueRefused')
      state.set(weiOf(from), String(has - value))
      state.set(weiOf(to), String(this.#wei(state, to) + value))
    }
    const contract = this.#contracts.get(lower(to))
    return contract?.(state, from, input) ?? { ok: true, output: '0x', logs: [] }
  }

  #wei(state: ReadonlyMap<string, Json>, address: string): bigint {
    const known = state.get(weiOf(address))
    return typeof known === 'string' ? BigInt(known) : (this.#begun.get(lower(address)) ?? 0n)
  }

  #sentBy({ hash = '' }: Execution): EvmSent {
    return present(this.#sent.get(shownText(hash)), 'a transaction of the chain')
  }
}

/** What a unit of gas costs the sender. */
export function priceOf({ maxFeePerGas, maxPriorityFeePerGas }: EvmSent): bigint {
  const wanted = BASE_FEE + maxPriorityFeePerGas
  return wanted < maxFeePerGas ? wanted : maxFeePerGas
}

/** What a transaction can cost at most. */
export function costOf({ value, gas, maxFeePerGas }: EvmSent): bigint {
  return value + gas * maxFeePerGas
}

function refused(name: string): CallEnd {
  return { ok: false, name, data: '0x' }
}

function lower(address: string): string {
  return address.toLowerCase()
}

function weiOf(address: string): string {
  return `wei/${lower(address)}`
}

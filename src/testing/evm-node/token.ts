import type { Json } from '../../core/index.js'
import type { EvmToken } from './evm-token.js'
import type { Hex, Viem } from './viem.js'

export interface EvmLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** What a call of a contract came to. */
export type CallEnd =
  | { readonly ok: true; readonly output: Hex; readonly logs: readonly EvmLog[] }
  | { readonly ok: false; readonly name: string; readonly data: Hex }

/** Executes a call on the state; what it has changed when it is refused is thrown away. */
export type Contract = (state: Map<string, Json>, from: string, data: Hex) => CallEnd

const signatures = [
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)'
] as const

type State = ReadonlyMap<string, Json>

const abiOf = (viem: Viem) => viem.parseAbi(signatures)

/** The contract of a token: ERC-20 with the errors of ERC-6093, and nothing else. */
export function tokenContract(viem: Viem, token: EvmToken): Contract {
  const contract = new TokenContract(viem, token)
  return (state, from, data) => contract.execute(state, viem.getAddress(from), data)
}

class TokenContract {
  readonly #viem: Viem
  readonly #abi: ReturnType<typeof abiOf>
  readonly #token: EvmToken
  readonly #address: Hex
  readonly #begun: ReadonlyMap<string, bigint>

  constructor(viem: Viem, token: EvmToken) {
    this.#viem = viem
    this.#abi = abiOf(viem)
    this.#token = token
    this.#address = viem.getAddress(token.address)
    const begun = Object.entries(token.balances)
    this.#begun = new Map(begun.map(([owner, units]) => [owner.toLowerCase(), units]))
  }

  execute(state: Map<string, Json>, from: Hex, data: Hex): CallEnd {
    const called = decoded(() => this.#viem.decodeFunctionData({ abi: this.#abi, data }))
    if (called === undefined) return { ok: false, name: 'UnknownFunction', data: '0x' }
    const { name = 'Token', symbol = 'TKN', decimals = 18 } = this.#token
    switch (called.functionName) {
      case 'name':
        return this.#gives('string', name)
      case 'symbol':
        return this.#gives('string', symbol)
      case 'decimals':
        return this.#gives('uint256', BigInt(decimals))
      case 'totalSupply':
        return this.#gives('uint256', this.#supply())
      case 'balanceOf':
        return this.#gives('uint256', this.#balance(state, called.args[0]))
      case 'allowance':
        return this.#gives('uint256', this.#allowance(state, called.args[0], called.args[1]))
      case 'transfer':
        return this.#move(state, from, called.args[0], called.args[1])
      case 'approve': {
        const [spender, value] = called.args
        state.set(this.#key('allowance', from, spender), String(value))
        return this.#gives('bool', true, [this.#log('Approval', [from, spender], value)])
      }
      case 'transferFrom':
        return this.#take(state, from, called.args)
    }
  }

  #take(
    state: Map<string, Json>,
    spender: Hex,
    [owner, to, value]: readonly [Hex, Hex, bigint]
  ): CallEnd {
    const allowed = this.#allowance(state, owner, spender)
    if (allowed < value) {
      return this.#refuses('ERC20InsufficientAllowance', [spender, allowed, value])
    }
    state.set(this.#key('allowance', owner, spender), String(allowed - value))
    return this.#move(state, owner, to, value)
  }

  #move(state: Map<string, Json>, from: Hex, to: Hex, value: bigint): CallEnd {
    const has = this.#balance(state, from)
    if (has < value) return this.#refuses('ERC20InsufficientBalance', [from, has, value])
    state.set(this.#key('balance', from), String(has - value))
    state.set(this.#key('balance', to), String(this.#balance(state, to) + value))
    return this.#gives('bool', true, [this.#log('Transfer', [from, to], value)])
  }

  #supply(): bigint {
    return [...this.#begun.values()].reduce((sum, units) => sum + units, 0n)
  }

  #balance(state: State, owner: string): bigint {
    const known = numberAt(state, this.#key('balance', owner))
    return known ?? this.#begun.get(owner.toLowerCase()) ?? 0n
  }

  #allowance(state: State, owner: string, spender: string): bigint {
    return numberAt(state, this.#key('allowance', owner, spender)) ?? 0n
  }

  #key(...parts: readonly string[]): string {
    return [this.#address, ...parts].join('/').toLowerCase()
  }

  #gives(type: string, value: string | bigint | boolean, logs: readonly EvmLog[] = []): CallEnd {
    return { ok: true, output: this.#viem.encodeAbiParameters([{ type }], [value]), logs }
  }

  #refuses(
    errorName: 'ERC20InsufficientBalance' | 'ERC20InsufficientAllowance',
    args: readonly [Hex, bigint, bigint]
  ): CallEnd {
    const data = this.#viem.encodeErrorResult({ abi: this.#abi, errorName, args })
    return { ok: false, name: errorName, data }
  }

  #log(
    eventName: 'Transfer' | 'Approval',
    [one, other]: readonly [Hex, Hex],
    value: bigint
  ): EvmLog {
    const { toEventSelector, pad, encodeAbiParameters } = this.#viem
    const [first, second] = [one, other].map((address) => pad(address.toLowerCase() as Hex))
    const kind = toEventSelector(`${eventName}(address,address,uint256)`)
    const data = encodeAbiParameters([{ type: 'uint256' }], [value])
    return { address: this.#address, topics: [kind, first, second] as readonly Hex[], data }
  }
}

function numberAt(state: State, key: string): bigint | undefined {
  const found = state.get(key)
  return typeof found === 'string' ? BigInt(found) : undefined
}

function decoded<Value>(decode: () => Value): Value | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}

import { isJsonObject, type Json, shownText } from '../../core/index.js'
import { NodeError, rpcErrors } from '../rpc-node/index.js'
import { BASE_FEE, costOf, type EvmCall, type EvmState, priceOf, TIP } from './evm-state.js'
import { decodeTransaction, type EvmSent, hex } from './transaction.js'
import type { Hex, Viem } from './viem.js'
import { blockHash, blockView, receiptView, transactionView } from './views.js'

/** Codes of EIP-1474, and 3 for a call that a contract refuses, as Geth has it. */
const nodeErrors = { refused: -32_000, reverted: 3 } as const

/** What the node answers to; everything else is refused as a node refuses it. */
export class NodeMethods {
  readonly #viem: Viem
  readonly #state: EvmState
  readonly #chainId: number

  constructor(viem: Viem, state: EvmState, chainId: number) {
    this.#viem = viem
    this.#state = state
    this.#chainId = chainId
  }

  /** Throws {@link NodeError}. */
  async answer(method: string, params: readonly Json[]): Promise<Json> {
    const state = this.#state
    const [first = null, second = null] = params
    switch (method) {
      case 'eth_chainId':
        return hex(this.#chainId)
      case 'net_version':
        return String(this.#chainId)
      case 'web3_clientVersion':
        return 'tallystick/fake-evm-node'
      case 'eth_blockNumber':
        return hex(state.chain.height)
      case 'eth_gasPrice':
        return hex(BASE_FEE + TIP)
      case 'eth_maxPriorityFeePerGas':
        return hex(TIP)
      case 'eth_getBlockByNumber':
        return blockView(state, this.#blockAt(first, 'any'), second === true)
      case 'eth_getBlockByHash':
        return this.#blockByHash(shownText(first), second === true)
      case 'eth_getBalance':
        return hex(this.#balance(addressIn(first), second))
      case 'eth_getTransactionCount':
        return hex(this.#count(addressIn(first), second))
      case 'eth_getCode':
        return state.isContract(addressIn(first)) ? '0xfe' : '0x'
      case 'eth_call':
        return this.#call(callIn(first), this.#blockAt(second))
      case 'eth_estimateGas':
        return this.#estimate(callIn(first), this.#blockAt(second))
      case 'eth_sendRawTransaction':
        return this.#send(shownText(first))
      case 'eth_getTransactionByHash':
        return transactionView(state, shownText(first))
      case 'eth_getTransactionReceipt':
        return receiptView(state, shownText(first))
      default: {
        const message = `the method ${method} does not exist or is not available`
        throw new NodeError(rpcErrors.unknownMethod, message)
      }
    }
  }

  /** Number of a block; `any`: also of one that is not there. */
  #blockAt(block: Json, which: 'any' | 'known' = 'known'): number {
    const { height } = this.#state.chain
    if (block === null || tagsOfHead.has(shownText(block))) return height
    if (block === 'earliest') return 0
    const number = numberIn(block)
    if (which === 'known' && number > height) {
      throw new NodeError(nodeErrors.refused, 'header not found')
    }
    return number
  }

  #blockByHash(hash: string, isFull: boolean): Json {
    const state = this.#state
    for (let number = state.chain.height; number >= 0; number -= 1) {
      if (blockHash(state, number) === hash) return blockView(state, number, isFull)
    }
    return null
  }

  #balance(address: string, block: Json): bigint {
    if (block !== 'pending') return this.#state.balance(address, this.#blockAt(block))
    const left = this.#state.unspent(address)
    return left > 0n ? left : 0n
  }

  #count(address: string, block: Json): number {
    const { chain } = this.#state
    const own = address.toLowerCase()
    const { included } = chain.counts(own)
    if (block === 'pending') return nextNonce(included, chain.pool, own)
    const height = this.#blockAt(block)
    let count = 0
    for (let number = 1; number <= height; number += 1) {
      const { transactions } = chain.block(number) ?? { transactions: [] }
      count += transactions.filter(({ from }) => from === own).length
    }
    return count
  }

  #call(call: EvmCall, height: number): Hex {
    const end = this.#state.call(call, height)
    if (end.ok) return end.output
    throw reverted(end)
  }

  #estimate(call: EvmCall, height: number): Hex {
    const state = this.#state
    if (state.balance(call.from, height) < call.value) {
      throw new NodeError(nodeErrors.refused, 'insufficient funds for transfer')
    }
    const end = state.call({ ...call, gas: undefined }, height)
    if (!end.ok) throw reverted(end)
    return hex(state.gasNeeded(call))
  }

  async #send(raw: string): Promise<Hex> {
    const sent = await decodeTransaction(this.#viem, raw)
    if (sent === undefined) throw refusal('invalid transaction: it cannot be decoded')
    const problem = this.#problem(sent)
    if (problem !== undefined) throw refusal(problem)
    switch (this.#state.receive(sent)) {
      case 'known':
        throw refusal('already known')
      case 'nonce_used':
        throw refusal('replacement transaction underpriced')
      case 'accepted':
      case 'expired':
        return sent.hash
    }
  }

  /** Why a node does not take it, in the order and the words of Geth. */
  #problem(sent: EvmSent): string | undefined {
    const { from, nonce, hash, chainId, to, gas } = sent
    const state = this.#state
    const { chain } = state
    if (chainId !== undefined && chainId !== this.#chainId) return 'invalid chain id for signer'
    if (to === '') return 'this fake deploys no contracts'
    if (chain.pool.some((one) => one.hash === hash)) return undefined
    if (sent.maxFeePerGas < BASE_FEE) {
      return `max fee per gas less than block base fee: ${priceOf(sent)}`
    }
    if (gas < state.gasNeeded({ to: '', input: sent.input })) return 'intrinsic gas too low'
    const { included } = chain.counts(from.toLowerCase())
    if (nonce < included) return `nonce too low: next nonce ${included}, tx nonce ${nonce}`
    const isWaiting = chain.pool.some(
      (one) => one.from === from.toLowerCase() && one.nonce === nonce
    )
    const funds = isWaiting ? state.balance(from, chain.height) : state.unspent(from)
    if (funds >= costOf(sent)) return undefined
    return `insufficient funds for gas * price + value: have ${funds} want ${costOf(sent)}`
  }
}

const tagsOfHead: ReadonlySet<string> = new Set(['latest', 'pending', 'safe', 'finalized'])

/** Nonces count up to the first gap. */
function nextNonce(
  included: number,
  pool: readonly { readonly from: string; readonly nonce: number | null }[],
  own: string
): number {
  const waiting = new Set(pool.filter(({ from }) => from === own).map(({ nonce }) => nonce))
  let next = included
  while (waiting.has(next)) next += 1
  return next
}

function callIn(given: Json): EvmCall {
  if (!isJsonObject(given)) throw invalid('a call is an object')
  const { from, to, data, input = data, value, gas } = given
  const text = shownText(input ?? '0x')
  if (!/^0x([0-9a-f]{2})*$/i.test(text)) throw invalid('the data of a call is hex')
  return {
    from: from === undefined || from === null ? `0x${'00'.repeat(20)}` : addressIn(from),
    to: addressIn(to ?? null),
    input: text as Hex,
    value: wholeIn(value ?? '0x0'),
    gas: gas === undefined || gas === null ? undefined : wholeIn(gas)
  }
}

function addressIn(given: Json): string {
  const text = shownText(given)
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text
  throw invalid(`${text} is no address`)
}

function wholeIn(given: Json): bigint {
  const text = shownText(given)
  if (/^0x[0-9a-f]{1,64}$/i.test(text)) return BigInt(text)
  throw invalid(`${text} is no quantity`)
}

function numberIn(given: Json): number {
  const number = Number(wholeIn(given))
  if (Number.isSafeInteger(number)) return number
  throw invalid(`${shownText(given)} is no block`)
}

function invalid(message: string): NodeError {
  return new NodeError(rpcErrors.invalidParams, message)
}

function refusal(message: string): NodeError {
  return new NodeError(nodeErrors.refused, message)
}

function reverted({ name, data }: { readonly name: string; readonly data: Hex }): NodeError {
  return new NodeError(nodeErrors.reverted, `execution reverted: ${name}`, data)
}

import { isJsonObject, type Json, type JsonObject, limits, shownText } from '../../core/index.js'
import type { LookRequest, Revert, TransactionStatus } from '../port.js'
import { MalformedAnswer } from '../rpc/malformed.js'
import type { Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { AbiEvent } from './abi-types.js'
import type { EvmChain } from './chain.js'
import { decodeEvent, decodeRevert } from './coding.js'
import { type EvmExecution, parseExecution } from './execution.js'
import { address, bytes, count, hash, hexQuantity, object, quantity } from './quantity.js'
import type { Viem } from './viem.js'

/** What the chain says about a transaction now. */
export async function lookEvm(
  viem: Viem,
  chain: EvmChain,
  request: LookRequest,
  signal: AbortSignal
): Promise<TransactionStatus> {
  const about = { phase: 'confirm', executionType: request.execution.type, sent: true } as const
  return chain.guarded(about, async () => {
    const calls = [
      { method: 'eth_getTransactionReceipt', params: [request.hash] },
      { method: 'eth_blockNumber', params: [] },
      { method: 'eth_getTransactionByHash', params: [request.hash] }
    ]
    const [receipt = null, head = null, known = null] = await chain.rpc.settle(calls, signal)
    if (answered(receipt) !== null) {
      return included(viem, chain, {
        request,
        receipt: object(answered(receipt), 'eth_getTransactionReceipt'),
        head: count(answered(head), 'eth_blockNumber'),
        known,
        signal
      })
    }
    if (answered(known) !== null) {
      const transaction = object(answered(known), 'eth_getTransactionByHash')
      checkAbout(request, 'eth_getTransactionByHash', transaction, transaction['hash'])
      const fields = differences(request.expected, transaction)
      return fields.length > 0 ? { status: 'mismatch', fields } : { status: 'pending' }
    }
    return missing(chain, request, signal)
  })
}

/** What the node has answered to one of several calls; throws its refusal. */
function answered(settled: Settled): Json {
  if (settled instanceof RpcError) throw settled
  return settled
}

/** The node does not know it: its nonce says whether it can still be included. */
async function missing(
  chain: EvmChain,
  { from, nonce, hash: own }: LookRequest,
  signal: AbortSignal
): Promise<TransactionStatus> {
  if (from === null || nonce === null) return { status: 'unknown' }
  const used = await chain.call('eth_getTransactionCount', [from, 'latest'], signal)
  if (count(used, 'eth_getTransactionCount') <= nonce) return { status: 'unknown' }
  const by = await inPlace(chain, from, nonce, signal)
  // Its block knows it before the receipts do.
  if (isSame(by, own)) return { status: 'pending' }
  return { status: 'displaced', cause: 'nonce', by }
}

/**
 * A node may be asked for one transaction and answer with another, by an error or on purpose. Who
 * sent it and its hash are in every answer, so they are compared. A wallet may have named one of
 * another sender.
 */
function checkAbout(
  { hash: own, from, expected }: LookRequest,
  method: string,
  answer: JsonObject,
  named: Json | undefined
): void {
  const sender = answer['from']
  const isOwn = named === undefined || isSame(named, own)
  const isAny = from === null || expected !== null || sender === undefined
  const isFrom = isAny || isSame(sender, from)
  if (!isOwn || !isFrom) throw new MalformedAnswer(method, answer)
}

function isSame(one: Json, other: string): boolean {
  return shownText(one).toLowerCase() === other.toLowerCase()
}

/** The transaction that used the nonce, when it is in one of the last blocks. */
async function inPlace(
  chain: EvmChain,
  from: string,
  nonce: number,
  signal: AbortSignal
): Promise<string | null> {
  const head = count(await chain.call('eth_blockNumber', [], signal), 'eth_blockNumber')
  const last = Math.max(0, head - limits.CHAIN_REPLACEMENT_BLOCKS + 1)
  for (let number = head; number >= last; number -= 1) {
    const block = await chain.call('eth_getBlockByNumber', [hexQuantity(number), true], signal)
    const { transactions } = object(block, 'eth_getBlockByNumber')
    if (!Array.isArray(transactions)) continue
    for (const one of transactions) {
      if (!isJsonObject(one)) continue
      const isFrom = shownText(one['from']).toLowerCase() === from.toLowerCase()
      if (isFrom && one['nonce'] === hexQuantity(nonce))
        return hash(one['hash'], 'eth_getBlockByNumber')
    }
  }
  return null
}

interface Included {
  readonly request: LookRequest
  readonly receipt: JsonObject
  readonly head: number
  /** The transaction itself, needed only when it failed or another sender has sent it. */
  readonly known: Settled
  readonly signal: AbortSignal
}

async function included(viem: Viem, chain: EvmChain, found: Included): Promise<TransactionStatus> {
  const { request, receipt, head, known, signal } = found
  const method = 'eth_getTransactionReceipt'
  checkAbout(request, method, receipt, receipt['transactionHash'])
  const blockNumber = count(receipt['blockNumber'], method)
  const blockHash = hash(receipt['blockHash'], method)
  const success = quantity(receipt['status'], method) === 1n
  const parsed = parseExecution(request.execution)
  const execution = parsed.ok ? parsed.value : undefined
  let revert: Revert | null = null
  if (request.expected !== null || !success) {
    const transaction = object(answered(known), 'eth_getTransactionByHash')
    const fields = differences(request.expected, transaction)
    if (fields.length > 0) return { status: 'mismatch', fields }
    if (!success)
      revert = await reasonOf(viem, chain, { execution, transaction, blockNumber, signal })
  }
  if (request.from !== null)
    chain.nonces(request.from).included(request, { blockNumber, blockHash })
  return {
    status: 'included',
    success,
    blockNumber,
    blockHash,
    // A node behind its own receipts counts as being at the block.
    confirmations: Math.max(1, head - blockNumber + 1),
    outputs: {
      tx_hash: request.hash,
      receipt: receiptOf(viem, receipt, { blockNumber, blockHash, success, execution })
    },
    revert
  }
}

/** Fields in which what was sent is not what was asked for. */
function differences(expected: JsonObject | null, sent: JsonObject): readonly string[] {
  if (expected === null) return []
  const text = (value: Json | undefined) => shownText(value ?? '').toLowerCase()
  const number = (value: Json | undefined) => {
    const digits = shownText(value ?? '0')
    return /^(0x[0-9a-f]+|[0-9]+)$/i.test(digits) ? BigInt(digits) : undefined
  }
  const differs: Readonly<Record<string, boolean>> = {
    to: text(expected['to']) !== text(sent['to']),
    data: text(expected['data']) !== text(sent['input'] ?? sent['data']),
    value: number(expected['value']) !== number(sent['value']),
    from: expected['from'] !== undefined && text(expected['from']) !== text(sent['from']),
    chainId: sent['chainId'] != null && number(expected['chainId']) !== number(sent['chainId'])
  }
  return Object.keys(differs).filter((field) => differs[field] === true)
}

/** A receipt does not say why: the call is made again, on the state before and after its block. */
async function reasonOf(
  viem: Viem,
  chain: EvmChain,
  given: {
    readonly execution: EvmExecution | undefined
    readonly transaction: JsonObject
    readonly blockNumber: number
    readonly signal: AbortSignal
  }
): Promise<Revert | null> {
  const { execution, transaction, blockNumber, signal } = given
  const method = 'eth_getTransactionByHash'
  const call = {
    from: address(transaction['from'], method),
    to: address(transaction['to'], method),
    data: bytes(transaction['input'] ?? transaction['data'], method),
    value: hexQuantity(quantity(transaction['value'], method)),
    gas: hexQuantity(quantity(transaction['gas'], method))
  }
  // The block before has the state, its own has the time.
  for (const block of [Math.max(0, blockNumber - 1), blockNumber]) {
    try {
      await chain.call('eth_call', [call, hexQuantity(block)], signal)
    } catch (error) {
      if (!(error instanceof RpcError) || !error.answered) return null
      const own = execution !== undefined && 'errors' in execution ? execution.errors : []
      return decodeRevert(viem, error.data, [...own, ...chain.settings.errors], error.nodeMessage)
    }
  }
  return null
}

function receiptOf(
  viem: Viem,
  receipt: JsonObject,
  known: {
    readonly blockNumber: number
    readonly blockHash: string
    readonly success: boolean
    readonly execution: EvmExecution | undefined
  }
): JsonObject {
  const { blockNumber, blockHash, success, execution } = known
  const method = 'eth_getTransactionReceipt'
  const logs = Array.isArray(receipt['logs']) ? receipt['logs'].filter(isJsonObject) : []
  const wanted = execution !== undefined && 'events' in execution ? execution.events : []
  return {
    status: success ? 'success' : 'reverted',
    block_number: blockNumber.toString(),
    block_hash: blockHash,
    gas_used: quantity(receipt['gasUsed'], method).toString(),
    effective_gas_price: quantity(receipt['effectiveGasPrice'] ?? '0x0', method).toString(),
    logs: logs.slice(0, limits.CHAIN_LOGS_MAX).map((log) => logOf(viem, wanted, log))
  }
}

function logOf(viem: Viem, events: readonly AbiEvent[], log: JsonObject): JsonObject {
  const method = 'eth_getTransactionReceipt'
  const topics = Array.isArray(log['topics']) ? log['topics'].map((one) => hash(one, method)) : []
  const data = bytes(log['data'], method)
  const from = address(log['address'], method)
  const decoded = decodeEvent(viem, events, { topics, data })
  // Long data is decoded, or read by its hash; it does not belong into every receipt.
  const shown = data.length > limits.CHAIN_LOG_DATA_LENGTH_MAX ? {} : { data }
  return { address: viem.getAddress(from), topics, ...shown, ...decoded }
}

import { type Json, type JsonObject, present, sha256Hex } from '../../core/index.js'
import { BASE_FEE, type EvmState, priceOf } from './evm-state.js'
import { hex } from './transaction.js'
import type { Hex } from './viem.js'

/** Blocks, transactions and receipts as nodes show them. */

const GENESIS_SECONDS = 1_700_000_000
const BLOCK_SECONDS = 12
const GAS_LIMIT = 30_000_000
const noHash: Hex = `0x${'00'.repeat(32)}`
const noAddress: Hex = `0x${'00'.repeat(20)}`
const noBloom: Hex = `0x${'00'.repeat(256)}`
// Keccak of the empty list of uncles: what every block since the merge has.
const noUncles: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** Hash of a block by its number; undefined: there is none. */
export function blockHash({ chain }: EvmState, number: number): string | undefined {
  if (number === 0) return `0x${sha256Hex(`${chain.id} genesis`)}`
  return chain.block(number)?.hash
}

export function blockView(state: EvmState, number: number, isFull: boolean): Json {
  const hash = blockHash(state, number)
  if (hash === undefined) return null
  const transactions = state.chain.block(number)?.transactions ?? []
  const gasUsed = transactions.reduce((sum, one) => sum + gasUsedBy(state, one.hash), 0n)
  return {
    number: hex(number),
    hash,
    parentHash: blockHash(state, number - 1) ?? noHash,
    timestamp: hex(GENESIS_SECONDS + BLOCK_SECONDS * number),
    baseFeePerGas: hex(BASE_FEE),
    gasLimit: hex(GAS_LIMIT),
    gasUsed: hex(gasUsed),
    transactions: transactions.map((one) => (isFull ? transactionView(state, one.hash) : one.hash)),
    ...{ miner: noAddress, difficulty: '0x0', totalDifficulty: '0x0', extraData: '0x' },
    ...{ nonce: '0x0000000000000000', mixHash: noHash, sha3Uncles: noUncles, uncles: [] },
    ...{ logsBloom: noBloom, transactionsRoot: noHash, stateRoot: noHash, receiptsRoot: noHash },
    size: '0x0'
  }
}

/** Null: the chain does not have it, or has it no more. */
export function transactionView(state: EvmState, hash: string): Json {
  const sent = state.sent(hash)
  const found = state.chain.find(hash)
  if (sent === undefined || found === undefined) return null
  const place =
    found.block === null
      ? { blockHash: null, blockNumber: null, transactionIndex: null }
      : { ...placeOf(state, hash, found.block), gasPrice: hex(priceOf(sent)) }
  return { ...sent.shown, ...place }
}

export function receiptView(state: EvmState, hash: string): Json {
  const sent = state.sent(hash)
  const found = state.chain.find(hash)
  if (sent === undefined || found === undefined || found.block === null) return null
  const { effect, block } = found
  const place = placeOf(state, hash, block)
  const before = logsBefore(state, hash, block)
  const logs = logsOf(effect.ok ? effect.outputs : {})
  const { transactionIndex } = place
  const all = present(state.chain.block(block), 'the block of a transaction').transactions
  const gasBefore = all
    .slice(0, Number(transactionIndex))
    .reduce((sum, one) => sum + gasUsedBy(state, one.hash), 0n)
  const gasUsed = state.gasUsed(sent)
  return {
    transactionHash: hash,
    ...place,
    from: sent.from.toLowerCase(),
    to: sent.to.toLowerCase(),
    type: sent.shown['type'] ?? '0x0',
    status: effect.ok ? '0x1' : '0x0',
    gasUsed: hex(gasUsed),
    cumulativeGasUsed: hex(gasBefore + gasUsed),
    effectiveGasPrice: hex(priceOf(sent)),
    contractAddress: null,
    logsBloom: noBloom,
    logs: logs.map((log, index) => ({
      ...log,
      ...place,
      transactionHash: hash,
      logIndex: hex(before + index),
      removed: false
    }))
  }
}

function placeOf(state: EvmState, hash: string, number: number) {
  const block = present(state.chain.block(number), 'the block of a transaction')
  const index = block.transactions.findIndex((one) => one.hash === hash)
  return { blockHash: block.hash, blockNumber: hex(number), transactionIndex: hex(index) }
}

function logsBefore(state: EvmState, hash: string, number: number): number {
  const { transactions, effects } = present(state.chain.block(number), 'the block of a transaction')
  let count = 0
  for (const one of transactions) {
    if (one.hash === hash) break
    const effect = effects.get(one.hash)
    if (effect?.ok === true) count += logsOf(effect.outputs).length
  }
  return count
}

function logsOf({ logs = [] }: JsonObject): readonly JsonObject[] {
  return logs as readonly JsonObject[]
}

function gasUsedBy(state: EvmState, hash: string): bigint {
  return state.gasUsed(present(state.sent(hash), 'a transaction of the chain'))
}

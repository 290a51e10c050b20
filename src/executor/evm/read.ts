import { type Json, type JsonObject, unreachable } from '../../core/index.js'
import { chainFailed } from '../failure.js'
import type { BlockTag, ReadRequest } from '../port.js'
import { RpcError } from '../rpc/rpc-error.js'
import type { AbiFunction } from './abi-types.js'
import type { EvmChain } from './chain.js'
import { decodeResult, decodeRevert, encodeCall } from './coding.js'
import type { EvmRead } from './execution.js'
import { bytes, hexQuantity, quantity } from './quantity.js'
import type { Hex, Viem } from './viem.js'

/** One read of a contract. */
interface ContractCall {
  readonly to: string
  readonly abi: AbiFunction
  readonly args: JsonObject
}

/** Carries out a read: outputs by name, of several calls by their ids. */
export async function readEvm(
  viem: Viem,
  chain: EvmChain,
  request: ReadRequest,
  signal: AbortSignal
): Promise<JsonObject> {
  const about = { phase: 'read', executionType: request.execution.type } as const
  return chain.guarded(about, async () => {
    const execution = chain.parse(request.execution, about)
    const block = blockTag(chain, request.block, about)
    switch (execution.type) {
      case 'evm_read':
        return readOne(viem, chain, { execution, block, signal })
      case 'evm_multiread':
        return readMany(viem, chain, { execution, block, signal })
      case 'evm_rpc': {
        const params = execution.params
        return { result: await chain.call(execution.method, params, signal) }
      }
      case 'evm_call':
      case 'evm_multicall':
        throw chain.failed('invalid_execution', `${execution.type} is not a read`, about)
      default:
        return unreachable(execution)
    }
  })
}

interface Reading<Execution> {
  readonly execution: Execution
  readonly block: string
  readonly signal: AbortSignal
}

function blockTag(
  chain: EvmChain,
  block: BlockTag = 'latest',
  about: Parameters<EvmChain['failed']>[2]
): string {
  if (['latest', 'safe', 'finalized'].includes(block)) return block
  if (/^(0|[1-9][0-9]{0,15})$/.test(block)) return hexQuantity(BigInt(block))
  throw chain.failed('invalid_execution', 'the block is neither a tag nor a number', about)
}

async function readOne(
  viem: Viem,
  chain: EvmChain,
  { execution, block, signal }: Reading<Extract<EvmRead, { readonly type: 'evm_read' }>>
): Promise<JsonObject> {
  const data = encodeCall(viem, execution.abi, execution.args)
  try {
    const result = await chain.call('eth_call', [{ to: execution.to, data }, block], signal)
    return decoded(viem, chain, execution, bytes(result, 'eth_call'))
  } catch (error) {
    throw asRevert(viem, chain, error, execution)
  }
}

/** A refusal of the contract, not of the node. */
function asRevert(
  viem: Viem,
  chain: EvmChain,
  error: unknown,
  execution: EvmRead & { readonly errors?: readonly Parameters<typeof decodeRevert>[2][number][] }
): unknown {
  if (!(error instanceof RpcError) || !isRevert(error)) return error
  const errors = [...(execution.errors ?? []), ...chain.settings.errors]
  const revert = decodeRevert(viem, error.data, errors, error.nodeMessage)
  const message = revert.reason ?? revert.name ?? 'the contract refuses'
  const about = { phase: 'read', executionType: execution.type, chain: chain.id } as const
  return chainFailed('reverted', { ...about, message, revert, rpc: error.exchange })
}

/** Whether a node's refusal is the contract's. */
export function isRevert(error: RpcError): boolean {
  return error.answered && (error.data !== undefined || /revert/i.test(error.nodeMessage))
}

function decoded(viem: Viem, chain: EvmChain, { abi }: ContractCall, data: Hex): JsonObject {
  const about = { phase: 'read', executionType: 'evm_read' } as const
  if (data === '0x' && abi.outputs.length > 0) {
    throw chain.failed('invalid_execution', 'no contract answers at the address', about)
  }
  const outputs = decodeResult(viem, abi, data)
  if (outputs !== undefined) return outputs
  throw chain.failed('invalid_execution', `the result is not what ${abi.name} returns`, about)
}

/** All calls on one block: by Multicall3 where it is, else as one batch on a fixed block. */
async function readMany(
  viem: Viem,
  chain: EvmChain,
  reading: Reading<Extract<EvmRead, { readonly type: 'evm_multiread' }>>
): Promise<JsonObject> {
  const { execution, block, signal } = reading
  const ids = execution.calls.map(({ id }) => id)
  if (new Set(ids).size < ids.length) {
    const about = { phase: 'check', executionType: execution.type } as const
    throw chain.failed('invalid_execution', 'two calls have the same id', about)
  }
  const isThere = execution.method === 'multicall3' && (await hasMulticall(chain, block, signal))
  const results = isThere
    ? await byMulticall(viem, chain, reading)
    : await byBatch(viem, chain, reading)
  return Object.fromEntries(
    execution.calls.map((call, index) => [
      call.id,
      decoded(viem, chain, call, results[index] ?? '0x')
    ])
  )
}

async function hasMulticall(chain: EvmChain, block: string, signal: AbortSignal): Promise<boolean> {
  const code = await chain.call('eth_getCode', [chain.settings.multicall3, block], signal)
  return bytes(code, 'eth_getCode') !== '0x'
}

const aggregate3: AbiFunction = {
  type: 'function',
  name: 'aggregate3',
  inputs: [
    {
      name: 'calls',
      type: 'tuple[]',
      components: [
        { name: 'target', type: 'address' },
        { name: 'allowFailure', type: 'bool' },
        { name: 'callData', type: 'bytes' }
      ]
    }
  ],
  outputs: [
    {
      name: 'results',
      type: 'tuple[]',
      components: [
        { name: 'success', type: 'bool' },
        { name: 'returnData', type: 'bytes' }
      ]
    }
  ],
  stateMutability: 'payable'
}

async function byMulticall(
  viem: Viem,
  chain: EvmChain,
  { execution, block, signal }: Reading<Extract<EvmRead, { readonly type: 'evm_multiread' }>>
): Promise<readonly Hex[]> {
  const calls = execution.calls.map(({ to, abi, args }, index) => ({
    target: to,
    allowFailure: true,
    callData: encodeCall(viem, abi, args, `calls.${index}.args`)
  }))
  const data = encodeCall(viem, aggregate3, { calls })
  const to = chain.settings.multicall3
  const answer = bytes(await chain.call('eth_call', [{ to, data }, block], signal), 'eth_call')
  const outputs = decoded(viem, chain, { to, abi: aggregate3, args: {} }, answer)
  const results = outputs['results'] as unknown as readonly {
    readonly success: boolean
    readonly returnData: Hex
  }[]
  return results.map(({ success, returnData }, index) => {
    if (success) return returnData
    const errors = [...execution.errors, ...chain.settings.errors]
    const revert = decodeRevert(viem, returnData, errors)
    const said = revert.reason ?? revert.name ?? 'the contract refuses'
    throw chainFailed('reverted', {
      phase: 'read',
      chain: chain.id,
      executionType: execution.type,
      message: `${execution.calls[index]?.id ?? index}: ${said}`,
      revert
    })
  })
}

async function byBatch(
  viem: Viem,
  chain: EvmChain,
  { execution, block, signal }: Reading<Extract<EvmRead, { readonly type: 'evm_multiread' }>>
): Promise<readonly Hex[]> {
  // Without a fixed block, the calls of one batch may see different ones.
  const fixed = /^0x/.test(block) ? block : await numberOf(chain, block, signal)
  const calls = execution.calls.map(({ to, abi, args }, index) => ({
    method: 'eth_call',
    params: [{ to, data: encodeCall(viem, abi, args, `calls.${index}.args`) }, fixed] as Json[]
  }))
  try {
    const results = await chain.rpc.batch(calls, signal)
    return results.map((result) => bytes(result, 'eth_call'))
  } catch (error) {
    throw asRevert(viem, chain, error, execution)
  }
}

async function numberOf(chain: EvmChain, tag: string, signal: AbortSignal): Promise<string> {
  const block = await chain.call('eth_getBlockByNumber', [tag, false], signal)
  const { number } = (block ?? {}) as { readonly number?: Json }
  return hexQuantity(quantity(number, 'eth_getBlockByNumber'))
}

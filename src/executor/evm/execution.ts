import { z } from 'zod-pinned'
import type { Json } from '../../core/index.js'
import { limits, shownText } from '../../core/index.js'
import type { Execution } from '../port.js'
import { abiError, abiEvent, abiFunction } from './abi-types.js'

/** The execution types of EVM chains (AIS), with their references resolved. */
export type EvmExecution = z.infer<typeof schemas>
export type EvmRead = Extract<
  EvmExecution,
  { readonly type: 'evm_read' | 'evm_multiread' | 'evm_rpc' }
>
export type EvmWrite = Extract<EvmExecution, { readonly type: 'evm_call' | 'evm_multicall' }>

/** Execution types, and which of them write. */
export const evmExecutions = {
  evm_read: 'read',
  evm_multiread: 'read',
  evm_rpc: 'read',
  evm_call: 'write',
  evm_multicall: 'write'
} as const

/** Methods that `evm_rpc` may call: none of them changes anything. */
export const rpcMethods = [
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_simulateV1'
] as const

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is not an address')
const args = z.record(z.string(), json).default({})
const amount = z
  .union([z.string().regex(/^(0|[1-9][0-9]{0,77})$/), z.int().nonnegative()])
  .transform((value) => BigInt(value))
  .refine((value) => value < 2n ** 256n, 'is over uint256')
const errors = z.array(abiError).max(limits.CHAIN_CALLS_MAX).default([])
const events = z.array(abiEvent).max(limits.CHAIN_CALLS_MAX).default([])

const schemas = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('evm_read'), to: address, abi: abiFunction, args, errors }),
  z.strictObject({
    type: z.literal('evm_multiread'),
    method: z.enum(['multicall3', 'rpc_batch']).default('multicall3'),
    calls: z
      .array(z.strictObject({ id: z.string().min(1), to: address, abi: abiFunction, args }))
      .min(1)
      .max(limits.CHAIN_CALLS_MAX),
    errors
  }),
  z.strictObject({
    type: z.literal('evm_rpc'),
    method: z.enum(rpcMethods),
    params: z.array(json).max(limits.CHAIN_LIST_LENGTH_MAX).default([])
  }),
  z.strictObject({
    type: z.literal('evm_call'),
    to: address,
    abi: abiFunction,
    args,
    value: amount.optional(),
    errors,
    events
  }),
  z.strictObject({
    type: z.literal('evm_multicall'),
    to: address,
    calls: z
      .array(z.strictObject({ abi: abiFunction, args }))
      .min(1)
      .max(limits.CHAIN_CALLS_MAX),
    deadline: amount.optional(),
    value: amount.optional(),
    errors,
    events
  })
])

export type ParsedExecution =
  | { readonly ok: true; readonly value: EvmExecution }
  | { readonly ok: false; readonly problem: string }

/** Checks the shape of an execution; its ABI arguments are checked when they are encoded. */
export function parseExecution(execution: Execution): ParsedExecution {
  const { type } = execution
  if (typeof type !== 'string' || !Object.hasOwn(evmExecutions, type)) {
    return { ok: false, problem: `the execution type ${shownText(type)} is none of an EVM chain` }
  }
  const parsed = schemas.safeParse(execution)
  if (parsed.success) return { ok: true, value: parsed.data }
  const [issue] = parsed.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  return { ok: false, problem: `${path === '' ? type : path}: ${issue?.message ?? 'is invalid'}` }
}

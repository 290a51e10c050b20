import { z } from 'zod-pinned'
import {
  aisObject,
  chainId,
  chainPattern,
  description,
  extensions,
  label,
  memberName,
  stepId
} from './atoms.js'
import { valueMap, valueSchema } from './value.js'

/**
 * How an action or query is executed on a chain. A type that is not named here is a plugin: an
 * executor must be registered for it, and all its fields but `type` and `method` are values.
 */

const abiParameter = z.strictObject({
  name: z.string().max(128).default(''),
  type: z.string().min(1).max(128),
  internalType: z.string().max(256).optional(),
  indexed: z.boolean().optional(),
  get components() {
    return z.array(abiParameter).max(64).optional()
  }
})

const abiFunction = z.strictObject({
  type: z.literal('function').default('function'),
  name: label,
  inputs: z.array(abiParameter).max(64).default([]),
  outputs: z.array(abiParameter).max(64).default([]),
  stateMutability: z.enum(['pure', 'view', 'nonpayable', 'payable']).optional()
})

/** Errors and events by which executors decode what a contract refuses and tells. */
const abiError = z.strictObject({
  type: z.literal('error'),
  name: label,
  inputs: z.array(abiParameter).max(64).default([])
})

const abiEvent = z.strictObject({
  type: z.literal('event'),
  name: label,
  inputs: z.array(abiParameter).max(64).default([]),
  anonymous: z.boolean().optional()
})

const errors = z.array(abiError).max(64).optional()
const events = z.array(abiEvent).max(64).optional()

const evmRead = aisObject({
  type: z.literal('evm_read'),
  to: valueSchema,
  abi: abiFunction,
  args: valueMap.default({}),
  errors
})

const evmMultiread = aisObject({
  type: z.literal('evm_multiread'),
  method: z.enum(['multicall3', 'rpc_batch']).default('multicall3'),
  calls: z
    .array(
      aisObject({
        id: memberName,
        to: valueSchema,
        abi: abiFunction,
        args: valueMap.default({})
      })
    )
    .min(1)
    .max(256),
  errors
})

const evmCall = aisObject({
  type: z.literal('evm_call'),
  to: valueSchema,
  abi: abiFunction,
  args: valueMap.default({}),
  value: valueSchema.optional(),
  errors,
  events
})

const evmMulticall = aisObject({
  type: z.literal('evm_multicall'),
  to: valueSchema,
  calls: z
    .array(
      aisObject({
        abi: abiFunction,
        args: valueMap.default({}),
        condition: valueSchema.optional()
      })
    )
    .min(1)
    .max(256),
  deadline: valueSchema.optional(),
  value: valueSchema.optional(),
  errors,
  events
})

/** A flag as it is, or as a value that gives it. */
const flag = z.union([z.boolean(), valueSchema])

const solanaInstruction = aisObject({
  type: z.literal('solana_instruction'),
  program: valueSchema,
  instruction: label,
  discriminator: z.union([z.string().max(256), valueSchema]).optional(),
  accounts: z
    .array(
      aisObject({
        name: label,
        pubkey: valueSchema,
        signer: flag,
        writable: flag
      })
    )
    .max(256)
    .default([]),
  data: valueSchema,
  compute_units: valueSchema.optional(),
  lookup_tables: z
    .union([z.array(valueSchema).max(64), valueSchema])
    .optional()
    .meta({ description: 'Values of addresses, or one value of a list of them.' })
})

const solanaRead = aisObject({
  type: z.literal('solana_read'),
  method: label,
  params: valueSchema.optional()
})

const bitcoinPsbt = aisObject({
  type: z.literal('bitcoin_psbt'),
  script_type: z.enum(['p2wpkh', 'p2tr', 'p2sh', 'p2wsh']),
  mapping: valueMap
})

const known = [
  evmRead,
  evmMultiread,
  evmCall,
  evmMulticall,
  solanaInstruction,
  solanaRead,
  bitcoinPsbt
] as const

const knownTypes = known.map((schema) => schema.shape.type.value).join('|')

const plugin = z
  .object({
    type: z.string().regex(new RegExp(`^(?!(${knownTypes}|composite)$)[a-z][a-z0-9_.-]{0,63}$`)),
    method: label.optional(),
    extensions: extensions.optional()
  })
  .catchall(valueSchema)

/** One execution that an executor can perform. */
export const simpleExecution = z.union([z.discriminatedUnion('type', known), plugin])

const composite = aisObject({
  type: z.literal('composite'),
  steps: z
    .array(
      aisObject({
        id: stepId,
        description: description.optional(),
        chain: chainId.optional(),
        condition: valueSchema.optional(),
        execution: simpleExecution
      })
    )
    .min(1)
    .max(64)
})

export const executionMap = z.record(chainPattern, z.union([composite, simpleExecution]))

export type AbiParameter = z.output<typeof abiParameter>
export type AbiFunction = z.output<typeof abiFunction>
export type SimpleExecution = z.output<typeof simpleExecution>
export type KnownExecution = z.output<(typeof known)[number]>
export type CompositeExecution = z.output<typeof composite>
export type Execution = SimpleExecution | CompositeExecution

const knownSet: ReadonlySet<string> = new Set(knownTypes.split('|'))

/** Whether an execution is one of the types that AIS itself defines. */
export function isKnownExecution(execution: SimpleExecution): execution is KnownExecution {
  return knownSet.has(execution.type)
}

export function isComposite(execution: Execution): execution is CompositeExecution {
  return execution.type === 'composite'
}

const reads: ReadonlySet<string> = new Set(['evm_read', 'evm_multiread', 'evm_rpc', 'solana_read'])

/** Whether an execution only reads; everything else may have an effect outside. */
export function isRead(type: string): boolean {
  return reads.has(type)
}

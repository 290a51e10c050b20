import { z } from 'zod-pinned'
import { type Json, limits, shownText } from '../../core/index.js'
import type { Execution } from '../port.js'

/** The execution types of Solana chains (AIS), with their references resolved. */
export type SolanaExecution = z.infer<typeof schemas>
export type SolanaRead = Extract<SolanaExecution, { readonly type: 'solana_read' }>
export type SolanaWrite = Extract<SolanaExecution, { readonly type: 'solana_instruction' }>

/** Execution types, and which of them write. */
export const solanaExecutions = { solana_read: 'read', solana_instruction: 'write' } as const

/** Methods of JSON-RPC that `solana_read` may call: none of them changes anything. */
export const rpcMethods = [
  'getAccountInfo',
  'getBalance',
  'getBlockHeight',
  'getBlockTime',
  'getEpochInfo',
  'getFeeForMessage',
  'getGenesisHash',
  'getLatestBlockhash',
  'getMinimumBalanceForRentExemption',
  'getMultipleAccounts',
  'getProgramAccounts',
  'getRecentPrioritizationFees',
  'getSignatureStatuses',
  'getSignaturesForAddress',
  'getSlot',
  'getSupply',
  'getTokenAccountBalance',
  'getTokenAccountsByDelegate',
  'getTokenAccountsByOwner',
  'getTokenLargestAccounts',
  'getTokenSupply',
  'getTransaction',
  'isBlockhashValid'
] as const

/** Methods of `solana_read` that ask nothing of the chain. */
export const derivations = ['derive_ata', 'derive_pda'] as const

/** The most compute units that one transaction may use. */
export const COMPUTE_UNITS_MAX = 1_400_000

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>
const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'is not an address')
const units = z
  .union([z.string().regex(/^[1-9][0-9]{0,7}$/), z.int().positive()])
  .transform(Number)
  .refine((value) => value <= COMPUTE_UNITS_MAX, `is over ${COMPUTE_UNITS_MAX}`)

/** An address, or how it is derived. */
const pubkey = z.union([
  address,
  z.strictObject({ derive_ata: z.record(z.string(), json) }),
  z.strictObject({ derive_pda: z.record(z.string(), json) })
])

export type Pubkey = z.infer<typeof pubkey>

const schemas = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('solana_read'),
    method: z.enum([...rpcMethods, ...derivations]),
    params: z.union([z.array(json).max(8), z.record(z.string(), json)]).default({})
  }),
  z.strictObject({
    type: z.literal('solana_instruction'),
    program: address,
    instruction: z.string().min(1).max(128),
    discriminator: z.string().max(256).optional(),
    accounts: z
      .array(
        z.strictObject({
          name: z.string().min(1),
          pubkey,
          signer: z.boolean().default(false),
          writable: z.boolean().default(false)
        })
      )
      .max(limits.CHAIN_CALLS_MAX)
      .default([]),
    data: json.default(''),
    compute_units: units.optional(),
    lookup_tables: z.array(address).max(limits.CHAIN_LIST_LENGTH_MAX).default([])
  })
])

export type ParsedExecution =
  | { readonly ok: true; readonly value: SolanaExecution }
  | { readonly ok: false; readonly problem: string }

/** Checks the shape of an execution; data and derived addresses are checked by making them. */
export function parseExecution(execution: Execution): ParsedExecution {
  const { type } = execution
  if (typeof type !== 'string' || !Object.hasOwn(solanaExecutions, type)) {
    const problem = `the execution type ${shownText(type)} is none of a Solana chain`
    return { ok: false, problem }
  }
  const parsed = schemas.safeParse(execution)
  if (parsed.success) return { ok: true, value: parsed.data }
  const [issue] = parsed.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  return { ok: false, problem: `${path === '' ? type : path}: ${issue?.message ?? 'is invalid'}` }
}

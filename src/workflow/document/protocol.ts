import { z } from 'zod-pinned'
import type { Json } from '../../core/index.js'
import { isPlainPattern } from '../type/check.js'
import {
  aisObject,
  chainId,
  description,
  label,
  memberName,
  protocolName,
  semver,
  typeName
} from './atoms.js'
import { executionMap } from './execution.js'
import { valueSchema } from './value.js'

/** `ais/0.0.2`: what a protocol offers, as actions and queries, and where it is deployed. */
export const protocolSchemaName = 'ais/0.0.2'

const param = aisObject({
  name: memberName,
  type: typeName,
  description: description.optional(),
  required: z.boolean().default(true),
  default: z.json().optional(),
  example: z.json().optional(),
  constraints: aisObject({
    min: z.union([z.number(), z.string()]).optional(),
    max: z.union([z.number(), z.string()]).optional(),
    enum: z.array(z.json()).min(1).max(256).optional(),
    pattern: z
      .string()
      .refine(isPlainPattern, { error: 'a pattern is characters and classes with counts' })
      .optional()
  }).optional(),
  asset_ref: memberName
    .optional()
    .meta({ description: 'For a token_amount: the parameter that is its asset.' })
})

const returned = aisObject({
  name: memberName,
  type: typeName,
  description: description.optional()
})

const calculatedField = aisObject({
  expr: valueSchema,
  inputs: z.array(label).max(64).optional(),
  description: description.optional()
})

export const wholeText = z.union([z.int().min(0), z.string().regex(/^(0|[1-9][0-9]{0,77})$/)])

const decimalText = z
  .string()
  .max(64)
  .regex(/^[0-9]+(\.[0-9]+)?$/)
// Plans hold no fractions but as text.
const factor = z.union([decimalText, z.number().min(0.000001).max(1_000_000)]).transform(String)

const bounds = {
  max_slippage_bps: z.int().min(0).max(10_000),
  max_price_impact_bps: z.int().min(0).max(10_000),
  max_spend: wholeText.meta({ description: 'In atomic units.' }),
  max_approval: wholeText.meta({ description: 'In atomic units.' }),
  max_approval_multiplier: factor.meta({ description: 'Approval by what is spent of it.' }),
  allow_unlimited_approval: z.boolean(),
  min_health_factor_after: decimalText
}

/** Bounds that a call must keep; packs may only make them tighter (W12). */
export const hardConstraints = aisObject({
  max_slippage_bps: bounds.max_slippage_bps.optional(),
  max_price_impact_bps: bounds.max_price_impact_bps.optional(),
  max_spend: bounds.max_spend.optional(),
  max_approval: bounds.max_approval.optional(),
  max_approval_multiplier: bounds.max_approval_multiplier.optional(),
  allow_unlimited_approval: bounds.allow_unlimited_approval.optional(),
  min_health_factor_after: bounds.min_health_factor_after.optional()
})

/** A bound of this name, from what a value of the document gave; undefined: it is none. */
export function parseBound(name: string, given: Json): Json | undefined {
  if (!Object.hasOwn(bounds, name)) return undefined
  const isCount = typeof given === 'string' && name.endsWith('_bps') && /^[0-9]{1,5}$/.test(given)
  const parsed = bounds[name as keyof typeof bounds].safeParse(isCount ? Number(given) : given)
  return parsed.success ? parsed.data : undefined
}

/** Bounds of an action: as they are, or as values over its parameters. */
const actionConstraints = aisObject({
  max_slippage_bps: z.union([bounds.max_slippage_bps, valueSchema]).optional(),
  max_price_impact_bps: z.union([bounds.max_price_impact_bps, valueSchema]).optional(),
  max_spend: z.union([bounds.max_spend, valueSchema]).optional(),
  max_approval: z.union([bounds.max_approval, valueSchema]).optional(),
  max_approval_multiplier: z.union([bounds.max_approval_multiplier, valueSchema]).optional(),
  allow_unlimited_approval: z.union([bounds.allow_unlimited_approval, valueSchema]).optional(),
  min_health_factor_after: z.union([bounds.min_health_factor_after, valueSchema]).optional()
})

const common = {
  description: description.optional(),
  params: z.array(param).max(64).default([]),
  returns: z.array(returned).max(64).default([]),
  calculated_fields: z.record(memberName, calculatedField).default({}),
  capabilities_required: z.array(label).max(64).optional(),
  execution: executionMap
}

const action = aisObject({
  ...common,
  risk_level: z.int().min(1).max(5).default(3),
  risk_tags: z.array(label).max(64).default([]),
  requires_queries: z.array(memberName).max(16).default([]),
  hard_constraints: actionConstraints.optional(),
  pre_conditions: z
    .array(z.union([z.string().max(1_000), valueSchema]))
    .max(64)
    .default([])
    .meta({ description: 'Values are checked; text is for people.' }),
  side_effects: z.array(z.string().max(1_000)).max(64).optional(),
  recommended_prechecks: z.array(memberName).max(16).default([]),
  recommended_postchecks: z.array(memberName).max(16).default([])
})

const query = aisObject({
  ...common,
  cache_ttl: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Seconds for which others may keep an answer; every node asks anew.' }),
  consistency: aisObject({
    block_tag: z
      .union([z.enum(['latest', 'safe', 'finalized']), z.int().min(0)])
      .optional()
      .meta({ description: 'The state that is read. Default: latest.' }),
    require_same_block: z.boolean().optional().meta({
      description: 'All calls of the query read one block. Calls of one evm_multiread always do.'
    })
  }).optional()
})

export const protocolSchema = aisObject({
  schema: z.literal(protocolSchemaName),
  meta: aisObject({
    protocol: protocolName,
    version: semver,
    name: label.optional(),
    homepage: z.string().max(2_000).optional(),
    logo: z.string().max(2_000).optional(),
    description: description.optional(),
    tags: z.array(label).max(64).optional(),
    maintainer: label.optional()
  }),
  deployments: z
    .array(
      aisObject({
        chain: chainId,
        contracts: z.record(memberName, z.string().min(1).max(128)),
        rpc_hints: z.array(z.string().max(2_000)).max(16).optional()
      })
    )
    .max(256)
    .default([]),
  actions: z.record(memberName, action),
  queries: z.record(memberName, query).default({}),
  risks: z.array(z.json()).max(256).optional(),
  supported_assets: z.array(z.json()).max(4_096).optional(),
  capabilities_required: z.array(label).max(64).optional(),
  tests: z.array(z.json()).max(4_096).optional()
})

/** An AIS protocol after it was read. */
export type ProtocolDocument = z.output<typeof protocolSchema>
export type ActionDocument = z.output<typeof action>
export type QueryDocument = z.output<typeof query>
export type ParamDocument = z.output<typeof param>
export type ReturnDocument = z.output<typeof returned>
export type CalculatedDocument = z.output<typeof calculatedField>
export type HardConstraints = Omit<z.output<typeof hardConstraints>, 'extensions'>

/** `name@version`, by which workflows name a protocol. */
export function protocolKey(protocol: ProtocolDocument): string {
  return `${protocol.meta.protocol}@${protocol.meta.version}`
}

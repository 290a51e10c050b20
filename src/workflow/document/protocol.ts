import { z } from 'zod'
import { isPlainPattern } from '../type/check.js'
import {
  chainId,
  description,
  extensions,
  label,
  memberName,
  protocolName,
  semver,
  typeName
} from './atoms.js'
import { executionMap } from './execution.js'
import { type valueMap, valueSchema } from './value.js'

/** `ais/0.0.2`: what a protocol offers, as actions and queries, and where it is deployed. */
export const protocolSchemaName = 'ais/0.0.2'

const param = z.strictObject({
  name: memberName,
  type: typeName,
  description: description.optional(),
  required: z.boolean().default(true),
  default: z.json().optional(),
  example: z.json().optional(),
  constraints: z
    .strictObject({
      min: z.union([z.number(), z.string()]).optional(),
      max: z.union([z.number(), z.string()]).optional(),
      enum: z.array(z.json()).min(1).max(256).optional(),
      pattern: z
        .string()
        .refine(isPlainPattern, { error: 'a pattern is characters and classes with counts' })
        .optional()
    })
    .optional(),
  asset_ref: memberName
    .optional()
    .meta({ description: 'For a token_amount: the parameter that is its asset.' })
})

const returned = z.strictObject({
  name: memberName,
  type: typeName,
  description: description.optional()
})

const calculatedField = z.strictObject({
  expr: valueSchema,
  inputs: z.array(label).max(64).optional(),
  description: description.optional()
})

const wholeText = z.union([z.int().min(0), z.string().regex(/^(0|[1-9][0-9]{0,77})$/)])

/** Bounds that a call must keep; packs may only make them tighter (W12). */
export const hardConstraints = z.strictObject({
  max_slippage_bps: z.int().min(0).max(10_000).optional(),
  max_price_impact_bps: z.int().min(0).max(10_000).optional(),
  max_spend: wholeText.optional().meta({ description: 'In atomic units.' }),
  max_approval: wholeText.optional().meta({ description: 'In atomic units.' }),
  allow_unlimited_approval: z.boolean().optional(),
  min_health_factor_after: z
    .string()
    .regex(/^[0-9]+(\.[0-9]+)?$/)
    .optional()
})

const common = {
  description: description.optional(),
  params: z.array(param).max(64).default([]),
  returns: z.array(returned).max(64).default([]),
  calculated_fields: z.record(memberName, calculatedField).default({}),
  capabilities_required: z.array(label).max(64).optional(),
  execution: executionMap,
  extensions: extensions.optional()
}

const action = z.strictObject({
  ...common,
  risk_level: z.int().min(1).max(5).default(3),
  risk_tags: z.array(label).max(64).default([]),
  requires_queries: z.array(memberName).max(16).default([]),
  hard_constraints: hardConstraints.optional(),
  pre_conditions: z.array(valueSchema).max(64).default([]),
  side_effects: z.array(z.string().max(1_000)).max(64).optional(),
  recommended_prechecks: z.array(memberName).max(16).default([]),
  recommended_postchecks: z.array(memberName).max(16).default([])
})

const query = z.strictObject({
  ...common,
  consistency: z
    .strictObject({
      block_tag: z
        .union([z.enum(['latest', 'safe', 'finalized']), z.int().min(0)])
        .optional()
        .meta({ description: 'The state that is read. Default: latest.' })
    })
    .optional()
})

export const protocolSchema = z.strictObject({
  schema: z.literal(protocolSchemaName),
  meta: z.strictObject({
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
      z.strictObject({
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
  tests: z.array(z.json()).max(4_096).optional(),
  extensions: extensions.optional()
})

export type ProtocolDocument = z.output<typeof protocolSchema>
export type ActionDocument = z.output<typeof action>
export type QueryDocument = z.output<typeof query>
export type ParamDocument = z.output<typeof param>
export type ReturnDocument = z.output<typeof returned>
export type CalculatedDocument = z.output<typeof calculatedField>
export type HardConstraints = z.output<typeof hardConstraints>
export type CalculatedOverrides = z.output<typeof valueMap>

/** `name@version`, by which workflows name a protocol. */
export function protocolKey(protocol: ProtocolDocument): string {
  return `${protocol.meta.protocol}@${protocol.meta.version}`
}

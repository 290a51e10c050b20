import { z } from 'zod-pinned'
import { approversSchema } from '../../block/index.js'
import {
  aisObject,
  chainId,
  chainPattern,
  description,
  label,
  protocolName,
  semver
} from './atoms.js'
import { packConstraints } from './constraints.js'
import { detectKinds } from './value.js'

/** `ais-pack/0.0.2`: which protocols may be used, and under which policy (W12). */
export const packSchemaName = 'ais-pack/0.0.2'

const level = z.int().min(0).max(6)
const priority = z.int().min(-1_000).max(1_000).default(0)
const chains = z.array(chainPattern).max(256).optional()
const anywhere = { kinds: undefined, chains: undefined, candidates: undefined, rule: undefined }

const provider = z.union([
  label.transform((name) => ({ provider: name, priority: 0, ...anywhere })),
  aisObject({ provider: label, kinds: z.array(label).max(16).optional(), chains, priority })
])

/** As AIS writes it: one kind of choice, and what is chosen among, by which rule. */
const detectProvider = z.union([
  provider,
  aisObject({
    kind: z.enum(detectKinds),
    provider: label,
    chains,
    candidates: z.array(z.json()).max(256).optional(),
    rule: z.string().max(256).optional(),
    priority
  }).transform(({ kind, ...rest }) => ({ ...rest, kinds: [kind] }))
])

const plugin = z.union([
  label.transform((type) => ({ type, chains: undefined })),
  aisObject({ type: label, chains })
])

const legacy = 'Of earlier documents of AIS; counts as well as what has come for it.'

export const packPolicy = aisObject({
  approvals: aisObject({
    auto_execute_max_risk_level: level.optional(),
    require_approval_min_risk_level: level.optional(),
    approvers: approversSchema(z).optional()
  }).optional(),
  hard_constraints_defaults: packConstraints.optional(),
  risk_threshold: level.optional().meta({ description: legacy }),
  approval_required: z.array(label).max(64).optional().meta({ description: 'Tags of risks.' }),
  hard_constraints: packConstraints.optional().meta({ description: legacy })
})

/** Modes as text, or the switches of AIS: see {@link tokenModeOf}. */
const tokenResolution = z.union([
  z.enum(['allowlist', 'ask', 'any']),
  aisObject({
    allow_symbol_input: z.boolean().optional(),
    require_user_confirm_asset_address: z.boolean().optional(),
    require_allowlist_for_symbol_resolution: z.boolean().optional()
  })
])

const tokenPolicy = aisObject({
  resolution: tokenResolution.optional(),
  allowlist: z
    .array(
      aisObject({
        chain: chainId,
        address: z.string().min(1).max(128),
        symbol: label.optional(),
        decimals: z.int().min(0).max(77).optional(),
        tags: z.array(label).max(64).optional()
      })
    )
    .max(4_096)
    .optional(),
  strict: z.boolean().optional().meta({ description: legacy }),
  permissive: z.boolean().optional().meta({ description: legacy })
})

const meta = aisObject({ name: label, version: semver, description: description.optional() })

export const packSchema = aisObject({
  schema: z.literal(packSchemaName),
  meta: meta.optional(),
  name: label.optional().meta({ description: 'Instead of meta.' }),
  version: semver.optional(),
  description: description.optional(),
  includes: z
    .array(
      aisObject({
        protocol: protocolName,
        version: semver,
        source: z.enum(['registry', 'local', 'uri']).default('local'),
        uri: z.string().max(2_000).optional(),
        chain_scope: chains,
        integrity: z
          .string()
          .regex(/^sha256:[0-9a-f]{64}$/)
          .optional()
          .meta({ description: "Of the protocol's canonical JSON." })
      })
    )
    .max(1_024),
  policy: packPolicy.optional(),
  token_policy: tokenPolicy.optional(),
  providers: aisObject({
    quote: aisObject({ enabled: z.array(provider).max(256).optional() }).optional(),
    detect: aisObject({ enabled: z.array(detectProvider).max(256).optional() }).optional(),
    routing: z.array(label).max(256).optional()
  }).optional(),
  plugins: aisObject({
    execution: aisObject({ enabled: z.array(plugin).max(256).optional() }).optional()
  }).optional(),
  overrides: aisObject({
    actions: z
      .record(
        z
          .string()
          .max(200)
          .regex(/^[a-z0-9][a-z0-9-]*\.[A-Za-z_][A-Za-z0-9_-]*$/),
        aisObject({
          risk_level: z.int().min(1).max(5).optional(),
          risk_tags: z.array(label).max(64).optional(),
          require_approval: z.literal(true).optional(),
          hard_constraints: packConstraints.optional()
        })
      )
      .optional()
  }).optional()
}).transform(({ meta: named, name, version, description: about, ...pack }, context) => {
  if (named !== undefined) {
    if (name === undefined && version === undefined) return { ...pack, meta: named }
    context.addIssue('name and version stand in meta or beside it, not in both')
    return z.NEVER
  }
  if (name !== undefined && version !== undefined) {
    return { ...pack, meta: { name, version, description: about } }
  }
  context.addIssue('it needs meta with a name and a version')
  return z.NEVER
})

/** An AIS pack after it was read. */
export type PackDocument = z.output<typeof packSchema>

/**
 * How a pack treats tokens that it does not list. Of AIS's switches one decides that: with
 * `require_allowlist_for_symbol_resolution` they are refused, without it a person is asked. The
 * other two are about symbols, which nothing here resolves: assets have addresses.
 */
export function tokenModeOf(
  tokens: NonNullable<PackDocument['token_policy']>
): 'allowlist' | 'ask' | 'any' {
  const { resolution, strict, permissive } = tokens
  if (typeof resolution === 'string') return resolution
  if (strict === true || resolution?.require_allowlist_for_symbol_resolution === true) {
    return 'allowlist'
  }
  if (permissive === true) return 'any'
  return resolution === undefined ? 'allowlist' : 'ask'
}

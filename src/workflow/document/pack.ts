import { z } from 'zod'
import { approversSchema } from '../../block/index.js'
import { chainId, chainPattern, extensions, label, protocolName, semver } from './atoms.js'
import { hardConstraints } from './protocol.js'

/** `ais-pack/0.0.2`: which protocols may be used, and under which policy (W12). */
export const packSchemaName = 'ais-pack/0.0.2'

const level = z.int().min(0).max(6)

const provider = z.union([
  label.transform((name) => ({ provider: name, kinds: undefined, chains: undefined, priority: 0 })),
  z.strictObject({
    provider: label,
    kinds: z.array(label).max(16).optional(),
    chains: z.array(chainPattern).max(256).optional(),
    priority: z.int().min(-1_000).max(1_000).default(0)
  })
])

const enabled = z.strictObject({ enabled: z.array(provider).max(256) })

const plugin = z.union([
  label.transform((type) => ({ type, chains: undefined })),
  z.strictObject({ type: label, chains: z.array(chainPattern).max(256).optional() })
])

export const packSchema = z.strictObject({
  schema: z.literal(packSchemaName),
  meta: z.strictObject({
    name: label,
    version: semver,
    description: z.string().max(4_000).optional()
  }),
  includes: z
    .array(
      z.strictObject({
        protocol: protocolName,
        version: semver,
        source: z.enum(['registry', 'local', 'uri']).default('local'),
        chain_scope: z.array(chainPattern).max(256).optional()
      })
    )
    .max(1_024),
  policy: z
    .strictObject({
      approvals: z
        .strictObject({
          auto_execute_max_risk_level: level.optional(),
          require_approval_min_risk_level: level.optional(),
          approvers: approversSchema(z).optional()
        })
        .optional(),
      hard_constraints_defaults: hardConstraints.optional()
    })
    .optional(),
  token_policy: z
    .strictObject({
      resolution: z.enum(['allowlist', 'ask', 'any']).default('allowlist'),
      allowlist: z
        .array(
          z.strictObject({
            chain: chainId,
            address: z.string().min(1).max(128),
            symbol: label.optional()
          })
        )
        .max(4_096)
    })
    .optional(),
  providers: z.strictObject({ quote: enabled.optional(), detect: enabled.optional() }).optional(),
  plugins: z
    .strictObject({
      execution: z.strictObject({ enabled: z.array(plugin).max(256) }).optional()
    })
    .optional(),
  overrides: z
    .strictObject({
      actions: z.record(
        z
          .string()
          .max(200)
          .regex(/^[a-z][a-z0-9-]*\.[A-Za-z_][A-Za-z0-9_-]*$/),
        z.strictObject({
          risk_level: z.int().min(1).max(5).optional(),
          require_approval: z.literal(true).optional(),
          hard_constraints: hardConstraints.optional()
        })
      )
    })
    .optional(),
  extensions: extensions.optional()
})

export type PackDocument = z.output<typeof packSchema>

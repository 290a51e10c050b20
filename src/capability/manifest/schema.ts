import type { z } from 'zod-pinned'
import { lazySchema, limits } from '../../core/index.js'

/**
 * `manifest.json` as it is written (semantics.md K3). Unknown keys are refused.
 */

/** Package ids become parts of state keys and of paths: lower case, no slash, no dot at an end. */
export const packageId = lazySchema((z) =>
  z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/,
      'an id is lower case: letters, digits, . _ -'
    )
    .refine((id) => !id.includes('..'), 'an id has no two dots in a row')
)

/** Dotted names of intents and capabilities: `wallet.send`. */
export const dottedName = lazySchema((z) =>
  z
    .string()
    .max(128)
    .regex(/^[a-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*)*$/, 'a name is words joined by dots')
)

const capabilityName = lazySchema(() =>
  dottedName().refine((name) => name.includes('.'), 'a capability has a namespace: namespace.name')
)

const score = lazySchema((z) =>
  z.union([
    z.number().min(0, 'a score is zero or more').max(1e15),
    z
      .string()
      .regex(/^[0-9]{1,15}(?:\.[0-9]{1,15})?$/, 'a score is a decimal number of zero or more')
  ])
)

const text = lazySchema((z) => z.string().max(2_000))
const sideEffectClass = lazySchema((z) => z.enum(['none', 'idempotent', 'non_idempotent']))

const capability = lazySchema((z) =>
  z.union([
    capabilityName(),
    z.strictObject({
      name: capabilityName(),
      canonical: dottedName().optional(),
      category: text().optional(),
      inputs: z.json().optional(),
      outputs: z.json().optional(),
      semantics: text().optional(),
      cost: score().optional(),
      latency: score().optional(),
      reliability: score().optional(),
      sideEffectClass: sideEffectClass().optional()
    })
  ])
)

const capabilitySchema = lazySchema((z) =>
  z.strictObject({
    id: capabilityName(),
    canonical: dottedName().optional(),
    category: text().optional(),
    type: z.enum(['data', 'payment', 'bridge', 'ui', 'query', 'mutation']),
    description: text().optional(),
    semantics: text().optional(),
    input: z.json().optional(),
    output: z.json().optional(),
    examples: z.array(z.json()).max(limits.MANIFEST_ENTRIES_MAX).optional(),
    cost: score().optional(),
    latency: score().optional(),
    reliability: score().optional(),
    trust_score: score().optional(),
    locality: text().optional(),
    computeCapability: text().optional(),
    compute_capability: text().optional(),
    sideEffectClass: sideEffectClass().optional()
  })
)

export const manifestSchema = lazySchema((z) =>
  z.strictObject({
    name: z.string().min(1).max(200),
    id: packageId().optional(),
    version: z.string().min(1).max(64).default('0.0.0'),
    intents: z.array(dottedName()).min(1).max(limits.MANIFEST_ENTRIES_MAX),
    capabilities: z.array(capability()).max(limits.MANIFEST_ENTRIES_MAX),
    capabilitySchemas: z.array(capabilitySchema()).max(limits.MANIFEST_ENTRIES_MAX).default([]),
    widgets: z.array(z.json()).max(limits.MANIFEST_ENTRIES_MAX).optional()
  })
)

export type ManifestDocument = z.infer<ReturnType<typeof manifestSchema>>

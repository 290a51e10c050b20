import { z } from 'zod-pinned'
import { approversSchema } from '../../block/index.js'
import { limits } from '../../core/index.js'

/**
 * Flow documents, `meta.schemaVersion` 2.0, as AgentsFlow writes them. Keys that are not known are
 * kept out of what runs: editors store their own there.
 */
export const flowSchemaVersions = ['1.0', '2.0'] as const

const id = z.string().min(1).max(128)
const count = z.int().min(0)
const milliseconds = z.int().min(1).max(limits.RETRY_DELAY_MS_MAX)
const outputKind = z.enum(['text', 'plan', 'score'])
const turnMode = z.enum(['normal', 'plan', 'evaluate', 'summarize'])

export const portTypes = [
  'string',
  'number',
  'boolean',
  'object',
  'array',
  'any',
  'flow',
  'prompt',
  'documents',
  'plan',
  'score',
  'artifact'
] as const

const port = z.object({
  portId: id,
  dataType: z.enum(portTypes),
  required: z.boolean().default(true),
  defaultValue: z.json().optional()
})

/** Secrets are references; a literal key is refused by `validateFlow`. */
const adapterConfig = z.object({
  transport: z.string().max(64).optional(),
  baseUrl: z.string().max(2_000).optional(),
  apiKey: z.string().max(2_000).optional(),
  model: z.string().max(256).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  options: z.record(z.string(), z.json()).optional()
})

const usd = z
  .union([z.string().regex(/^\d{1,12}(\.\d{1,12})?$/), z.number().min(0)])
  .meta({ description: 'US dollars, a decimal of at most 12 places.' })

const modelProfile = z.object({
  model: z.string().max(256).optional(),
  systemPrompt: z.string().optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).optional(),
  /** Prices, so that cost can be bounded where the provider does not tell it. */
  pricing: z.object({ inputUsdPerMillion: usd, outputUsdPerMillion: usd }).optional()
})

const budgets = z.object({
  maxTokens: count.optional(),
  maxCostUsd: usd.optional(),
  maxSteps: count.optional(),
  maxWallClockMs: count.optional()
})

export const approvalRequirements = ['never', 'always', 'destructive_only'] as const
export const switchModes = ['flow-forced', 'policy-resolved', 'agent-suggested'] as const
export const returnStrategies = ['summary-only', 'full-trace', 'structured-output'] as const

const toolPolicy = z.object({
  allowedCapabilities: z.array(id).default([]),
  blockedTools: z.array(id).default([]),
  approvalRequirement: z.enum(approvalRequirements).default('destructive_only'),
  approvers: approversSchema(z).optional()
})

const subagentPolicy = z.object({
  allowedAgents: z.array(id).default([]),
  switchModes: z.array(z.enum(switchModes)).default([]),
  returnStrategy: z.enum(returnStrategies).default('summary-only'),
  maxDelegations: count.default(0)
})

const timeouts = z.object({
  turnMs: milliseconds.optional(),
  sessionMs: milliseconds.optional()
})

const agentDef = z.object({
  agentId: id,
  adapterKind: id,
  modelProfile: modelProfile.prefault({}),
  toolPolicy: toolPolicy.prefault({}),
  subagentPolicy: subagentPolicy.prefault({}),
  timeouts: timeouts.prefault({}),
  budgets: budgets.prefault({}),
  adapterConfig: adapterConfig.prefault({}),
  outputKind: outputKind.optional()
})

const retry = z.object({
  maxAttempts: z.int().min(1).max(limits.RETRY_ATTEMPTS_MAX),
  intervalMs: milliseconds.default(1_000),
  backoff: z.enum(['fixed', 'linear', 'exp']).default('fixed')
})

/** What a node's `config` may say; the rest of it is for custom kinds. */
export const nodeConfigSchema = z.looseObject({
  turnMode: turnMode.optional(),
  systemPrompt: z.string().optional(),
  userPrompt: z.string().optional(),
  maxIterations: z.int().min(1).optional(),
  completionThreshold: z.number().min(0).max(1).optional(),
  outputSchema: z.record(z.string(), z.json()).optional(),
  outputRetries: z.int().min(0).max(8).optional(),
  delegateTo: id.optional(),
  retry: retry.optional(),
  onError: z.enum(['stop', 'ask']).optional(),
  path: z.string().optional(),
  url: z.string().optional(),
  credential: z.string().optional()
})

const node = z.object({
  nodeId: id,
  nodeKind: id,
  label: z.string().optional(),
  agentId: id.optional(),
  agentRef: id.optional(),
  config: nodeConfigSchema.prefault({}),
  inputPorts: z.array(port).optional(),
  outputPorts: z.array(port).optional()
})

const edge = z.object({
  source: id,
  target: id,
  sourceHandle: z.string().max(128).nullish(),
  targetHandle: z.string().max(128).nullish(),
  dataEdge: z.boolean().default(false)
})

const runtime = z.object({
  defaultTurnTimeoutMs: milliseconds.default(limits.AGENT_TURN_MS_DEFAULT),
  globalBudget: budgets.optional(),
  /** Node executions in all; the bound of the walk (semantics.md A2). */
  maxSteps: z.int().min(1).max(limits.MAX_STEPS_LIMIT).default(limits.MAX_STEPS_DEFAULT),
  adapterConfig: adapterConfig.prefault({})
})

const customNodeSpec = z.object({
  nodeKind: id,
  inputPorts: z.array(port).default([]),
  outputPorts: z.array(port).default([])
})

export const flowSchema = z.object({
  meta: z.object({
    schemaVersion: z.literal('2.0'),
    name: z.string().min(1).max(128),
    description: z.string().optional(),
    version: z.string().min(1).max(128)
  }),
  agents: z
    .object({ agentDefs: z.array(agentDef).max(limits.FLOW_ENTRIES_MAX).default([]) })
    .prefault({}),
  graph: z.object({
    nodes: z.array(node).min(1).max(limits.FLOW_ENTRIES_MAX),
    edges: z.array(edge).max(limits.FLOW_ENTRIES_MAX).default([]),
    startNodeId: id
  }),
  runtime: runtime.prefault({}),
  /** Never executed (semantics.md A1). */
  layout: z.json().optional(),
  extensions: z
    .looseObject({
      customNodeSpecs: z.array(customNodeSpec).default([]),
      promptAssets: z.json().optional()
    })
    .prefault({})
})

/** A flow after it was read: nodes that are agents, and what leads from one to the next. */
export type FlowDocument = z.output<typeof flowSchema>
export type FlowNode = FlowDocument['graph']['nodes'][number]
export type FlowEdge = FlowDocument['graph']['edges'][number]
export type FlowPort = z.output<typeof port>
export type PortType = FlowPort['dataType']
export type AgentDef = z.output<typeof agentDef>
export type NodeConfig = z.output<typeof nodeConfigSchema>
export type Budgets = z.output<typeof budgets>
export type ModelPricing = NonNullable<AgentDef['modelProfile']['pricing']>
export type OutputKind = z.output<typeof outputKind>
export type CustomNodeSpec = z.output<typeof customNodeSpec>
export type ApprovalRequirement = (typeof approvalRequirements)[number]
export type SwitchMode = (typeof switchModes)[number]
export type ReturnStrategy = (typeof returnStrategies)[number]

/** JSON Schema of a document as an author writes it, for editors. */
export function flowJsonSchema(): unknown {
  return z.toJSONSchema(flowSchema, { io: 'input', target: 'draft-2020-12' })
}

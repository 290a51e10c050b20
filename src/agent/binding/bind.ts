import { type Environment, spendWork } from '../../core/index.js'
import type { AdapterSettings, AgentAdapter, TurnMode } from '../adapters/adapter.js'
import type { AdapterRegistry } from '../adapters/adapter-registry.js'
import { errorsOf, type PromptAssetManifest } from '../assets/manifest.js'
import { assetSegments, inlineSegment, type PromptSegment } from '../assets/segments.js'
import { error, type FlowFinding, warning } from '../flow/finding.js'
import type { AgentDef, Budgets, FlowDocument, FlowNode } from '../flow/schema.js'
import type { BoundAgent, Budget } from '../turn/agent.js'
import type { AgentTool, BoundTool } from '../turn/tool.js'
import { definitionOf } from './asset-definition.js'
import { configuredSettings } from './configured.js'
import { type DocumentSecrets, secretProblem } from './document-secrets.js'
import {
  type ConfiguredSettings,
  knownSettings,
  lackingSettings,
  usualSecrets
} from './settings.js'
import { boundTools, turnClass } from './tools.js'

/** The binding of a node to its agent (semantics.md A1). */
export interface NodeBinding {
  readonly nodeId: string
  readonly via: 'agentRef' | 'agentId'
  readonly agent: BoundAgent
  readonly definition: AgentDef
  /** Of the agent's file; a node's own goes before it. */
  readonly turnMode: TurnMode
  /** File of the agent's prompt; null for an agent of the document. */
  readonly sourcePath: string | null
  readonly configured: ConfiguredSettings
  readonly adapter: AgentAdapter
}

export interface BindingOptions {
  readonly flow: FlowDocument
  readonly assets: PromptAssetManifest | undefined
  readonly host: BindingHost
}

/** What agents may name of a host. */
export interface BindingHost {
  readonly adapters: Pick<AdapterRegistry, 'has' | 'kinds' | 'adapter'>
  tool(name: string): AgentTool | undefined
  /** Default: none but those of the environment's convention. */
  readonly documentSecrets?: DocumentSecrets
  /** Where settings that no document gives are looked for (A3). Default: nowhere. */
  readonly environment?: Environment
  /** Refuses agents whose settings a turn would find incomplete. */
  readonly checksSettings?: boolean
}

export type Bound =
  | { readonly ok: true; readonly binding: NodeBinding; readonly warnings: readonly FlowFinding[] }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

type Path = readonly (string | number)[]

/** The agent of a node: `agentRef` by the prompt assets before `agentId` by the document (A1). */
export function bindNode(node: FlowNode, options: BindingOptions & { readonly path: Path }): Bound {
  const { path } = options
  if (node.agentRef !== undefined) return bindAsset(node, node.agentRef, options)
  if (node.agentId !== undefined) return bindAgentId(node, node.agentId, options)
  const message = `${node.nodeId} names no agent: give it agentId or agentRef`
  return { ok: false, findings: [error('agent_not_bound', path, message)] }
}

/** An agent of the flow or of the assets by its id, for delegations. */
export function bindAgent(agentId: string, options: BindingOptions): Bound {
  const node = { nodeId: agentId, nodeKind: 'agent.sub', config: {} }
  const inFlow = options.flow.agents.agentDefs.some((definition) => definition.agentId === agentId)
  const withPath = { ...options, path: ['agents'] }
  return inFlow ? bindAgentId(node, agentId, withPath) : bindAsset(node, agentId, withPath)
}

function bindAsset(
  node: FlowNode,
  reference: string,
  options: BindingOptions & { readonly path: Path }
): Bound {
  const { assets, flow } = options
  const path = [...options.path, 'agentRef']
  const asset =
    assets !== undefined && Object.hasOwn(assets.agents, reference)
      ? assets.agents[reference]
      : undefined
  const invalid = assets === undefined ? [] : errorsOf(assets, reference)
  if (assets === undefined || asset === undefined || invalid.length > 0) {
    const where = assets === undefined ? ', and the flow comes without prompt assets' : ''
    const unknown = error(
      'agent_not_found',
      path,
      `no prompt asset is the agent ${reference}${where}`
    )
    const broken = invalid.map(({ message, sourcePath }) =>
      error('agent_asset_invalid', path, `${sourcePath ?? reference}: ${message}`)
    )
    return { ok: false, findings: broken.length > 0 ? broken : [unknown] }
  }
  const inline = flow.agents.agentDefs.find(({ agentId }) => agentId === asset.agentId)
  const definition = definitionOf(asset, inline)
  const segments = assetSegments(asset, assets)
  const length = segments.reduce((sum, { content }) => sum + content.length, 0)
  spendWork(STEPS_OF_AGENT + (length >> 5))
  const { sourcePath, turnMode } = asset
  const found: Found = { via: 'agentRef', definition, segments, sourcePath, turnMode }
  return bound(node, found, { ...options, path })
}

function bindAgentId(
  node: FlowNode,
  agentId: string,
  options: BindingOptions & { readonly path: Path }
): Bound {
  const path = [...options.path, 'agentId']
  const { agentDefs } = options.flow.agents
  spendWork(1 + (agentDefs.length >> 4))
  const definition = agentDefs.find((one) => one.agentId === agentId)
  if (definition === undefined) {
    const message = `agents.agentDefs has no agent ${agentId}`
    return { ok: false, findings: [error('agent_not_found', path, message)] }
  }
  const text = definition.modelProfile.systemPrompt ?? ''
  spendWork(STEPS_OF_AGENT + (text.length >> 5))
  const segments = text === '' ? [] : [inlineSegment('agent', agentId, text)]
  return bound(
    node,
    { via: 'agentId', definition, segments, sourcePath: null, turnMode: 'normal' },
    { ...options, path }
  )
}

/** Work of a binding besides its prompt, which is hashed and copied into the definition. */
const STEPS_OF_AGENT = 400

interface Found {
  readonly via: NodeBinding['via']
  readonly definition: AgentDef
  readonly segments: readonly PromptSegment[]
  readonly sourcePath: string | null
  readonly turnMode: TurnMode
}

function bound(
  node: FlowNode,
  found: Found,
  options: BindingOptions & { readonly path: Path }
): Bound {
  const { host, flow, path } = options
  const { adapters } = host
  const { via, definition, segments, sourcePath, turnMode } = found
  const { adapterKind } = definition
  if (!adapters.has(adapterKind)) {
    const known = adapters.kinds().join(', ')
    const message = `no adapter is registered as ${adapterKind}; registered are: ${known}`
    return { ok: false, findings: [error('adapter_not_found', path, message)] }
  }
  const adapter = adapters.adapter(adapterKind)
  const configured = configuredSettings(definition, flow)
  const settings = knownSettings(configured, adapter, host.environment)
  const runsTools = adapter.runsTools?.(settings) ?? false
  const tools = boundTools(definition, { host, path, runsTools })
  if (!tools.ok) return tools
  const { documentSecrets: allowed = [] } = host
  const usual = usualSecrets(adapterKind)
  const problem = secretProblem(configured.settings, { allowed, usual })
  if (problem !== undefined) {
    return { ok: false, findings: [error('secret_not_allowed', path, problem)] }
  }
  const lacking =
    host.checksSettings === true ? lackingSettings(settings, adapter, host.environment) : []
  if (lacking.length > 0) {
    const message = `${definition.agentId} lacks settings: ${lacking.join('; ')}`
    return { ok: false, findings: [error('settings_incomplete', path, message)] }
  }
  const agent = boundAgent({
    definition,
    segments,
    tools: tools.tools,
    runsTools,
    flow,
    config: configured.settings
  })
  const { nodeId } = node
  const which = { nodeId, via, sourcePath, turnMode }
  const binding = { ...which, agent, definition, configured, adapter }
  return { ok: true, binding, warnings: [...costWarnings(agent, path), ...tools.warnings] }
}

function boundAgent(given: {
  readonly definition: AgentDef
  readonly segments: readonly PromptSegment[]
  readonly tools: readonly BoundTool[]
  readonly runsTools: boolean
  readonly flow: FlowDocument
  readonly config: AdapterSettings
}): BoundAgent {
  const { definition, segments, tools, runsTools, flow, config } = given
  const { timeouts, modelProfile, subagentPolicy, budgets } = definition
  const { model, temperature, maxTokens } = config
  return {
    agentId: definition.agentId,
    adapterKind: definition.adapterKind,
    adapterConfig: config,
    segments,
    tools,
    runsTools,
    sideEffects: turnClass(runsTools, tools),
    turnMs: timeouts.turnMs ?? flow.runtime.defaultTurnTimeoutMs,
    ...(timeouts.sessionMs === undefined ? {} : { sessionMs: timeouts.sessionMs }),
    budgets: budgetOf(budgets),
    ...(modelProfile.pricing === undefined ? {} : { pricing: modelProfile.pricing }),
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    delegation: subagentPolicy
  }
}

export function budgetOf(budgets: Budgets): Budget {
  const { maxTokens, maxCostUsd, maxSteps, maxWallClockMs } = budgets
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd: `${maxCostUsd}` }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(maxWallClockMs === undefined ? {} : { maxWallClockMs })
  }
}

function costWarnings(agent: BoundAgent, path: Path): readonly FlowFinding[] {
  if (agent.budgets.maxCostUsd === undefined || agent.pricing !== undefined) return []
  const message = [
    `${agent.agentId} has a budget in dollars and no prices:`,
    'a turn whose provider does not tell its cost fails'
  ].join(' ')
  return [warning('cost_not_measurable', path, message)]
}

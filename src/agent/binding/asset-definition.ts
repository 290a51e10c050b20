import type { AgentAsset } from '../assets/manifest.js'
import type { AgentDef } from '../flow/schema.js'

/**
 * An agent as its file defines it. What a file cannot say (budgets, timeouts, policies) comes from
 * the document's agent of the same id, if there is one.
 */
export function definitionOf(asset: AgentAsset, inline: AgentDef | undefined): AgentDef {
  const { agentId, adapterKind, model, temperature, tools, outputKind } = asset
  const base = inline ?? emptyDefinition(agentId, adapterKind)
  return {
    ...base,
    agentId,
    adapterKind,
    modelProfile: {
      ...base.modelProfile,
      ...(model === undefined ? {} : { model }),
      ...(temperature === undefined ? {} : { temperature })
    },
    toolPolicy:
      tools.length === 0
        ? base.toolPolicy
        : { ...base.toolPolicy, allowedCapabilities: [...tools] },
    ...(outputKind === undefined ? {} : { outputKind })
  }
}

/** An agent of which nothing is said but what does its turns. */
export function emptyDefinition(agentId: string, adapterKind: string): AgentDef {
  return {
    agentId,
    adapterKind,
    modelProfile: {},
    toolPolicy: {
      allowedCapabilities: [],
      blockedTools: [],
      approvalRequirement: 'destructive_only'
    },
    subagentPolicy: {
      allowedAgents: [],
      switchModes: [],
      returnStrategy: 'summary-only',
      maxDelegations: 0
    },
    timeouts: {},
    budgets: {},
    adapterConfig: {}
  }
}

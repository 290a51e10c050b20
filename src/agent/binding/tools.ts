import type { SideEffectClass } from '../../block/index.js'
import type { AdapterRegistry } from '../adapters/adapter-registry.js'
import { error, type FlowFinding } from '../flow/finding.js'
import type { AgentDef } from '../flow/schema.js'
import type { AgentTool, BoundTool } from '../turn/tool.js'

/** The tools that an agent's policy leaves it (semantics.md A6). */
export function boundTools(
  { toolPolicy, agentId, adapterKind }: AgentDef,
  {
    tools,
    adapters,
    path
  }: {
    readonly tools: ReadonlyMap<string, AgentTool>
    readonly adapters: AdapterRegistry
    readonly path: readonly (string | number)[]
  }
):
  | { readonly ok: true; readonly tools: readonly BoundTool[] }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] } {
  const { allowedCapabilities, blockedTools, approvalRequirement } = toolPolicy
  const names = allowedCapabilities.filter((name) => !blockedTools.includes(name))
  if (adapters.adapter(adapterKind).runsTools === true) {
    return { ok: true, tools: names.map((name) => remoteTool(name)) }
  }
  const missing = names.filter((name) => !tools.has(name))
  if (missing.length > 0) {
    const findings = missing.map((name) =>
      error('tool_not_found', path, `${agentId} may use ${name}, which is not registered`)
    )
    return { ok: false, findings }
  }
  const found = names.flatMap((name) => tools.get(name) ?? [])
  return {
    ok: true,
    tools: found.map(({ name, description, parameters, sideEffects, isDestructive }) => ({
      name,
      description,
      parameters,
      sideEffects,
      needsApproval:
        approvalRequirement === 'always' ||
        (approvalRequirement === 'destructive_only' && (isDestructive ?? sideEffects !== 'none'))
    }))
  }
}

// The other side does it, and asks nobody here.
function remoteTool(name: string): BoundTool {
  return {
    name,
    description: '',
    parameters: {},
    sideEffects: 'non_idempotent',
    needsApproval: false
  }
}

/**
 * A turn changes nothing outside, and may be sent again under its key, unless the other side does
 * tools during it (semantics.md A5).
 */
export function turnClass(runsTools: boolean, tools: readonly BoundTool[]): SideEffectClass {
  return runsTools && tools.length > 0 ? 'non_idempotent' : 'idempotent'
}

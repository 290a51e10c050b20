import { approversIn } from '../../block/index.js'
import type { SideEffectClass } from '../../code/index.js'
import { error, type FlowFinding, warning } from '../flow/finding.js'
import type { AgentDef } from '../flow/schema.js'
import type { AgentTool, BoundTool } from '../turn/tool.js'

export type BoundTools =
  | {
      readonly ok: true
      readonly tools: readonly BoundTool[]
      readonly warnings: readonly FlowFinding[]
    }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

/** The tools that an agent's policy leaves it (semantics.md A6). */
export function boundTools(
  definition: AgentDef,
  options: {
    readonly host: { tool(name: string): AgentTool | undefined }
    readonly path: readonly (string | number)[]
    /** The adapter does them itself, so that they need no registration. */
    readonly runsTools: boolean
  }
): BoundTools {
  const { host, path, runsTools } = options
  const { toolPolicy, agentId } = definition
  const { allowedCapabilities, blockedTools, approvalRequirement, approvers } = toolPolicy
  if (approvers !== undefined && approvalRequirement === 'never') {
    const message = `${agentId} names approvers, and approvalRequirement: never asks none of them`
    return { ok: false, findings: [error('tool_policy_not_enforceable', path, message)] }
  }
  const names = allowedCapabilities.filter((name) => !blockedTools.includes(name))
  if (runsTools) return remoteTools(definition, names, path)
  const missing = names.filter((name) => host.tool(name) === undefined)
  if (missing.length > 0) {
    const findings = missing.map((name) =>
      error('tool_not_found', path, `${agentId} may use ${name}, which is not registered`)
    )
    return { ok: false, findings }
  }
  const found = names.flatMap((name) => host.tool(name) ?? [])
  return {
    ok: true,
    warnings: [],
    tools: found.map(({ name, description, parameters, sideEffects, isDestructive }) => {
      const needsApproval =
        approvalRequirement === 'always' ||
        (approvalRequirement === 'destructive_only' && (isDestructive ?? sideEffects !== 'none'))
      const signed = needsApproval ? approversIn(approvers) : {}
      return { name, description, parameters, sideEffects, needsApproval, ...signed }
    })
  }
}

/** Tools of the other side: what cannot be asked or held back here is refused (A8). */
function remoteTools(
  { agentId, adapterKind, toolPolicy, subagentPolicy }: AgentDef,
  names: readonly string[],
  path: readonly (string | number)[]
): BoundTools {
  const { approvalRequirement, blockedTools } = toolPolicy
  const { switchModes, maxDelegations } = subagentPolicy
  const unmet = [
    ...(names.length > 0 && approvalRequirement !== 'never'
      ? [`no person can be asked first (approvalRequirement: ${approvalRequirement})`]
      : []),
    ...(blockedTools.length > 0 ? ['none of them can be blocked'] : []),
    ...(switchModes.includes('agent-suggested') && maxDelegations > 0
      ? ['it cannot suggest another agent']
      : [])
  ]
  const itself = `${adapterKind}, as set here, does the tools of ${agentId} itself`
  if (unmet.length > 0) {
    const message = `${itself}: ${unmet.join('; ')}`
    return { ok: false, findings: [error('tool_policy_not_enforceable', path, message)] }
  }
  const warnings =
    names.length === 0
      ? []
      : [warning('tools_not_bounded', path, `${itself}: what it may use is set there, not here`)]
  return { ok: true, tools: names.map(remoteTool), warnings }
}

// The other side does it, without asking here.
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

import {
  type Environment,
  holdsCredentials,
  isSecretReference,
  type Json
} from '../../core/index.js'
import { compileFlow } from '../compile/compile-flow.js'
import type { FlowHost } from '../compile/flow-host.js'
import type { FlowFinding } from '../flow/finding.js'
import type { BoundTool } from '../turn/tool.js'
import type { NodeBinding } from './bind.js'
import { knownSettings, type ResolvedSetting, resolveSettings } from './settings.js'

/** The way of each agent node to its transport, and where each setting comes from (A1, A3). */
export type BindingReport =
  | {
      readonly ok: true
      readonly flow: string
      readonly nodes: readonly NodeReport[]
      readonly findings: readonly FlowFinding[]
    }
  | { readonly ok: false; readonly findings: readonly FlowFinding[] }

export interface NodeReport {
  readonly nodeId: string
  readonly via: 'agentRef' | 'agentId'
  readonly agentId: string
  /** File of the agent's prompt; null for an agent of the document. */
  readonly sourcePath: string | null
  readonly adapterKind: string
  /** Secrets stand there as references; a value that holds one is only said to be set. */
  readonly settings: readonly SettingReport[]
  readonly tools: readonly Pick<BoundTool, 'name' | 'needsApproval' | 'approvers'>[]
  /** What the adapter finds wrong with its settings. */
  readonly problems: readonly string[]
}

/** A setting of an agent, and which of the places that may say it did. */
export type SettingReport = ResolvedSetting

/** Reports what a flow would use here, without running or reaching anything. */
export function bindingReport(
  document: Json,
  options: { readonly host: FlowHost; readonly environment: Environment }
): BindingReport {
  const compiled = compileFlow(document, options.host)
  if (!compiled.ok) return compiled
  const nodes = compiled.bindings.map((binding) => nodeReport(binding, options.environment))
  return { ok: true, flow: compiled.flow.meta.name, nodes, findings: compiled.warnings }
}

function nodeReport(binding: NodeBinding, environment: Environment): NodeReport {
  const { nodeId, via, agent, sourcePath, configured, adapter } = binding
  const settings = resolveSettings({ configured, adapter, environment })
  const values = knownSettings(configured, adapter, environment)
  return {
    nodeId,
    via,
    agentId: agent.agentId,
    sourcePath,
    adapterKind: agent.adapterKind,
    settings: settings.map(shown),
    tools: agent.tools.map(({ name, needsApproval, approvers }) => ({
      name,
      needsApproval,
      ...(approvers === undefined ? {} : { approvers })
    })),
    problems: adapter.validate?.(values) ?? []
  }
}

/** A setting without what is secret in it: where it comes from says enough. */
function shown(setting: ResolvedSetting): SettingReport {
  const { name, value } = setting
  const text = `${value}`
  const isHidden = name === 'apiKey' ? !isSecretReference(text) : holdsCredentials(text)
  return isHidden ? { ...setting, value: HIDDEN } : setting
}

const HIDDEN = '(set, not shown)'

import type { Provider } from '../../block/index.js'
import { AGENT_TOOL_EFFECTS } from '../../capability/index.js'
import type { EffectCall, Located, SideEffectClass } from '../../code/index.js'
import {
  type Approvers,
  agentError,
  isJsonObject,
  type Json,
  type JsonObject
} from '../../core/index.js'
import type { ToolDefinition } from '../adapters/adapter.js'
import type { RunWork } from '../adapters/run-work.js'

/** Something that an agent may ask the runtime to do; each call is an effect of its own. */
export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, without keys that begin with `$`. */
  readonly parameters: JsonObject
  readonly sideEffects: SideEffectClass
  /** Whether `destructive_only` asks a person first; by default, whether it writes at all. */
  readonly isDestructive?: boolean
  perform(call: EffectCall): Promise<Json> | Json
  locate?(call: EffectCall): Promise<Located<Json>> | Located<Json>
}

/** A tool as the compiled flow names it: plain JSON. */
export interface BoundTool extends ToolDefinition {
  readonly sideEffects: SideEffectClass
  readonly needsApproval: boolean
  /** Who has to sign the approval (K13); absent: any answer of the owner does. */
  readonly approvers?: Approvers
}

const toolName = /^[A-Za-z0-9_-]{1,64}$/

/** Checks a tool. Throws `agent.invalid_tool`. */
export function defineTool(tool: AgentTool): AgentTool {
  const refuse = (problem: string) => agentError('agent.invalid_tool', { name: tool.name, problem })
  if (!toolName.test(tool.name)) throw refuse('its name has other signs than A-Z a-z 0-9 _ -')
  if (tool.name === DELEGATE_TOOL) throw refuse('this name is kept for delegations')
  if (hasReservedKey(tool.parameters)) throw refuse('its parameters have a key beginning with $')
  return Object.freeze({ ...tool })
}

/** The effect of a tool's call, and the provider's name: tools and other providers never clash. */
export function toolEffect(name: string): string {
  return `${AGENT_TOOL_EFFECTS}${name}`
}

/** What answers a tool's effect; its work counts into the time of the agent that asks. */
export function toolProvider(tool: AgentTool, work: RunWork): Provider {
  const { locate } = tool
  return {
    name: toolEffect(tool.name),
    perform: (call) => work.measure(call.runId, () => tool.perform(call)),
    ...(locate === undefined ? {} : { locate: (call: EffectCall) => locate.call(tool, call) })
  }
}

/** Name of the tool by which an agent suggests that another agent continues. */
export const DELEGATE_TOOL = 'delegate'

export const delegateTool: ToolDefinition = {
  name: DELEGATE_TOOL,
  description: 'Hands a task to another agent and gives back its answer.',
  parameters: {
    type: 'object',
    properties: { agentId: { type: 'string' }, task: { type: 'string' } },
    required: ['agentId', 'task'],
    additionalProperties: false
  }
}

function hasReservedKey(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasReservedKey)
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([key, inner]) => key.startsWith('$') || hasReservedKey(inner))
}

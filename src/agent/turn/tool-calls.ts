import { z } from 'zod-pinned'
import { type BlockContext, EffectFailure } from '../../code/index.js'
import { type Json, type JsonObject, limits } from '../../core/index.js'
import type { ToolCall } from '../adapters/adapter.js'
import type { BoundAgent } from './agent.js'
import type { TurnRules } from './rules.js'
import { shapeProblem } from './shape-problem.js'
import { type BoundTool, toolEffect } from './tool.js'

/** What became of a tool call, for the node's result. */
export type ToolUse = {
  readonly tool: string
  readonly outcome: 'done' | 'failed' | 'denied' | 'not_allowed' | 'invalid_arguments'
}

export interface ToolAnswer {
  readonly use: ToolUse
  /** What the model gets. */
  readonly result: Json
}

export interface ToolCallPlace {
  readonly agent: BoundAgent
  readonly nodeId: string
  /** Calls of the same turn that were answered before. */
  readonly answered: number
  readonly rules: TurnRules
}

/**
 * Does a tool call as the agent's policy allows (semantics.md A6): unknown and blocked tools are
 * refused, one that needs approval waits for a person, and each call is an effect of its own class.
 * A write whose outcome is not known ends the turn rather than telling the model that it failed.
 */
export async function answerToolCall(
  ctx: BlockContext,
  call: ToolCall,
  where: ToolCallPlace
): Promise<ToolAnswer> {
  const { agent, nodeId, answered, rules } = where
  const tool = agent.tools.find(({ name }) => name === call.name)
  if (tool === undefined || answered >= limits.AGENT_TOOL_CALLS_MAX) {
    return refused(call, 'not_allowed', { error: 'tool_not_allowed' })
  }
  const problem = argumentProblem(tool, call.arguments, rules)
  if (problem !== undefined) {
    return refused(call, 'invalid_arguments', { error: 'invalid_arguments', problem })
  }
  if (tool.needsApproval) {
    const { approvers } = tool
    const answer = await ctx.wait({
      reason: 'confirmation',
      ...(approvers === undefined ? {} : { approvers }),
      request: {
        kind: 'tool_call',
        agentId: agent.agentId,
        nodeId,
        tool: tool.name,
        arguments: call.arguments
      }
    })
    if (answer.action !== 'approve') return refused(call, 'denied', { error: 'denied' })
  }
  return performed(ctx, call, tool)
}

async function performed(ctx: BlockContext, call: ToolCall, tool: BoundTool): Promise<ToolAnswer> {
  const { sideEffects } = tool
  try {
    const result = await ctx.effect<Json>(toolEffect(tool.name), {
      request: call.arguments,
      sideEffects,
      confirmed: tool.needsApproval
    })
    return { use: { tool: tool.name, outcome: 'done' }, result }
  } catch (error) {
    if (!(error instanceof EffectFailure)) throw error
    if (!error.definite && sideEffects !== 'none') throw error
    return refused(call, 'failed', { error: error.reason })
  }
}

function refused(call: ToolCall, outcome: ToolUse['outcome'], result: JsonObject): ToolAnswer {
  return { use: { tool: call.name, outcome }, result }
}

function argumentProblem(tool: BoundTool, given: Json, rules: TurnRules): string | undefined {
  const schema = z.fromJSONSchema(tool.parameters as Parameters<typeof z.fromJSONSchema>[0])
  const result = schema.safeParse(given)
  if (result.success) return undefined
  return shapeProblem(given, result.error.issues[0], { whole: '', rules })
}

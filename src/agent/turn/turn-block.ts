import { AGENT_TURN_BLOCK } from '../../capability/index.js'
import { type Block, type BlockContext, defineBlock } from '../../code/index.js'
import type { Json, JsonObject } from '../../core/index.js'
import type { TurnResult } from '../adapters/adapter.js'
import { enter, type NodeOutput } from '../position/flow-position.js'
import type { TurnPayload } from './agent.js'
import { Conversation } from './conversation.js'
import { reasonOf, scoreOf } from './expected-output.js'
import { assemblePrompt } from './prompt.js'
import { type TurnRules, turnRules } from './rules.js'

/** Name of the block that an agent node of a flow compiles to. */
export const TURN_BLOCK = AGENT_TURN_BLOCK

/**
 * A leaf that does an agent's turns (semantics.md A5, A6): assembles the prompt, asks by the effect
 * `agent.turn`, checks what comes, and keeps to budgets and policies. Fails with `budget_exceeded`,
 * `turn_failed`, `turn_aborted`, `structured_output_invalid`, `too_many_turns` or
 * `delegation_rejected`.
 */
export const turnBlocks: readonly Block[] = Object.entries(turnRules).map(([version, rules]) =>
  defineBlock({
    name: TURN_BLOCK,
    version,
    sideEffects: 'non_idempotent',
    // The compiler of flows makes this payload; a hash in the run's first entry holds it.
    run: (ctx, input) => runTurn(ctx, input as TurnPayload, rules)
  })
)

async function runTurn(
  ctx: BlockContext,
  payload: TurnPayload,
  rules: TurnRules
): Promise<NodeOutput & JsonObject> {
  const { entry, node, agent } = payload
  const { walk: position, input } = enter(entry)
  const assembled = assemblePrompt({ standing: agent.segments, node: node.segments, input })
  const { systemPrompt, prompt, provenance } = assembled
  const conversation = new Conversation({ ctx, payload, rules }, position)
  const { expectedOutput, delegateTo } = node
  const asked = { systemPrompt, prompt, input, expectedOutput, mayDelegate: true }
  const result =
    delegateTo === undefined
      ? await conversation.ask(agent, asked)
      : await conversation.forced(delegateTo, asked)
  const { toolUses, rulings, warnings, turns } = conversation
  const score = evaluation(payload, result)
  return {
    handle: 'out',
    ports: portsOf(payload, result),
    walk: { ...conversation.walk, score: score ?? conversation.walk.score },
    turn: {
      agentId: agent.agentId,
      adapterKind: agent.adapterKind,
      model: result.model,
      turns,
      prompt: provenance as unknown as Json,
      tools: toolUses,
      delegations: rulings as unknown as Json,
      warnings
    }
  } as unknown as NodeOutput & JsonObject
}

function evaluation({ entry, node }: TurnPayload, { structuredOutput }: TurnResult) {
  if (node.expectedOutput?.schemaRef !== 'score' || structuredOutput === undefined) return undefined
  return scoreOf(structuredOutput, entry.nodeId)
}

function portsOf({ node }: TurnPayload, result: TurnResult): JsonObject {
  const { finalText, structuredOutput } = result
  const schema = node.expectedOutput?.schemaRef
  if (schema === undefined || structuredOutput === undefined) return { result: finalText }
  switch (schema) {
    case 'plan':
      return { result: finalText, plan: structuredOutput }
    case 'score':
      return { result: reasonOf(structuredOutput) ?? finalText, score: structuredOutput }
    default:
      return { result: finalText, structured: structuredOutput }
  }
}

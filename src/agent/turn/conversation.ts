import { z } from 'zod-pinned'
import { type BlockContext, EffectFailure, type EffectOptions } from '../../code/index.js'
import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import {
  type ExpectedOutput,
  type ToolCall,
  TURN_EFFECT,
  type TurnEffectRequest,
  type TurnMessage,
  type TurnResult
} from '../adapters/adapter.js'
import {
  type FlowPosition,
  noSpending,
  sessionOf,
  spentBy,
  withSession
} from '../position/flow-position.js'
import type { BoundAgent, TurnPayload } from './agent.js'
import { arbitrate, type DelegationRuling } from './arbiter.js'
import {
  breachAfter,
  breachBefore,
  type ElapsedMs,
  elapsedIn,
  isTimed,
  spend,
  timeLeftMs,
  tokensLeft
} from './budget.js'
import { outputProblem } from './expected-output.js'
import { TurnFailed } from './failure.js'
import { assemblePrompt } from './prompt.js'
import type { TurnRules } from './rules.js'
import { DELEGATE_TOOL, delegateTool } from './tool.js'
import { answerToolCall, type ToolUse } from './tool-calls.js'
import { checkedResult } from './turn-result.js'

export interface Asked {
  readonly systemPrompt: string
  readonly prompt: string
  readonly input: JsonObject
  readonly expectedOutput?: ExpectedOutput | undefined
  /** An agent that was delegated to hands nothing on. */
  readonly mayDelegate: boolean
}

export interface NodeAtWork {
  readonly ctx: BlockContext
  readonly payload: TurnPayload
  readonly rules: TurnRules
}

/**
 * The turns of one node: what its agent says, the tools it has called, the corrections it is asked
 * for, and the tasks it hands on.
 *
 * Owns: the walk while the node runs. Does not own: what is sealed; run again on the same recorded
 * results it ends the same.
 * Invariants: A6 no turn begins beyond a budget; no node takes more than `AGENT_NODE_TURNS_MAX`.
 */
export class Conversation {
  readonly toolUses: ToolUse[] = []
  readonly rulings: DelegationRuling[] = []
  readonly warnings: string[] = []
  turns = 0
  #walk: FlowPosition
  readonly #ctx: BlockContext
  readonly #payload: TurnPayload
  readonly #rules: TurnRules

  constructor(node: NodeAtWork, position: FlowPosition) {
    const { ctx, payload, rules } = node
    this.#ctx = ctx
    this.#payload = payload
    this.#rules = rules
    this.#walk = position
  }

  get walk(): FlowPosition {
    return this.#walk
  }

  /** Asks an agent until its answer stands. Throws {@link TurnFailed}. */
  async ask(agent: BoundAgent, asked: Asked): Promise<TurnResult> {
    const messages: TurnMessage[] = []
    for (let corrections = 0; ; ) {
      const result = await this.#completed(agent, asked, messages)
      const isOurs = this.#rules.answersAllCalls || !agent.runsTools
      if (result.toolCalls.length > 0 && isOurs) {
        messages.push(assistantMessage(result), ...(await this.#answers(agent, asked, result)))
        continue
      }
      const { expectedOutput } = asked
      const problem =
        expectedOutput === undefined
          ? undefined
          : outputProblem(expectedOutput, result.structuredOutput, this.#rules)
      if (problem === undefined) return result
      if (corrections >= this.#payload.node.outputRetries) {
        const schema = expectedOutput?.schemaRef ?? ''
        throw new TurnFailed('structured_output_invalid', { schema, problem })
      }
      corrections += 1
      messages.push(assistantMessage({ ...result, toolCalls: [] }), correction(problem))
    }
  }

  /** Hands the node's task to another agent, because the flow says so. */
  async forced(target: string, asked: Asked): Promise<TurnResult> {
    const ruling = this.#ruling('flow-forced', target)
    const agent = this.#delegate(target)
    if (ruling.decision === 'rejected' || agent === undefined) {
      throw new TurnFailed('delegation_rejected', { ruling })
    }
    const { systemPrompt } = standingOf(agent)
    return this.ask(agent, { ...asked, systemPrompt, mayDelegate: false })
  }

  /** One turn that was completed; failed ones are tried again as the node allows. */
  async #completed(
    agent: BoundAgent,
    asked: Asked,
    messages: readonly TurnMessage[]
  ): Promise<TurnResult> {
    const { tries, retryMs } = this.#payload.node
    for (let tried = 1; ; tried += 1) {
      const result = await this.#turn(agent, asked, messages)
      if (result.status === 'completed') return result
      const { error } = result
      const mayRetry = result.status === 'failed' && error?.retryable === true && tried < tries
      if (!mayRetry) {
        const reason = result.status === 'failed' ? 'turn_failed' : 'turn_aborted'
        throw new TurnFailed(reason, { agentId: agent.agentId, error: failureText(result) })
      }
      if (retryMs > 0) await this.#ctx.sleep(retryMs)
    }
  }

  async #turn(
    agent: BoundAgent,
    asked: Asked,
    messages: readonly TurnMessage[]
  ): Promise<TurnResult> {
    const { flowBudget } = this.#payload
    const now = this.#ctx.now()
    if (this.turns >= limits.AGENT_NODE_TURNS_MAX) {
      throw new TurnFailed('too_many_turns', { limit: limits.AGENT_NODE_TURNS_MAX })
    }
    const rules = this.#rules
    const elapsed = elapsedIn(this.#walk, agent, { now, rules })
    const before = breachBefore(agent, flowBudget, this.#walk, elapsed)
    if (before !== undefined) {
      throw new TurnFailed('budget_exceeded', { agentId: agent.agentId, ...before })
    }
    this.turns += 1
    const answer = await this.#effect({
      // Plain JSON by construction; the interface only names its members.
      request: this.#request(agent, { asked, messages, elapsed }) as unknown as Json,
      sideEffects: agent.sideEffects,
      // A turn costs money: one whose request was lost in a crash would be paid twice.
      durable: true
    })
    const result = checkedResult(answer)
    this.warnings.push(...result.warnings)
    const told = withSession(this.#walk, agent.agentId, result.session)
    this.#walk = spend(told, agent, result, now)
    const after = breachAfter(agent, flowBudget, this.#walk, result)
    if (after !== undefined) {
      throw new TurnFailed('budget_exceeded', { agentId: agent.agentId, ...after })
    }
    return result
  }

  /** A refusal ends the attempt once the time has passed that it asks for, if another follows. */
  async #effect(options: EffectOptions<Json>): Promise<Json> {
    try {
      return await this.#ctx.effect<Json>(TURN_EFFECT, options)
    } catch (error) {
      const waitMs = retryAfterOf(error)
      const isTriedAgain = this.#ctx.attempt < this.#payload.node.tries
      if (waitMs > 0 && isTriedAgain && this.#rules.waitsAsAsked) await this.#ctx.sleep(waitMs)
      throw error
    }
  }

  #request(
    agent: BoundAgent,
    given: {
      readonly asked: Asked
      readonly messages: readonly TurnMessage[]
      readonly elapsed: ElapsedMs
    }
  ): TurnEffectRequest {
    const { asked, messages, elapsed } = given
    const { entry, node, flowBudget } = this.#payload
    const maxTokens = tokensLeft(agent, flowBudget, this.#walk)
    const tools = this.#toolsOf(agent, asked)
    const session = sessionOf(this.#walk, agent.agentId)
    return {
      adapterKind: agent.adapterKind,
      adapterConfig: agent.adapterConfig,
      flowName: entry.flowName,
      ...(asked.systemPrompt === '' ? {} : { systemPrompt: asked.systemPrompt }),
      timeoutMs: timeLeftMs(agent, flowBudget, elapsed),
      ...(session === undefined ? {} : { session }),
      ...(this.#rules.countsWork && isTimed(agent, flowBudget) ? { countsWork: true } : {}),
      turn: {
        runId: this.#ctx.runId,
        nodeId: entry.nodeId,
        agentId: agent.agentId,
        turnMode: node.turnMode,
        prompt: asked.prompt,
        input: asked.input,
        messages: [...messages],
        ...(asked.expectedOutput === undefined ? {} : { expectedOutput: asked.expectedOutput }),
        ...(tools.length === 0 ? {} : { tools }),
        ...(agent.model === undefined ? {} : { model: agent.model }),
        ...(agent.temperature === undefined ? {} : { temperature: agent.temperature }),
        ...(maxTokens === undefined ? {} : { maxTokens })
      }
    }
  }

  #toolsOf(agent: BoundAgent, { mayDelegate }: Asked) {
    const { switchModes, maxDelegations } = agent.delegation
    const own = agent.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters
    }))
    const delegates = mayDelegate && maxDelegations > 0 && switchModes.includes('agent-suggested')
    return delegates ? [...own, delegateTool] : own
  }

  /** Answers to the calls of a turn, one after the other, in their order. */
  async #answers(
    agent: BoundAgent,
    asked: Asked,
    result: TurnResult
  ): Promise<readonly TurnMessage[]> {
    const messages: TurnMessage[] = []
    for (const [index, call] of result.toolCalls.entries()) {
      const answer =
        call.name === DELEGATE_TOOL && asked.mayDelegate
          ? await this.#suggested(agent, call)
          : await this.#tool(agent, call, index)
      messages.push({ role: 'tool', toolCallId: call.id, name: call.name, result: answer })
    }
    return messages
  }

  async #tool(agent: BoundAgent, call: ToolCall, answered: number): Promise<Json> {
    const { nodeId } = this.#payload.entry
    const where = { agent, nodeId, answered, rules: this.#rules }
    const { use, result } = await answerToolCall(this.#ctx, call, where)
    this.toolUses.push(use)
    return result
  }

  async #suggested(agent: BoundAgent, call: ToolCall): Promise<Json> {
    const parsed = delegation.safeParse(call.arguments)
    if (!parsed.success) return { error: 'invalid_arguments' }
    const { agentId, task } = parsed.data
    const ruling = this.#ruling('agent-suggested', agentId)
    const target = this.#delegate(agentId)
    if (ruling.decision === 'rejected' || target === undefined) {
      return { error: 'delegation_rejected' }
    }
    const { systemPrompt } = standingOf(target)
    const result = await this.ask(target, {
      systemPrompt,
      prompt: task,
      input: { task },
      mayDelegate: false
    })
    return returned(result, agent)
  }

  #ruling(mode: 'flow-forced' | 'agent-suggested', target: string): DelegationRuling {
    const { agent, delegates } = this.#payload
    const own = spentBy(this.#walk, agent.agentId) ?? {
      ...noSpending,
      startedAtMs: this.#ctx.now()
    }
    const ruling = arbitrate({
      mode,
      from: agent.agentId,
      target,
      policy: agent.delegation,
      known: new Set(Object.keys(delegates)),
      made: own.delegations
    })
    this.rulings.push(ruling)
    if (ruling.decision === 'approved') {
      const spent = { ...own, delegations: own.delegations + 1 }
      this.#walk = { ...this.#walk, spent: { ...this.#walk.spent, [agent.agentId]: spent } }
    }
    return ruling
  }

  #delegate(agentId: string): BoundAgent | undefined {
    const { delegates } = this.#payload
    return Object.hasOwn(delegates, agentId) ? delegates[agentId] : undefined
  }
}

function retryAfterOf(error: unknown): number {
  const details = error instanceof EffectFailure ? error.details : undefined
  const waitMs = isJsonObject(details) ? details['retryAfterMs'] : undefined
  return typeof waitMs === 'number' && waitMs > 0 ? Math.min(waitMs, limits.RETRY_AFTER_MS_MAX) : 0
}

const delegation = z.strictObject({ agentId: z.string().min(1), task: z.string().min(1) })

function standingOf(agent: BoundAgent): { readonly systemPrompt: string } {
  return assemblePrompt({ standing: agent.segments, node: [], input: {} })
}

/** What the agent that handed a task on gets back. */
function returned(result: TurnResult, { delegation: policy }: BoundAgent): Json {
  const { finalText, structuredOutput, reasoningText, toolCalls } = result
  switch (policy.returnStrategy) {
    case 'summary-only':
      return { text: finalText }
    case 'structured-output':
      return { structuredOutput: structuredOutput ?? null }
    case 'full-trace':
      return {
        text: finalText,
        structuredOutput: structuredOutput ?? null,
        reasoning: reasoningText ?? '',
        toolCalls: toolCalls.map(({ name }) => name)
      }
  }
}

function assistantMessage({ finalText, toolCalls, reasoningText }: TurnResult): TurnMessage {
  return {
    role: 'assistant',
    text: finalText,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(reasoningText === undefined ? {} : { reasoningText })
  }
}

function correction(problem: string): TurnMessage {
  const text = [
    `Your answer does not have the shape that was asked for (${problem}).`,
    'Answer again with JSON of that shape and nothing else.'
  ].join(' ')
  return { role: 'user', text }
}

function failureText({ error }: TurnResult): Json {
  if (error === undefined) return null
  const { code, message, category, retryable } = error
  return { code, message, category, retryable }
}

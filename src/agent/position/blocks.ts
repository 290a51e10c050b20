import {
  type Block,
  type BlockContext,
  defineBlock,
  type SideEffectClass,
  touchingNothing
} from '../../code/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { enter, type FlowPosition, type NodeEntry, type NodeOutput } from './flow-position.js'

/** The leaves of a flow beside its agents. Their payloads are made by the compiler of flows. */

export const LOADER_BLOCK = 'flow.loader'
export const INPUT_BLOCK = 'flow.input'
export const PLAN_LOOP_BLOCK = 'flow.plan-loop'
export const FINISH_BLOCK = 'flow.finish'

/** Effect by which a loader reads; its provider decides what may be read. */
export const LOAD_EFFECT = 'flow.load'

export type LoaderPayload = {
  readonly entry: NodeEntry
  readonly load: JsonObject | null
  /** What the loader gives when it reads nothing. */
  readonly given: Json
}

export const loaderBlock: Block = defineBlock({
  name: LOADER_BLOCK,
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, input): Promise<NodeOutput> => {
    const { entry, load, given } = input as LoaderPayload
    const data = load === null ? given : await ctx.effect<Json>(LOAD_EFFECT, { request: load })
    return { handle: 'out', ports: { data, result: data }, walk: enter(entry).walk }
  }
})

export const inputBlock: Block = touchingNothing(
  defineBlock({
    name: INPUT_BLOCK,
    version: '1.0.0',
    sideEffects: 'none',
    run: (_ctx, payload): NodeOutput => {
      const { entry, given } = payload as LoaderPayload
      const { walk: position, input } = enter(entry)
      const asked = input['userPrompt'] ?? given
      return { handle: 'out', ports: { prompt: asked, result: asked }, walk: position }
    }
  })
)

export type PlanLoopPayload = {
  readonly entry: NodeEntry
  /** Visits in all, the planning visit included. */
  readonly maxVisits: number
  readonly threshold: number
}

/**
 * First `plan`; then `execute` until an evaluation says it is done, or the visits run out. An
 * evaluation counts once: a stale one would end a round that was not evaluated.
 */
export const planLoopBlock: Block = touchingNothing(
  defineBlock({
    name: PLAN_LOOP_BLOCK,
    version: '1.0.0',
    sideEffects: 'none',
    run: (_ctx, payload): NodeOutput => {
      const { entry, maxVisits, threshold } = payload as PlanLoopPayload
      const { walk: position, input } = enter(entry)
      const { nodeId } = entry
      const visit =
        (Object.hasOwn(position.visits, nodeId) ? (position.visits[nodeId] ?? 0) : 0) + 1
      const visits = { ...position.visits, [nodeId]: visit }
      const result = input['previousResult'] ?? null
      const handle = loopHandle(position, visit, { maxVisits, threshold })
      return { handle, ports: { result }, walk: { ...position, visits, score: null } }
    }
  })
)

function loopHandle(
  { score }: FlowPosition,
  visit: number,
  { maxVisits, threshold }: { readonly maxVisits: number; readonly threshold: number }
): 'plan' | 'execute' | 'done' {
  if (visit === 1) return 'plan'
  if (score?.canComplete === true && score.score >= threshold) return 'done'
  return visit >= maxVisits ? 'done' : 'execute'
}

/** The result of a flow: what the last node gave, what came to its inputs, and what was spent. */
export const finishBlock: Block = touchingNothing(
  defineBlock({
    name: FINISH_BLOCK,
    version: '1.0.0',
    sideEffects: 'none',
    run: (_ctx, payload) => {
      const { entry } = payload as { readonly entry: NodeEntry }
      const { walk: position, input } = enter(entry)
      const { previousResult, result, ...rest } = input
      const given = Object.keys(isJsonObject(entry.run) ? entry.run : {})
      const outputs = Object.entries(rest).filter(([name]) => !given.includes(name))
      return {
        result: result ?? previousResult ?? null,
        outputs: Object.fromEntries(outputs),
        steps: position.step,
        spent: position.spent
      }
    }
  })
)

/** What a custom kind of node is given. */
export interface FlowKindInput {
  readonly config: JsonObject
  readonly input: JsonObject
}

/** What it gives: its ports, and the handle by which it is left (default `out`). */
export interface FlowKindOutput {
  readonly ports?: JsonObject
  readonly handle?: string
}

/** A kind of node that a host adds to flows. */
export interface FlowKindDefinition {
  /** As nodes name it: `review.legal`. */
  readonly kind: string
  readonly version: string
  readonly sideEffects?: SideEffectClass
  run(ctx: BlockContext, given: FlowKindInput): Promise<FlowKindOutput> | FlowKindOutput
}

/** A node kind of the host's own. */
export interface FlowKind {
  readonly kind: string
  readonly block: Block
}

export type KindPayload = { readonly entry: NodeEntry; readonly config: JsonObject }

/**
 * Defines a kind of node that flows may use. Its code obeys the rules of blocks: everything outside
 * goes through `ctx`. Throws `block.invalid_definition`.
 *
 * @example
 * defineFlowKind({
 *   kind: 'text.upper',
 *   version: '1.0.0',
 *   sideEffects: 'none',
 *   run: (_ctx, { input }) => ({ ports: { result: String(input.previousResult).toUpperCase() } })
 * })
 */
export function defineFlowKind(definition: FlowKindDefinition): FlowKind {
  const { kind, version, sideEffects } = definition
  const block = defineBlock({
    name: `flow.kind.${kind}`,
    version,
    ...(sideEffects === undefined ? {} : { sideEffects }),
    run: async (ctx, payload): Promise<NodeOutput> => {
      const { entry, config } = payload as KindPayload
      const { walk: position, input } = enter(entry)
      const { ports = {}, handle = 'out' } = await definition.run(ctx, { config, input })
      return { handle, ports, walk: position }
    }
  })
  return { kind, block }
}

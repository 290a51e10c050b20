import type { DocumentDefinition, PlanNodeDefinition } from '../../block/index.js'
import { AGENT_ADAPTERS, AGENT_TOOL_EFFECTS, AGENT_TURN_BLOCK } from '../../capability/index.js'
import type { Block } from '../../code/index.js'
import { isJsonObject, type Json, versionedName } from '../../core/index.js'
import { writtenOut } from '../document/used-inputs.js'

/** What the runs of a document can come to, as far as its text tells. */
export interface ReachedCode {
  /** Also those of nested documents and of fallbacks. */
  readonly blocks: readonly Block[]
  /** Done by steps that are intents; what a step computes is not among them. */
  readonly intents: readonly ReachedIntent[]
  /** Some step may do an intent that the text does not have: computed, repaired, or of a person. */
  readonly computesIntents: boolean
  /** What turns of agents use: their tools, and the adapters that do them, as capabilities. */
  readonly ofTurns: readonly string[]
}

export interface ReachedIntent {
  readonly action: string
  readonly provider?: string
}

type Node = Pick<PlanNodeDefinition, 'work' | 'input' | 'recovery' | 'onError' | 'deferred'>
type Graph = Pick<DocumentDefinition, 'nodes'>

/** What compiling has looked up: nothing else can run. Worked out once, when it is asked for. */
export function reachedBy(
  definition: DocumentDefinition,
  scope: {
    block(name: string): Block | undefined
    found(): { readonly blocks: readonly Block[]; readonly composites: readonly Graph[] }
  }
): () => ReachedCode {
  const { blocks, composites } = scope.found()
  const all = [definition, ...composites]
  const isKernel = (name: string) => scope.block(name)?.kernel !== undefined
  let known: ReachedCode | undefined
  return () => {
    known ??= {
      blocks,
      intents: all.flatMap((one) => reachedIntents(one, isKernel)),
      computesIntents: all.some((one) => computesIntents(one, isKernel)),
      ofTurns: all.flatMap(usedByTurns)
    }
    return known
  }
}

/** Intents that steps of a definition do, as far as its text tells. */
export function reachedIntents(
  definition: Graph,
  isKernel: (block: string) => boolean
): readonly ReachedIntent[] {
  return nodesOf(definition).flatMap(({ work, input, recovery }) => {
    if (work.kind !== 'block' || input === undefined || !isKernel(work.block)) return []
    const known = writtenOut(input)
    const { action, provider } = isJsonObject(known) ? known : {}
    if (typeof action !== 'string') return []
    const named = typeof provider === 'string' ? { action, provider } : { action }
    const others = recovery.flatMap((step) => (step.kind === 'fallback' ? step.providers : []))
    return [named, ...others.map((one) => ({ action, provider: one }))]
  })
}

/** Whether it takes a run to know the action of some step. */
function computesIntents(definition: Graph, isKernel: (block: string) => boolean): boolean {
  return nodesOf(definition).some(({ work, input, recovery, onError, deferred }) => {
    if (work.kind !== 'block' || !isKernel(work.block)) return false
    // What a person gives an attempt instead of its input may be another intent.
    if (onError === 'ask' || deferred === true) return true
    const known = input === undefined ? undefined : writtenOut(input)
    const isWritten = isJsonObject(known) && typeof known['action'] === 'string'
    return !isWritten || recovery.some(({ kind }) => kind === 'repair')
  })
}

type Executed = Pick<ReachedCode, 'blocks' | 'intents' | 'computesIntents'>

/** Blocks that may be executed for all this: of those that are registered, also what may serve. */
export function executedFor(
  { blocks, intents, computesIntents }: Executed,
  registered: Iterable<Block>
): readonly Block[] {
  const mayServe = (intent: string) =>
    computesIntents || intents.some(({ action }) => serves(intent, action))
  const serving = [...registered].filter((block) => block.intents.some(mayServe))
  return [...blocks, ...serving]
}

function serves(intent: string, action: string): boolean {
  return action === intent || action.startsWith(`${intent}.`)
}

/** Whether a block keeps its input or its result out of what is signed. */
export function keepsPrivate({ isInputPrivate, isOutputPrivate }: Block): boolean {
  return isInputPrivate || isOutputPrivate
}

/** Tools and adapters that the turns of a definition may use, as far as its text tells. */
export function usedByTurns(definition: Graph): readonly string[] {
  return nodesOf(definition).flatMap(({ work, input }) => {
    if (work.kind !== 'block' || versionedName(work.block).name !== AGENT_TURN_BLOCK) return []
    const known = input === undefined ? undefined : writtenOut(input)
    const { agent, delegates } = isJsonObject(known) ? known : {}
    const others = isJsonObject(delegates) ? Object.values(delegates) : []
    return [agent, ...others].flatMap((one) => [...adapterOf(one), ...toolsOf(one)])
  })
}

function adapterOf(agent: Json | undefined): readonly string[] {
  const kind = isJsonObject(agent) ? agent['adapterKind'] : undefined
  return typeof kind === 'string' ? [`${AGENT_ADAPTERS}${kind}`] : []
}

function toolsOf(agent: Json | undefined): readonly string[] {
  const tools = isJsonObject(agent) ? agent['tools'] : undefined
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: Json) => {
    const name = isJsonObject(tool) ? tool['name'] : undefined
    return typeof name === 'string' ? [`${AGENT_TOOL_EFFECTS}${name}`] : []
  })
}

/** The nodes of a definition and of the graphs that stand in it. */
function nodesOf({ nodes }: Graph): readonly Node[] {
  return Object.values<Node>(nodes).flatMap((node) => {
    return node.work.kind === 'composite' ? [node, ...nodesOf(node.work.graph)] : [node]
  })
}

import { z } from 'zod-pinned'
import { type Block, type BlockContext, defineBlock, EffectFailure } from '../../code/index.js'
import { isJsonObject, type JsonObject, limits } from '../../core/index.js'
import {
  askReadiness,
  chainEffects,
  type ReadinessProblem,
  type ReadinessReport,
  type ReadinessRequest
} from '../../executor/index.js'
import { nodeDiagnostic } from '../diagnostic/diagnostic.js'
import { applyPatches, patchesFor } from '../readiness/patch.js'
import { nodeReadiness } from '../readiness/readiness.js'
import { type AisRuntime, prepareRuntime } from '../readiness/runtime.js'
import type { CompileValues } from '../value/compile.js'
import { NodeFailure } from './failure.js'
import { accountOf } from './gather.js'
import type { RunMode } from './node-spec.js'
import type { PreflightTarget } from './preflight-targets.js'
import { givenOf, type NodeInput, nodeBlocks, preflightNode, resultsOf } from './spec.js'

/** What a look at the needs of nodes is given; it stands in the definition of the run. */
export interface PreflightSpec {
  /** Its own id. */
  readonly id: string
  readonly plan: NodeInput['spec']['plan']
  readonly writes: RunMode['writes']
  readonly targets: readonly PreflightTarget[]
}

interface PreflightInput extends Pick<NodeInput, 'given' | 'nodes'> {
  readonly spec: PreflightSpec
}

const preflightInput = z.strictObject({
  spec: z.custom<PreflightSpec>((value) => isJsonObject(value) && Array.isArray(value['targets'])),
  given: z.json(),
  nodes: z.record(z.string(), z.json())
})

/**
 * Looks at what nodes need of their chains, before the first of them begins: executors, accounts,
 * endpoints, fees, contracts (W15). What is missing is one question. It reads only; its answers are
 * sealed, so that a replay needs no chain.
 */
export function preflightBlock(values: () => CompileValues, version: string): Block {
  const block = defineBlock<PreflightInput, JsonObject>({
    name: nodeBlocks.preflight,
    version,
    sideEffects: 'none',
    capabilities: [chainEffects.ready],
    input: preflightInput,
    run: (ctx, input) => look(ctx, input, values())
  })
  return Object.freeze<Block>({
    ...block,
    sharesInput: true,
    makesPlainData: true,
    refuses: () => 'what is missing is mended outside of the run: then retry it'
  })
}

async function look(
  ctx: BlockContext,
  input: PreflightInput,
  values: CompileValues
): Promise<JsonObject> {
  const needs = chainNeeds(input, values)
  const { problems, unchecked } = await lookAt(needs, (request) =>
    askReadiness(ctx, { ...request, attempt: ctx.attempt })
  )
  ctx.log('preflight', { node: input.spec.id, problems: problems.length, unchecked })
  if (problems.length > 0) throw failureOf(ctx, input.spec, problems)
  return { chains: needs.map(({ request }) => request.chain), unchecked }
}

/** What chains lack, and what no executor could say. Plain JSON. */
export interface Looked {
  readonly problems: readonly MissingThing[]
  readonly unchecked: readonly {
    readonly chain: string
    readonly about: ReadinessReport['unchecked']
  }[]
}

/** Asks for everything that is needed; a run and a dry run look by this. */
export async function lookAt(needs: readonly ChainNeed[], ask: AskReadiness): Promise<Looked> {
  const answers = await Promise.all(needs.map((need) => reportOf(ask, need)))
  const problems = answers.flatMap((report, index) => {
    const need = needs[index]
    return need === undefined ? [] : listed(report, need)
  })
  const unchecked = answers.flatMap(({ chain, unchecked: about }) =>
    about.length === 0 ? [] : [{ chain, about }]
  )
  return { problems, unchecked }
}

export type AskReadiness = (request: ReadinessRequest) => Promise<ReadinessReport>

/** What is needed of one chain, and by which nodes. */
export interface ChainNeed {
  readonly request: ReadinessRequest
  /** Nodes by the execution type or the contract that they need. */
  readonly users: ReadonlyMap<string, ReadonlySet<string>>
}

/** What nodes need of each chain, of those that are not skipped, as far as it is known. Pure. */
export function chainNeeds(
  { spec, given, nodes }: PreflightInput,
  values: CompileValues
): readonly ChainNeed[] {
  const prepared = prepareRuntime(spec.plan, givenOf(given))
  // Nodes say by themselves what is wrong with inputs.
  if (!prepared.ok) return []
  const { nodes: results, patches } = resultsOf(nodes)
  const before = { ...prepared.runtime, nodes: results }
  const chains = new Map<string, Needed>()
  for (const target of spec.targets) {
    const { chain } = target.node
    const { runtime } = applyPatches(spec.plan, before, patchesFor(patches, chain))
    const found = contractsOf(target, runtime, values)
    if (found === undefined) continue
    const needed = chains.get(chain) ?? { executions: new Map(), users: new Map() }
    chains.set(chain, needed)
    needed.executions.set(target.execution, target.node.kind === 'action' ? 'write' : 'read')
    note(needed, target.execution, target)
    for (const contract of found) note(needed, contract, target)
  }
  return [...chains]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([chain, { executions, users }]) => ({
      request: {
        chain,
        executions: Object.fromEntries(executions),
        ...accountOf(given),
        isShown: spec.writes === 'ask',
        contracts: [...users.keys()].filter((name) => !executions.has(name)).sort()
      },
      users
    }))
}

interface Needed {
  readonly executions: Map<string, 'read' | 'write'>
  readonly users: Map<string, Set<string>>
}

function note({ users }: Needed, name: string, { of }: PreflightTarget): void {
  const known = users.get(name) ?? new Set()
  users.set(name, known)
  for (const [id] of of) known.add(id)
}

/** Contracts that nodes need; none where they are not known yet. Undefined: they may be skipped. */
function contractsOf(
  { node, of }: PreflightTarget,
  runtime: AisRuntime,
  values: CompileValues
): ReadonlySet<string> | undefined {
  const found = new Set<string>()
  // Addresses may be given for a node or for all.
  const isOwn = Object.keys(runtime.contracts).length > 0
  const nodes = of.map(([id, source]) => ({
    ...node,
    id,
    source: { ...node.source, node: source }
  }))
  let isNeeded = node.conditions.length === 0
  for (const one of isOwn ? nodes : nodes.slice(0, 1)) {
    const readiness = nodeReadiness(one, runtime, values)
    if (readiness.state !== 'ready') continue
    isNeeded = true
    const { type: _, ...addresses } = readiness.execution
    for (const address of Object.values(addresses)) {
      if (typeof address === 'string') found.add(address)
    }
  }
  return isNeeded ? found : undefined
}

async function reportOf(ask: AskReadiness, { request }: ChainNeed): Promise<ReadinessReport> {
  const { chain } = request
  try {
    return await ask(request)
  } catch (error) {
    if (!(error instanceof EffectFailure)) throw error
    // A program may answer the effects of chains without this one: its nodes find out.
    if (error.reason === 'no_provider') return { chain, problems: [], unchecked: ['executor'] }
    const message = `it cannot be asked: ${error.reason}`
    const fields = { about: 'executor', isPassing: true, subject: null } as const
    return { chain, problems: [{ ...fields, code: error.reason, message }], unchecked: [] }
  }
}

/** A problem with the nodes that have it. */
export interface MissingThing extends ReadinessProblem {
  readonly chain: string
  readonly nodes: readonly string[]
}

function listed(
  { chain, problems }: ReadinessReport,
  { users }: ChainNeed
): readonly MissingThing[] {
  const all = new Set([...users.values()].flatMap((ids) => [...ids]))
  return problems.map((one) => {
    const ids = one.subject === null ? all : (users.get(one.subject) ?? all)
    return { ...one, chain, nodes: [...ids].sort() }
  })
}

/** Names of nodes that a line of a question has. */
const NODES_NAMED_MAX = 4

function failureOf(
  ctx: BlockContext,
  { id }: PreflightSpec,
  problems: readonly MissingThing[]
): NodeFailure {
  const shown = problems.slice(0, limits.DIAGNOSTIC_LIST_LENGTH_MAX)
  const values = shown.map(({ chain, about, code, message, nodes }) => {
    const named = nodes.slice(0, NODES_NAMED_MAX).join(', ')
    const more = nodes.length > NODES_NAMED_MAX ? ` and ${nodes.length - NODES_NAMED_MAX} more` : ''
    return { place: `${chain} ${about}`, message: `${code}: ${message} (${named}${more})` }
  })
  const hidden = problems.length - shown.length
  const count = `${problems.length} ${problems.length === 1 ? 'thing is' : 'things are'} missing`
  const when = id === preflightNode ? 'before anything was sent' : 'before these nodes send'
  const diagnostic = nodeDiagnostic({
    code: 'not_ready',
    message: `${count}, found ${when}${hidden > 0 ? `; ${hidden} are not shown` : ''}`,
    nodeId: id,
    chain: [...new Set(problems.map(({ chain }) => chain))].join(', '),
    executionType: 'none',
    phase: 'preflight',
    attempt: ctx.attempt,
    elapsedMs: 0,
    values,
    lastCheckpoint: ctx.unitId,
    retryable: true,
    sent: false
  })
  return new NodeFailure(
    diagnostic,
    problems.every(({ isPassing }) => isPassing)
  )
}

import {
  canonicalizeOwn,
  type Hash,
  hashJson,
  isJsonObject,
  type Json,
  type JsonObject
} from '../../core/index.js'
import { AIS_PROFILE, EXPRESSION_PROFILE, type ExpressionProfile } from '../../expression/index.js'
import type { AisPlan, AisPlanNode, NodeSource, PlanParam } from '../plan/plan.js'
import type { Policy } from '../policy/policy.js'

/** How writes are treated. Reads are not concerned. */
export interface RunMode {
  /**
   * `ask`: each write waits for a person, whatever the policy. `broadcast`: the policy decides.
   * `simulate`: nothing is signed or sent; a write gives what it would give now.
   */
  readonly writes: 'ask' | 'broadcast' | 'simulate'
  /** Confirmations that the policy alone asks for count as given, unless it has approvers. */
  readonly yes: boolean
}

/** What a node's block gets about it; definitions and payloads have it as {@link specJson}. */
export interface NodeSpec {
  readonly node: AisPlanNode
  readonly plan: Pick<AisPlan, 'inputs' | 'policy'>
  readonly policy: Policy
  readonly mode: RunMode
  /** How it is carried out; absent: as definitions of 0.1.0 say, whose runs stay as they are. */
  readonly rules?: Rules | undefined
}

/**
 * Rules by which nodes are carried out; a run keeps those that its definition was made with. From 2
 * on values of `ctx` hold for the chain of the node that was given them (W14); from 3 on CEL
 * follows AIS, and the policy measures the call (W15).
 */
export type Rules = 2 | 3

export const currentRules: Rules = 3

/** Profile of the CEL in a node's values. */
export function profileOf(spec: Pick<NodeSpec, 'rules'>): ExpressionProfile {
  return hasRules(spec, 3) ? AIS_PROFILE : EXPRESSION_PROFILE
}

export function hasRules({ rules }: Pick<NodeSpec, 'rules'>, from: Rules): boolean {
  return rules !== undefined && rules >= from
}

/** SHA-256 of a node as it was planned; approvals name it (W7). */
export function nodeHash(node: AisPlanNode): Hash {
  return hashJson(node)
}

/**
 * Members that definitions and payloads leave out where they hold nothing but this: each receipt of
 * a node signs its spec. Optional members are not among them: their absence may mean more.
 */
const emptyMode = { yes: false } satisfies Partial<RunMode>

const emptyNode = {
  amounts: [],
  assert: null,
  assertMessage: null,
  calculated: [],
  conditions: [],
  contracts: [],
  deps: [],
  params: [],
  preconditions: [],
  queries: {},
  retry: null,
  returns: [],
  risk: null,
  simulate: false,
  timeoutMs: null,
  until: null
} satisfies Partial<AisPlanNode>

const emptySource = { step: null } satisfies Partial<NodeSource>

const emptyParam = { assetRef: null, constraints: null, value: null } satisfies Partial<PlanParam>

const emptyPlan = { inputs: {}, policy: {} } satisfies NodeSpec['plan']

const emptyPolicy = {
  actions: {},
  constraints: {},
  detectProviders: null,
  packs: [],
  plugins: null,
  quoteProviders: null,
  tokens: null
} satisfies Partial<Policy>

/** The spec as definitions and payloads have it, with its members in the order that they have. */
export function specJson(spec: NodeSpec): Json {
  const { mode, node, plan, policy } = spec
  const params = node.params.map((one) => withoutEmpty(one, emptyParam))
  const source = withoutEmpty(node.source, emptySource)
  return {
    ...(spec as unknown as JsonObject),
    mode: withoutEmpty(mode, emptyMode),
    node: withoutEmpty({ ...node, params, source }, emptyNode),
    plan: withoutEmpty(plan, emptyPlan),
    policy: withoutEmpty(policy, emptyPolicy)
  }
}

/** The spec that {@link specJson} wrote, or one that has the empty members, too. */
export function readSpec(written: JsonObject): NodeSpec {
  const known = specs.get(written)
  if (known !== undefined) return known
  const filled = {
    ...written,
    mode: { ...emptyMode, ...membersOf(written['mode']) },
    node: readSpecNode(membersOf(written['node'])),
    plan: { ...emptyPlan, ...membersOf(written['plan']) },
    policy: { ...emptyPolicy, ...membersOf(written['policy']) }
  }
  // Members that were added one by one are looked up in a table each time they are read.
  const spec = JSON.parse(canonicalizeOwn(filled)) as NodeSpec
  specs.set(written, spec)
  return spec
}

/** The node of such a spec. */
export function readSpecNode(written: JsonObject): AisPlanNode {
  const params = Array.isArray(written['params']) ? (written['params'] as readonly Json[]) : []
  return {
    ...emptyNode,
    ...written,
    params: params.map((one) => ({ ...emptyParam, ...membersOf(one) })),
    source: { ...emptySource, ...membersOf(written['source']) }
  } as unknown as AisPlanNode
}

/** By the spec that a definition has, which each attempt of each of its runs is given. */
const specs = new WeakMap<JsonObject, NodeSpec>()

function withoutEmpty(owner: object, empty: Readonly<Record<string, Json>>): JsonObject {
  const kept = Object.entries(owner).filter(([key, value]) => !isAsEmpty(value, empty[key]))
  return Object.fromEntries(kept) as JsonObject
}

/** An empty list is not null: of providers, the one means none and the other all. */
function isAsEmpty(value: Json, empty: Json | undefined): boolean {
  if (value === empty) return true
  if (!isPlain(value) || !isPlain(empty) || Array.isArray(value) !== Array.isArray(empty)) {
    return false
  }
  return Object.keys(value).length === 0
}

function isPlain(value: Json | undefined): value is Json & object {
  return typeof value === 'object' && value !== null
}

function membersOf(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {}
}

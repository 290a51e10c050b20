import { type BlockContext, EffectFailure } from '../../code/index.js'
import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import { resolveAccount } from '../../executor/index.js'
import { chainFits } from '../plan/select.js'
import type { ProviderRule } from '../policy/policy.js'
import type { NeededChoice } from '../readiness/evaluator.js'
import {
  applyPatches,
  namesOf,
  parsePatches,
  patchesFor,
  type RuntimePatch
} from '../readiness/patch.js'
import { nodeReadiness, type Readiness } from '../readiness/readiness.js'
import { type AisRuntime, atTime, prepareRuntime, withNodes } from '../readiness/runtime.js'
import { answerParts, defaultSolver } from '../readiness/solver.js'
import type { CompileValues } from '../value/compile.js'
import { invalidInputs, nodeFailure, type Occasion, valuesFailure } from './failure.js'
import { hasRules } from './node-spec.js'
import { type GivenValues, nothingGiven } from './sealed-write.js'
import { givenOf, type NodeInput, resultsOf } from './spec.js'

/** A node that is asked for, in an attempt of its block. */
export interface Asked {
  readonly ctx: BlockContext
  readonly input: NodeInput
  readonly values: CompileValues
}

/** A node that can be executed or is skipped, with what its values read. */
export interface Gathered {
  readonly runtime: AisRuntime
  readonly readiness: Exclude<Readiness, { readonly state: 'blocked' | 'failed' }>
  readonly patches: readonly RuntimePatch[]
  /** What was asked for, by whom it was given. */
  readonly given: GivenValues
  readonly found: GivenValues
}

/**
 * Makes the runtime of a node: what the run was given, with the patches of nodes before it and of
 * earlier attempts.
 */
export function runtimeFor(input: NodeInput, occasion: Occasion, before: readonly GivenValues[]) {
  const { plan } = input.spec
  const prepared = prepareRuntime(plan, givenOf(input.given))
  if (!prepared.ok) {
    throw nodeFailure(occasion, { ...invalidInputs(prepared.problems), phase: 'arguments' })
  }
  const { nodes, patches } = resultsOf(input.nodes)
  const decided = parsePatches(input.patches ?? [])
  if (typeof decided === 'string') {
    throw nodeFailure(occasion, { code: 'invalid_patch', message: decided, phase: 'arguments' })
  }
  const known = before.flatMap((one) => one.patches)
  const all = [...patches, ...known, ...ownPatches(decided, input.spec)]
  const start = withMade(withNodes(prepared.runtime, nodes), input, before)
  if (all.length === 0) return { runtime: start, patches: all }
  const applied = patchesFor(all, input.spec.node.chain)
  const { runtime, audit } = applyPatches(plan, start, applied)
  const rejected = new Set(audit.rejected.map(({ index }) => applied[index]))
  return { runtime, patches: all.filter((one) => !rejected.has(one)) }
}

function withMade(
  runtime: AisRuntime,
  { spec }: NodeInput,
  before: readonly GivenValues[]
): AisRuntime {
  if (before.length === 0) return runtime
  const made = Object.assign({}, ...before.map(({ choices }) => choices)) as JsonObject
  if (Object.keys(made).length === 0) return runtime
  return { ...runtime, choices: withChoices(runtime, spec.node.id, made) }
}

/** The runtime as the values of a node read it at a time, milliseconds. */
export function runtimeAt(
  runtime: AisRuntime,
  spec: Pick<NodeInput['spec'], 'rules'>,
  nowMs: number
): AisRuntime {
  return hasRules(spec, 3) ? atTime(runtime, nowMs) : runtime
}

/** Effect by which a node that writes keeps the time of its first attempt. */
export const TIME_EFFECT = 'ais.time'

/**
 * The time of the node's first attempt, for all of them: with another `ctx.now` a later attempt
 * would send another transaction beside the one that may still take effect (W11).
 */
function firstTime(ctx: BlockContext): Promise<number> {
  return ctx.effect(TIME_EFFECT, {
    request: {},
    sideEffects: 'idempotent',
    perform: () => ctx.now()
  })
}

/** Whether values cannot be told without the time; most nodes do not read it. */
function lacksTime(readiness: Readiness): boolean {
  if (readiness.state === 'blocked') return readiness.missingRefs.includes('ctx.now')
  return readiness.state === 'failed'
}

/** What was given to a node, as those behind it get it: an address of `ctx` is one of its chain. */
function ownPatches(
  patches: readonly RuntimePatch[],
  spec: NodeInput['spec']
): readonly RuntimePatch[] {
  if (!hasRules(spec, 2)) return patches
  const isOfChain = ({ path }: RuntimePatch) => namesOf(path)[0] === 'ctx'
  return patches.map((one) => (isOfChain(one) ? { ...one, chain: spec.node.chain } : one))
}

/**
 * Looks whether a node is ready, and asks for what it lacks (W3): the account for
 * `ctx.wallet_address`, a person for the rest. Only this node waits meanwhile.
 */
export async function gather(
  { ctx, input, values }: Asked,
  occasion: Occasion,
  { keepsTime, before = nothingGiven, looked }: GatherOptions
): Promise<Gathered> {
  const { node, plan } = input.spec
  const start = runtimeFor(input, occasion, before === nothingGiven ? [] : [before])
  let { runtime } = start
  const patches = [...start.patches]
  let given = before
  let found = nothingGiven
  let atMs = keepsTime ? undefined : ctx.now()
  const readinessNow = () => {
    const timed = atMs === undefined ? runtime : runtimeAt(runtime, input.spec, atMs)
    return nodeReadiness(node, timed, values)
  }
  for (let round = 0; round < limits.MISSING_ROUNDS_MAX; round += 1) {
    let readiness = readinessNow()
    if (atMs === undefined && lacksTime(readiness)) {
      atMs = await firstTime(ctx)
      readiness = readinessNow()
    }
    if (readiness.state === 'failed') throw valuesFailure(occasion, readiness.errors)
    if (round === 0) await looked?.(readiness)
    if (readiness.state !== 'blocked') return { runtime, readiness, patches, given, found }
    ctx.log('node_blocked', {
      node: node.id,
      missing: readiness.missingRefs,
      choices: readiness.needsDetect.map(({ key }) => key)
    })
    const known =
      (await accountPatch(ctx, input, readiness.missingRefs, round)) ??
      (round > 1 ? undefined : await choicesBy(ctx, input.spec, readiness.needsDetect))
    const answer = known ?? (await asked(ctx, input, readiness, occasion))
    const applied = applyPatches(plan, runtime, answer.patches)
    const { audit } = applied
    ctx.log(known === undefined ? 'patch_applied' : 'solver_applied', audit as unknown as Json)
    const kept = answer.patches.filter(
      (_, index) => !audit.rejected.some((one) => one.index === index)
    )
    const own = ownPatches(kept, input.spec)
    if (known === undefined) given = joined(given, { patches: own, choices: answer.choices })
    else found = joined(found, { patches: own, choices: answer.choices })
    patches.push(...own)
    runtime = { ...applied.runtime, choices: withChoices(runtime, node.id, answer.choices) }
  }
  throw nodeFailure(occasion, {
    code: 'still_missing',
    message: `${limits.MISSING_ROUNDS_MAX} answers have not given what it lacks`,
    phase: 'arguments'
  })
}

interface GatherOptions {
  readonly keepsTime: boolean
  /** What earlier attempts were given. */
  readonly before?: GivenValues
  /** Hears how ready the node is before anything is asked for. */
  readonly looked?: (readiness: Exclude<Readiness, { readonly state: 'failed' }>) => Promise<void>
}

function joined(one: GivenValues, other: GivenValues): GivenValues {
  return {
    patches: [...one.patches, ...other.patches],
    choices: { ...one.choices, ...other.choices }
  }
}

/** Effect by which providers make choices; its request names the provider. */
export const DETECT_EFFECT = 'ais.detect'

/** What the providers choose that a choice names or the policy lists; undefined: none could. */
async function choicesBy(
  ctx: BlockContext,
  spec: NodeInput['spec'],
  needed: readonly NeededChoice[]
): Promise<GivenValues | undefined> {
  const { node } = spec
  const choices: [string, Json][] = []
  for (const choice of needed) {
    const found = providerFor(choice, spec)
    if (found === undefined) continue
    const { provider, candidates, rule } = found
    const request: Json = {
      ...choice,
      ...(choice.candidates.length > 0 || candidates === undefined ? {} : { candidates }),
      ...(rule === undefined ? {} : { rule }),
      provider,
      node: node.id,
      chain: node.chain
    }
    try {
      const made = await ctx.effect(DETECT_EFFECT, { request, sideEffects: 'none' })
      choices.push([choice.key, made])
    } catch (error) {
      // What no provider can say, a person is asked.
      if (!(error instanceof EffectFailure)) throw error
    }
  }
  return choices.length === 0 ? undefined : { patches: [], choices: Object.fromEntries(choices) }
}

/** The provider that is named, if it is enabled; else the enabled one of the highest priority. */
function providerFor(
  { kind, provider }: NeededChoice,
  spec: NodeInput['spec']
): Pick<ProviderRule, 'provider' | 'candidates' | 'rule'> | undefined {
  const { node, policy } = spec
  const { detectProviders, quoteProviders, pathProviders } = policy
  const fits = ({ kinds, chains }: ProviderRule) =>
    (kinds === null || kinds.includes(kind)) && chainFits(node.chain, chains ?? undefined)
  const isListed = (name: string) => {
    if (!hasRules(spec, 3)) return true
    if (kind === 'best_path') return pathProviders?.includes(name) !== false
    if (kind !== 'best_quote' || quoteProviders === null) return true
    return quoteProviders.some((one) => one.provider === name && fits(one))
  }
  if (detectProviders === null) {
    return provider === null || !isListed(provider) ? undefined : { provider }
  }
  const fitting = detectProviders.filter((one) => fits(one) && isListed(one.provider))
  if (provider !== null) return fitting.find((one) => one.provider === provider)
  const [best] = [...fitting].sort((left, right) => right.priority - left.priority)
  return best
}

/** The wallet's address is the account that would sign, where an executor has one. */
async function accountPatch(
  ctx: BlockContext,
  { spec, given }: NodeInput,
  missing: readonly string[],
  round: number
): Promise<GivenValues | undefined> {
  if (round > 0 || !missing.includes('ctx.wallet_address')) return undefined
  try {
    const { address } = await resolveAccount(ctx, { chain: spec.node.chain, ...accountOf(given) })
    const patch = { op: 'set', path: 'ctx.wallet_address', value: address } as const
    return { patches: [patch], choices: {} }
  } catch (error) {
    // Where no account is known, a person is asked for the address.
    if (error instanceof EffectFailure) return undefined
    throw error
  }
}

/** Name of the account that the run was started for: `ctx.account`. */
export function accountOf(given: Json): { readonly account?: string } {
  const account = givenOf(given).ctx?.['account']
  return typeof account === 'string' ? { account } : {}
}

async function asked(
  ctx: BlockContext,
  { spec }: NodeInput,
  blocked: Readiness & { readonly state: 'blocked' },
  occasion: Occasion
): Promise<GivenValues> {
  const solution = defaultSolver(spec.plan, spec.node, blocked)
  if (solution.kind !== 'ask') {
    const message = solution.kind === 'cannot_solve' ? solution.problem : 'nothing to ask for'
    throw nodeFailure(occasion, { code: 'cannot_solve', message, phase: 'arguments' })
  }
  const answer = await ctx.wait({
    reason: 'external',
    request: solution.request as unknown as Json
  })
  if (answer.action === 'deny') {
    const message = 'what it lacks was not given'
    throw nodeFailure(occasion, { code: 'denied', message, phase: 'confirm' })
  }
  const parts = answerParts(answer.value)
  const parsed = parsePatches(parts.patches)
  if (typeof parsed !== 'string') return { patches: parsed, choices: parts.choices }
  ctx.log('patch_rejected', { node: spec.node.id, problem: parsed })
  return { patches: [], choices: parts.choices }
}

/** The choices of a run with those that were made for a node. */
export function withChoices(runtime: AisRuntime, node: string, made: JsonObject): JsonObject {
  const before = runtime.choices[node]
  return {
    ...runtime.choices,
    [node]: { ...(isJsonObject(before) ? before : {}), ...made }
  }
}

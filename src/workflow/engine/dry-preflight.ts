import type { Provider } from '../../block/index.js'
import { EffectFailure } from '../../code/index.js'
import { type Clock, hashJson, type Json, systemClock } from '../../core/index.js'
import { chainEffects, chainFailed, type ReadinessReport } from '../../executor/index.js'
import type { AisPlan } from '../plan/plan.js'
import type { RuntimeGiven } from '../readiness/runtime.js'
import type { CompileValues } from '../value/compile.js'
import type { RunMode } from './node-spec.js'
import {
  type AskReadiness,
  type ChainNeed,
  chainNeeds,
  lookAt,
  type MissingThing
} from './preflight.js'
import { preflightGroups } from './preflight-targets.js'
import { preflightNode } from './spec.js'

/** A look before writes, as the run will have it (W15), as far as it is known now. */
export interface DryLook {
  /** Its node in the run: `run__preflight`. */
  readonly id: string
  /** Nodes whose results it waits for; none: it is before everything. */
  readonly after: readonly string[]
  /** Nodes that wait for it, sorted. */
  readonly before: readonly string[]
  readonly chains: readonly DryCheck[]
}

/** What is looked at on one chain. */
export interface DryCheck {
  readonly chain: string
  /** Types of the executions that have to be carried out there. */
  readonly executions: Readonly<Record<string, 'read' | 'write'>>
  /** Addresses that have to hold code; those that results give come later. */
  readonly contracts: readonly string[]
  /** Null: nothing was asked. */
  readonly missing: readonly MissingThing[] | null
  /** What no executor could say. */
  readonly unchecked: readonly string[]
}

/** What a preflight without a run looks at. */
export interface DryPreflightOptions {
  readonly values: CompileValues
  /** As the run will treat writes; default `ask`. */
  readonly writes?: RunMode['writes']
  /** What answers `chain.ready`; absent: it is listed what will be looked at, and nothing asked. */
  readonly providers?: readonly Provider[]
  /** How long all of them have, milliseconds; what has not answered then is missing. */
  readonly withinMs?: number
  readonly clock?: Clock
}

/**
 * What a run would look at before its first write, and what is missing now: by the function by
 * which the run looks. Reads only. Inputs that do not fit give nothing; `dryRun` names them.
 */
export async function dryPreflight(
  plan: AisPlan,
  given: RuntimeGiven,
  options: DryPreflightOptions
): Promise<readonly DryLook[]> {
  const { values, writes = 'ask' } = options
  // What is simulated sends nothing, so its run does not look.
  if (writes === 'simulate') return []
  const common = { inputs: plan.inputs, policy: plan.policy }
  const late = new AbortController()
  const ask = askBy(options, late.signal)
  const callOff = lateAfter(options, late)
  try {
    const looks = preflightGroups(plan.nodes).map(async (group, index): Promise<DryLook> => {
      const id = index === 0 ? preflightNode : `${preflightNode}_${index}`
      const { deps, targets, before } = group
      const spec = { id, plan: common, writes, targets }
      const needs = chainNeeds({ spec, given: given as Json, nodes: {} }, values)
      const chains = await Promise.all(needs.map((need) => checked(need, ask)))
      return { id, after: deps, before: [...before].sort(), chains }
    })
    return await Promise.all(looks)
  } finally {
    callOff()
  }
}

async function checked(need: ChainNeed, ask: AskReadiness | undefined): Promise<DryCheck> {
  const { chain, executions, contracts } = need.request
  const about = { chain, executions, contracts }
  if (ask === undefined) return { ...about, missing: null, unchecked: [] }
  const { problems, unchecked } = await lookAt([need], ask)
  return { ...about, missing: problems, unchecked: unchecked.flatMap((one) => one.about) }
}

function askBy({ providers }: DryPreflightOptions, signal: AbortSignal): AskReadiness | undefined {
  if (providers === undefined) return undefined
  const provider = providers.find(({ name }) => name === chainEffects.ready)
  return async (asked) => {
    if (provider === undefined) throw new EffectFailure('no_provider', { definite: true })
    const request = asked as unknown as Json
    const key = hashJson(request)
    const answer = provider.perform({ key, request, signal })
    return (await Promise.race([answer, lateAt(signal, asked.chain)])) as unknown as ReadinessReport
  }
}

/** Providers may not listen to the signal. */
function lateAt(signal: AbortSignal, chain: string): Promise<never> {
  const message = 'no answer in the time given'
  return new Promise((_, reject) => {
    const refuse = () => reject(chainFailed('rpc_timeout', { phase: 'check', chain, message }))
    if (signal.aborted) refuse()
    else signal.addEventListener('abort', refuse, { once: true })
  })
}

function lateAfter(
  { withinMs, clock = systemClock }: DryPreflightOptions,
  late: AbortController
): () => void {
  if (withinMs === undefined) return () => undefined
  return clock.schedule(clock.now() + withinMs, () => late.abort())
}

import type { Json, JsonObject } from '../../core/index.js'
import type { AisPlan } from '../plan/plan.js'
import { typedAs } from '../type/check.js'

/** What the values of a plan read: given from outside, but for `nodes`. All plain JSON. */
export interface AisRuntime {
  readonly inputs: JsonObject
  /** Of the caller of the plan, e.g. `wallet_address`. */
  readonly ctx: JsonObject
  /** Addresses by name, or by chain or node and then by name (W8). */
  readonly contracts: JsonObject
  /** Values of the workflow that its host knows, e.g. an asset `usdc`. */
  readonly calculated: JsonObject
  readonly policy: JsonObject
  /** Choices that were made for `detect` values: by node, then by place. */
  readonly choices: JsonObject
  /** What done nodes gave, by plan node id; null: it was skipped (W6). */
  readonly nodes: Readonly<Record<string, NodeValues | null>>
}

export interface NodeValues {
  readonly outputs: JsonObject
  readonly calculated: JsonObject
  /** Ways in `calculated` to text that is an amount, as its own node has it. */
  readonly amounts?: readonly string[]
}

/** What a caller gives; inputs are checked by {@link prepareRuntime}. */
export interface RuntimeGiven {
  readonly inputs?: JsonObject
  readonly ctx?: JsonObject
  readonly contracts?: JsonObject
  readonly calculated?: JsonObject
  readonly policy?: JsonObject
  readonly choices?: JsonObject
}

export interface InputProblem {
  readonly name: string
  readonly problem: string
}

export type PreparedRuntime =
  | {
      readonly ok: true
      readonly runtime: AisRuntime
      /** Required inputs that are not given; nodes that need them ask. */
      readonly missing: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly InputProblem[] }

/**
 * What is read at a time of the run's clock: `ctx.now`, whole seconds since 1970, unless the run
 * was given one. Under rules before 3 it has to be given.
 */
export function atTime(runtime: AisRuntime, nowMs: number): AisRuntime {
  const { inputs, contracts, calculated, policy, choices, nodes } = runtime
  const ctx = { now: Math.floor(nowMs / 1_000), ...runtime.ctx }
  return { inputs, ctx, contracts, calculated, policy, choices, nodes }
}

/** The runtime with what other nodes gave. Written out: Node 20 is slow behind a spread. */
export function withNodes(runtime: AisRuntime, nodes: AisRuntime['nodes']): AisRuntime {
  const { inputs, ctx, contracts, calculated, policy, choices } = runtime
  return { inputs, ctx, contracts, calculated, policy, choices, nodes }
}

/** Inputs under their types with defaults filled in, and the policy of the plan (W3, W4). */
export function prepareRuntime(
  plan: Pick<AisPlan, 'inputs' | 'policy'>,
  given: RuntimeGiven
): PreparedRuntime {
  const problems: InputProblem[] = []
  const missing: string[] = []
  const inputs: [string, Json][] = []
  const values = given.inputs ?? {}
  for (const name of Object.keys(values)) {
    if (!Object.hasOwn(plan.inputs, name)) {
      problems.push({ name, problem: 'the workflow has no such input' })
    }
  }
  for (const [name, { type, required, default: fallback }] of Object.entries(plan.inputs)) {
    const value = Object.hasOwn(values, name) ? values[name] : fallback
    if (value === undefined) {
      if (required) missing.push(name)
      continue
    }
    const typed = typedAs(type, value)
    if (typed.ok) inputs.push([name, typed.value])
    else problems.push({ name, problem: `not a value of type ${type}: ${typed.problem}` })
  }
  if (problems.length > 0) return { ok: false, problems }
  const runtime: AisRuntime = {
    inputs: Object.fromEntries(inputs),
    ctx: given.ctx ?? {},
    contracts: given.contracts ?? {},
    calculated: given.calculated ?? {},
    policy: { ...plan.policy, ...given.policy },
    choices: given.choices ?? {},
    nodes: {}
  }
  return { ok: true, runtime, missing }
}

import type { Json, JsonObject } from '../../core/index.js'
import type { AisPlan, AisPlanNode } from '../plan/plan.js'
import type { NeededChoice } from './evaluator.js'
import { patchRoots, type RuntimePatch } from './patch.js'
import type { Readiness } from './readiness.js'

/** What to do about a blocked node. */
export type Solution =
  | { readonly kind: 'patches'; readonly patches: readonly RuntimePatch[] }
  /** A person or a program has to say it; the request is what they are shown. */
  | { readonly kind: 'ask'; readonly request: MissingRequest }
  | { readonly kind: 'cannot_solve'; readonly problem: string }

/** What a blocked node needs, as it is shown. Plain JSON. */
export interface MissingRequest {
  readonly kind: 'missing'
  readonly nodeId: string
  /** Null for the outputs of a workflow. */
  readonly chain: string | null
  readonly missing: readonly MissingValue[]
  readonly choices: readonly NeededChoice[]
  /** Roots that an answer may change. */
  readonly patchable: readonly string[]
}

export interface MissingValue {
  readonly path: string
  /** Known for inputs. */
  readonly type: string | null
}

/**
 * The default: deployments are in the plan already (W8), so what is missing is asked for, with the
 * types that the workflow declares.
 */
export function defaultSolver(
  plan: Pick<AisPlan, 'inputs'>,
  node: Pick<AisPlanNode, 'id' | 'chain'>,
  blocked: Readiness & { readonly state: 'blocked' }
): Solution {
  if (blocked.missingRefs.length === 0 && blocked.needsDetect.length === 0) {
    return { kind: 'cannot_solve', problem: 'nothing that could be given is missing' }
  }
  const { missingRefs: missing, needsDetect: choices } = blocked
  return { kind: 'ask', request: missingRequest(plan, node, { missing, choices }) }
}

/** What a person has to give, with the types that the workflow declares. */
export function missingRequest(
  plan: Pick<AisPlan, 'inputs'>,
  node: { readonly id: string; readonly chain: string | null },
  lacks: { readonly missing: readonly string[]; readonly choices: readonly NeededChoice[] }
): MissingRequest {
  const missing = lacks.missing.map((path): MissingValue => {
    const [root, name = ''] = path.split('.')
    const input = root === 'inputs' && Object.hasOwn(plan.inputs, name) ? plan.inputs[name] : null
    return { path, type: input?.type ?? null }
  })
  const { id: nodeId, chain } = node
  return { kind: 'missing', nodeId, chain, missing, choices: lacks.choices, patchable: patchRoots }
}

/**
 * Patches out of an answer to a {@link MissingRequest}: `{patches: [...]}`, or values by their
 * paths, `{"inputs.amount": "1"}`. Choices stand under `choices`, by their keys.
 */
export function answerParts(value: Json): { readonly patches: Json; readonly choices: JsonObject } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { patches: [], choices: {} }
  }
  const { patches, choices, ...paths } = value as JsonObject
  const asObject = typeof choices === 'object' && choices !== null && !Array.isArray(choices)
  const byPath = Object.entries(paths).map(([path, one]) => ({ op: 'set', path, value: one }))
  return {
    patches: patches === undefined ? byPath : patches,
    choices: asObject ? (choices as JsonObject) : {}
  }
}

import type { JsonObject } from '../../core/index.js'
import type { AisPlan, AisPlanNode } from '../plan/plan.js'
import { policyVerdict, type Verdict } from '../policy/gate.js'
import type { Policy } from '../policy/policy.js'
import type { NodeError } from '../readiness/evaluator.js'
import { nodeReadiness, type Readiness } from '../readiness/readiness.js'
import { type InputProblem, prepareRuntime, type RuntimeGiven } from '../readiness/runtime.js'
import type { CompileValues } from '../value/compile.js'

/** What can be said of a node before anything is run. */
export interface DryNode {
  readonly id: string
  readonly chain: string
  /** `later`: it reads what nodes before it will have given. */
  readonly state: 'ready' | 'skipped' | 'blocked' | 'later' | 'failed'
  readonly params?: JsonObject
  readonly execution?: JsonObject
  readonly verdict?: Verdict
  /** Paths that are not given, or results that are not there yet. */
  readonly missing?: readonly string[]
  readonly errors?: readonly NodeError[]
}

/** What a workflow would do, as far as that is known before it runs. */
export type DryRun =
  | { readonly ok: true; readonly nodes: readonly DryNode[]; readonly missing: readonly string[] }
  | { readonly ok: false; readonly problems: readonly InputProblem[] }

/** Resolves as much of a plan as can be resolved without touching a chain. Pure. */
export function dryRun(
  plan: AisPlan,
  given: RuntimeGiven,
  { values, policy }: { readonly values: CompileValues; readonly policy: Policy }
): DryRun {
  const prepared = prepareRuntime(plan, given)
  if (!prepared.ok) return prepared
  const { runtime, missing } = prepared
  const nodes = plan.nodes.map((node) => shown(node, nodeReadiness(node, runtime, values), policy))
  return { ok: true, nodes, missing }
}

function shown(node: AisPlanNode, found: Readiness, policy: Policy): DryNode {
  const { id, chain } = node
  if (found.state === 'ready') {
    const { params, execution } = found
    const verdict = policyVerdict(node, found, policy)
    return { id, chain, state: 'ready', params, execution, verdict }
  }
  if (found.state === 'skipped') return { id, chain, state: 'skipped' }
  if (found.state === 'blocked') {
    // The run's clock gives it.
    const isTime = found.missingRefs.every((path) => path === 'ctx.now')
    if (isTime && found.needsDetect.length === 0) {
      return { id, chain, state: 'later', missing: found.missingRefs }
    }
    const choices = found.needsDetect.map(({ key }) => `choice ${key}`)
    return { id, chain, state: 'blocked', missing: [...found.missingRefs, ...choices] }
  }
  return isLater(node, found.errors)
    ? { id, chain, state: 'later', missing: node.deps }
    : { id, chain, state: 'failed', errors: found.errors }
}

function isLater({ deps }: AisPlanNode, errors: readonly NodeError[]): boolean {
  return deps.length > 0 && errors.every(({ code }) => code === 'missing_reference')
}

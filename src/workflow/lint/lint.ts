import { atOnce, isSliceFull, type Pieces, passSteps } from '../../core/index.js'
import type { Reference } from '../../expression/index.js'
import type { FlowDocument } from '../document/flow.js'
import { importsOf, overrideOf } from '../document/flow.js'
import { type Issue, Issues } from '../document/issue.js'
import type { PackDocument } from '../document/pack.js'
import type { AisValue } from '../document/value.js'
import type { AisPlan } from '../plan/plan.js'
import type { ResolvedNode } from '../plan/resolve.js'
import {
  type CompileValues,
  compilingAisValue,
  type Scope,
  type ScopedValue
} from '../value/compile.js'
import { lintAmounts } from './amounts.js'
import { lintApprovals } from './approvals.js'
import { lintChecks } from './checks.js'
import { lintingConstants } from './constants.js'
import { lintFailures } from './failures.js'
import { lintingGraph } from './graph.js'
import { lintMeasures } from './measures.js'
import { lintingSkips } from './skips.js'
import type { LintNode, LintSubject, ReadValue } from './subject.js'
import { lintUnchecked } from './unchecked.js'

/**
 * Doubts about a workflow that can be planned (W12): recommended checks that are missing, units
 * that do not fit, reads of skipped nodes, and more. Warnings, none of which stops a run.
 */
export function lintFlow(linted: LintedFlow): readonly Issue[] {
  return atOnce(lintingFlow(linted))
}

interface LintedFlow {
  readonly flow: FlowDocument
  readonly plan: AisPlan
  readonly resolved: ReadonlyMap<string, ResolvedNode>
  readonly values: CompileValues
  readonly packs?: readonly PackDocument[]
}

/** {@link lintFlow} in pieces: other work may be done wherever it yields. */
export function* lintingFlow({
  flow,
  plan,
  resolved,
  values,
  packs = []
}: LintedFlow): Pieces<readonly Issue[]> {
  const issues = new Issues()
  const nodes: LintNode[] = []
  for (const node of resolved.values()) {
    nodes.push({ ...node, id: node.node.id, values: yield* valuesOf(node, values) })
    passSteps(STEPS_OF_NODE)
    if (isSliceFull()) yield
  }
  const subject = {
    flow,
    plan,
    packs,
    values,
    nodes,
    byId: new Map(nodes.map((node) => [node.id, node]))
  }
  for (const rule of rules) {
    yield* rule(subject, issues)
    if (isSliceFull()) yield
  }
  return issues.list
}

/** Work of a node whose values are looked at again. */
const STEPS_OF_NODE = 100

type Rule = (subject: LintSubject, issues: Issues) => Pieces<void>

/** A rule that looks at each node, and at no more than the names of what its values read. */
function brief(rule: (subject: LintSubject, issues: Issues) => void): Rule {
  return function* (subject, issues) {
    rule(subject, issues)
    yield
  }
}

const rules: readonly Rule[] = [
  lintingGraph,
  lintingSkips,
  brief(lintChecks),
  brief(lintApprovals),
  brief(lintAmounts),
  brief(lintMeasures),
  brief(lintUnchecked),
  brief(lintFailures),
  lintingConstants,
  lintingUnused
]

function* valuesOf(resolved: ResolvedNode, values: CompileValues): Pieces<readonly ReadValue[]> {
  const { node } = resolved
  const written: (ScopedValue & { readonly path: ReadValue['path'] })[] = [
    ...Object.entries(node.args).map(
      ([name, value]) => ({ path: ['args', name], scope: 'flow', value }) as const
    ),
    ...Object.entries(node.calculated_overrides).map(([name, value]) => ({
      path: ['calculated_overrides', name],
      ...overrideOf(value)
    }))
  ]
  for (const key of ['condition', 'until', 'assert'] as const) {
    const value = node[key]
    if (value !== undefined) written.push({ path: [key], scope: 'flow', value })
  }
  const read: ReadValue[] = []
  for (const one of written) {
    read.push({ ...one, references: yield* referencesOf(one.value, one.scope, values) })
  }
  return read
}

function* referencesOf(
  value: AisValue,
  scope: Scope,
  values: CompileValues
): Pieces<readonly Reference[]> {
  const result = yield* compilingAisValue({ scope, value }, '', values)
  return result.ok ? result.compiled.references : []
}

/** Work of looking at what a value reads. */
const STEPS_OF_REFERENCE = 8

function* lintingUnused({ flow, nodes }: LintSubject, issues: Issues): Pieces<void> {
  const read = new Set<string>()
  for (const { references } of nodes.flatMap(({ values: own }) => own)) {
    for (const { root, path } of references) {
      passSteps(STEPS_OF_REFERENCE)
      if (isSliceFull()) yield
      if (root === 'inputs') read.add(String(path[0] ?? '*'))
    }
  }
  const outputs = JSON.stringify(flow.outputs ?? {})
  for (const [, name = ''] of outputs.matchAll(/inputs\.([A-Za-z0-9_-]+)/g)) read.add(name)
  for (const name of Object.keys(flow.inputs)) {
    passSteps(1)
    if (isSliceFull()) yield
    if (read.has(name) || read.has('*')) continue
    issues.note('unused_input', `no value reads the input ${name}`, ['inputs', name])
  }
  const used = new Set(flow.nodes.map(({ protocol }) => protocol))
  for (const [index, { protocol }] of importsOf(flow).entries()) {
    if (used.has(protocol)) continue
    issues.note('unused_import', `no node uses ${protocol}`, ['imports', 'protocols', index])
  }
}

import { isSliceFull, type Pieces, passSteps } from '../../core/index.js'
import type { Reference } from '../../expression/index.js'
import type { SimpleExecution } from '../document/execution.js'
import type { Issues } from '../document/issue.js'
import type { AisValue } from '../document/value.js'
import type { AisPlanNode } from '../plan/plan.js'
import { nodeReadiness, ownCondition } from '../readiness/readiness.js'
import type { AisRuntime } from '../readiness/runtime.js'
import { type CompileValues, compilingAisValue, type ScopedValue } from '../value/compile.js'
import { issuesOf, type LintSubject } from './subject.js'

/**
 * Values that read nothing of the run, or only such values of their own node: they are computed by
 * the code that computes them when it runs, and what fails now fails then (W12).
 */
export function* lintingConstants(subject: LintSubject, issues: Issues): Pieces<void> {
  const { plan, byId, values } = subject
  for (const planned of plan.nodes) {
    const node = byId.get(planned.source.node)
    if (node === undefined) continue
    const here = issuesOf(node, issues)
    const constant = yield* constantPart(planned, values)
    const readiness = nodeReadiness(constant, nothing, values)
    const errors = readiness.state === 'failed' ? readiness.errors : []
    for (const { place, message } of errors) {
      here.warn('fails_when_run', `${place}: ${message}`, pathOf(place))
    }
    for (const which of ['until', 'assert'] as const) {
      const result = ownCondition(which, constant, nothing, values)
      if (result.ok && result.holds) continue
      const problem = result.ok ? 'it is never true' : result.error.message
      here.warn('fails_when_run', `${which}: ${problem}`, [which])
    }
  }
  yield* lintOutputs(subject, issues)
}

/** A run of which nothing is known. */
const nothing: AisRuntime = {
  inputs: {},
  ctx: {},
  contracts: {},
  calculated: {},
  policy: {},
  nodes: {},
  choices: {}
}

function pathOf(place: string): readonly string[] {
  const [root = '', name = ''] = place.split('/')
  if (root === 'args') return ['args', name]
  return root === 'condition' ? ['condition'] : []
}

/** A node with those values alone that are known before it runs. */
function* constantPart(node: AisPlanNode, values: CompileValues): Pieces<AisPlanNode> {
  const known = new Set<string>()
  const isKnown = function* (value: ScopedValue | null): Pieces<boolean> {
    return value !== null && (yield* readsOnly(value, known, values))
  }
  const flow = (value: AisValue | null) =>
    value === null ? null : ({ scope: 'flow', value } as const)
  const own = (value: AisValue) => ({ scope: 'protocol', value }) as const
  const params: AisPlanNode['params'][number][] = []
  for (const param of node.params) {
    if (!(yield* isKnown(flow(param.value)))) continue
    params.push(param)
    known.add(`params.${param.name}`)
  }
  const calculated: AisPlanNode['calculated'][number][] = []
  for (const field of node.calculated) {
    if (!(yield* isKnown(field))) continue
    calculated.push(field)
    known.add(`calculated.${field.name}`)
  }
  const conditions: ScopedValue[] = []
  for (const one of node.conditions) if (yield* isKnown(one)) conditions.push(one)
  const preconditions: AisValue[] = []
  for (const one of node.preconditions) if (yield* isKnown(own(one))) preconditions.push(one)
  const bounds: [string, AisValue][] = []
  for (const [name, value] of Object.entries(node.risk?.bounds ?? {})) {
    if (yield* isKnown(own(value))) bounds.push([name, value])
  }
  known.clear()
  const until = (yield* isKnown(flow(node.until))) ? node.until : null
  const assert = (yield* isKnown(flow(node.assert))) ? node.assert : null
  const risk = node.risk && { ...node.risk, bounds: Object.fromEntries(bounds) }
  const part = { params, calculated, conditions, preconditions, until, assert, risk }
  return { ...node, ...part, contracts: [], queries: {}, execution: NO_EXECUTION }
}

/** What is sent is looked at by another rule. */
const NO_EXECUTION = { type: 'none' } as SimpleExecution

/** Whether all that a value reads is known, and it is soon computed. */
function* readsOnly(
  scoped: ScopedValue,
  known: ReadonlySet<string>,
  values: CompileValues
): Pieces<boolean> {
  const text = JSON.stringify(scoped.value)
  passSteps(1 + (text.length >> 7))
  if (isSliceFull()) yield
  if (text.length > COMPUTED_LENGTH_MAX || slow.test(text)) return false
  const result = yield* compilingAisValue(scoped, '', values)
  if (!result.ok || result.compiled.choices.length > 0) return false
  return result.compiled.references.every((one) => known.has(nameOf(one)))
}

/** Longer values are left to the run, so that reading a document stays cheap. */
const COMPUTED_LENGTH_MAX = 4_096

/** Loops, and numbers with many digits. */
const slow = /\b(all|exists|exists_one|map|filter|pow|matches)\s*\(|[0-9]{200}|[eE][+-]?[0-9]{3}/

function nameOf({ root, path }: Reference): string {
  return `${root}.${String(path[0])}`
}

function* lintOutputs({ plan, values }: LintSubject, issues: Issues): Pieces<void> {
  for (const [name, value] of Object.entries(plan.outputs)) {
    const scoped = { scope: 'flow', value } as const
    if (!(yield* readsOnly(scoped, new Set(), values))) continue
    const result = yield* compilingAisValue(scoped, name, values)
    const computed = result.ok ? result.compiled.evaluate({}) : undefined
    if (computed === undefined || computed.ok) continue
    const problem = `outputs.${name}: ${computed.code}: ${computed.detail}`
    issues.warn('fails_when_run', problem, ['outputs', name])
  }
}

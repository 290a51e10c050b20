import {
  type DocumentPath,
  isSliceFull,
  type Pieces,
  passSteps,
  payWork,
  spendWork
} from '../../core/index.js'
import { type Reference, referenceText } from '../../expression/index.js'
import type { Issues } from '../document/issue.js'
import { type AisValue, candidatesOf } from '../document/value.js'
import {
  type CompileValues,
  compileAisValue,
  compilingAisValue,
  type ScopedValue
} from '../value/compile.js'
import type { ResolvedNode, ResolvedStep } from './resolve.js'

/** What may be named where a value stands. */
export interface Surroundings {
  readonly values: CompileValues
  /** Ids of the workflow's nodes. */
  readonly nodeIds: ReadonlySet<string>
  readonly inputs: ReadonlySet<string>
  readonly params: ReadonlySet<string>
  readonly queries: ReadonlySet<string>
  /** Steps that come before. */
  readonly steps: ReadonlySet<string>
}

/**
 * Compiles a value and gives what it reads, from its syntax tree (W2); names that lead nowhere are
 * issues.
 */
export function* readingValue(
  scoped: ScopedValue,
  at: DocumentPath,
  around: Surroundings,
  issues: Issues
): Pieces<readonly Reference[]> {
  // Those of one node may be all of the document.
  if (isSliceFull()) yield
  const here = issues.below(at)
  const result = yield* compilingAisValue(scoped, at.join('/'), around.values)
  let found: { readonly id: string | undefined } | undefined
  const hyphenatedId = () => {
    found ??= { id: hyphenatedIn(scoped.value, around.nodeIds) }
    return found.id
  }
  if (!result.ok) {
    const hyphenated = hyphenatedId()
    if (hyphenated === undefined) here.error('invalid_expression', result.problem)
    else here.error('hyphenated_id', hyphenHint(hyphenated))
    return []
  }
  const { references } = result.compiled
  for (const reference of references) {
    payWork(1)
    passSteps(STEPS_OF_REFERENCE)
    if (isSliceFull()) yield
    checkReference(reference, hyphenatedId, around, here)
  }
  return references
}

/** {@link checkCondition} of a node and of its step. */
export function checkConditions(
  { node }: ResolvedNode,
  step: ResolvedStep,
  issues: Issues,
  values: CompileValues
): void {
  for (const which of ['condition', 'until', 'assert'] as const) {
    const value = node[which]
    if (value !== undefined) checkCondition(value, [which], issues, values)
  }
  if (step.condition === null) return
  checkCondition(step.condition, ['execution', 'condition'], issues, values)
}

/** Refuses what can be no condition, whatever is given: it must be exactly true or false (W3). */
export function checkCondition(
  value: AisValue,
  at: DocumentPath,
  issues: Issues,
  values: CompileValues
): void {
  if (canBeCondition(value, values)) return
  issues.error('invalid_value', 'it must be exactly true or false', at)
}

function canBeCondition(value: AisValue, values: CompileValues): boolean {
  if ('lit' in value) return typeof value.lit === 'boolean'
  if ('detect' in value) {
    const { kind } = value.detect
    const [first] = candidatesOf(value.detect)
    return kind !== 'choose_one' || first === undefined || canBeCondition(first, values)
  }
  if (!('cel' in value)) return 'ref' in value
  const result = compileAisValue({ scope: 'flow', value }, '', values)
  // What reads something may be anything; what is no expression was refused before.
  if (!result.ok || result.compiled.references.length > 0) return true
  const evaluated = result.compiled.evaluate({})
  return !evaluated.ok || typeof evaluated.value === 'boolean'
}

/** Work of looking at what a value reads. */
const STEPS_OF_REFERENCE = 4

function checkReference(
  reference: Reference,
  hyphenatedId: () => string | undefined,
  around: Surroundings,
  issues: Issues
): void {
  const { root, path } = reference
  const [first] = path
  const known = namesOf(root, around)
  if (first === undefined) {
    if (root === 'nodes' || root === 'contracts' || root === 'steps' || root === 'query') {
      issues.error('dynamic_reference', `${root} must be followed by a name`)
    }
    return
  }
  if (known !== undefined && !known.has(String(first))) {
    const hyphenated = root === 'nodes' ? hyphenatedId() : undefined
    if (hyphenated === undefined) {
      issues.error(
        'unknown_reference',
        `there is no ${referenceText({ ...reference, path: [first] })}`
      )
    } else issues.error('hyphenated_id', hyphenHint(hyphenated))
    return
  }
  const member = path[1]
  if (root === 'nodes' && member !== undefined && !nodeMembers.has(String(member))) {
    const message = `a node has only ${[...nodeMembers].join(' and ')}, no ${String(member)}`
    issues.error('unknown_reference', message)
  }
}

const nodeMembers: ReadonlySet<string> = new Set(['outputs', 'calculated'])

function namesOf(root: string, around: Surroundings): ReadonlySet<string> | undefined {
  switch (root) {
    case 'nodes':
      return around.nodeIds
    case 'inputs':
      return around.inputs
    case 'params':
      return around.params
    case 'query':
      return around.queries
    case 'steps':
      return around.steps
    default:
      return undefined
  }
}

// CEL reads `nodes.a-b` as a subtraction.
function hyphenatedIn(value: AisValue, nodeIds: ReadonlySet<string>): string | undefined {
  const text = JSON.stringify(value)
  spendWork(text.length >> 4)
  if (!text.includes('nodes.')) return undefined
  const written = text.match(/nodes\.[A-Za-z][A-Za-z0-9_-]*/g) ?? []
  return written
    .map((path) => path.slice('nodes.'.length))
    .find((id) => id.includes('-') && nodeIds.has(id))
}

function hyphenHint(id: string): string {
  return `in CEL, nodes.${id} is a subtraction; write nodes["${id}"], or name the node without "-"`
}

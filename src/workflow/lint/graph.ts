import { isSliceFull, type Pieces, passSteps } from '../../core/index.js'
import type { Issues } from '../document/issue.js'
import type { AisValue } from '../document/value.js'
import { issuesOf, type LintSubject } from './subject.js'

/**
 * Nodes that never run, polls without an end, ids that CEL reads as a subtraction, and inputs that
 * may be absent where they are read.
 */
export function* lintingGraph(subject: LintSubject, issues: Issues): Pieces<void> {
  const { flow, nodes } = subject
  const never = new Set<string>()
  for (const node of nodes) {
    const here = issuesOf(node, issues)
    const { condition, until, retry, timeout_ms: timeoutMs } = node.node
    if (condition !== undefined && isNeverTrue(condition)) {
      never.add(node.id)
      here.warn('unreachable_node', 'its condition is never true', ['condition'])
    }
    if (until !== undefined && retry?.max_attempts === undefined && timeoutMs === undefined) {
      const message = 'it polls without an end; give retry.max_attempts or timeout_ms'
      here.warn('unbounded_poll', message, ['retry'])
    }
    if (node.id.includes('-')) {
      const message = `in CEL, nodes.${node.id} is a subtraction; "_" instead of "-" avoids that`
      here.note('hyphenated_id', message, ['id'])
    }
    for (const { path, references } of node.values) {
      const testedNames = new Set(references.flatMap((one) => (one.tested ? one.path[0] : [])))
      for (const { root, path: way, tested } of references) {
        passSteps(STEPS_OF_REFERENCE)
        if (isSliceFull()) yield
        const name = String(way[0])
        if (root === 'nodes' && never.has(name) && !tested) {
          here.warn('unreachable_node', `it reads ${name}, which never runs`, path)
        }
        if (root !== 'inputs' || tested || !Object.hasOwn(flow.inputs, name)) continue
        const input = flow.inputs[name]
        if (input?.required === true || input?.default !== undefined) continue
        if (testedNames.has(name)) continue
        const message = `the input ${name} is optional and has no default; without it the node asks`
        here.warn('missing_default', message, path)
      }
    }
  }
}

/** Work of looking at what a value reads. */
const STEPS_OF_REFERENCE = 8

function isNeverTrue(value: AisValue): boolean {
  if ('lit' in value) return value.lit !== true
  return 'cel' in value && /^\s*(false|!\s*true)\s*$/.test(value.cel)
}

import { asJson, type Predicate } from '../../chart/composite-graph.js'
import { givenRequest, givenResponse } from '../../given.js'
import type { Request, Response } from '../../protocol.js'
import { ignoreRejection } from '../../run/plain.js'
import type { ConditionDefinition } from './definition.js'
import type { CompileExpressions } from './expressions.js'
import type { BlockRegistry } from './registry.js'

export type ResolvedCondition =
  | { readonly ok: true; readonly predicate: Predicate | null; readonly label: string }
  | { readonly ok: false; readonly problem: string }

/** Turns a condition into a predicate, at construction (B4). A null predicate always matches. */
export function resolveCondition(
  condition: ConditionDefinition,
  registry: BlockRegistry,
  expressions: CompileExpressions | undefined
): ResolvedCondition {
  switch (condition.kind) {
    case 'default':
      return { ok: true, predicate: null, label: 'default' }
    case 'named': {
      const { name } = condition
      const predicate = registry.condition(name)
      if (predicate === undefined) {
        return { ok: false, problem: `no condition is registered as ${name}` }
      }
      return { ok: true, label: name, predicate: guarded(predicate) }
    }
    case 'cel': {
      const { cel } = condition
      if (expressions === undefined)
        return { ok: false, problem: 'no expression compiler is given' }
      try {
        const compiled = expressions.compileCondition(cel, { roots: ['response', 'request'] })
        const predicate: Predicate = (response, request) =>
          compiled.evaluate({ response: asJson(response), request: asJson(request) })
        return { ok: true, label: cel, predicate }
      } catch (error) {
        return {
          ok: false,
          problem: error instanceof Error ? error.message : 'it cannot be compiled'
        }
      }
    }
  }
}

// Guards must not throw: what a registered function does wrong is an answer, not an exception.
function guarded(predicate: (response: Response, request: Request) => unknown): Predicate {
  return (response, request) => {
    try {
      const value = predicate(givenResponse(response), givenRequest(request))
      if (typeof value === 'boolean') return { ok: true, value }
      ignoreRejection(value)
      return { ok: false, code: 'not_boolean' }
    } catch {
      return { ok: false, code: 'condition_threw' }
    }
  }
}

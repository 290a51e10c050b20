import type { BoundObligations, Request, Response, SideEffectClass } from '../../code/index.js'
import { ignoreRejection, isTallyError, type JsonObject } from '../../core/index.js'
import { asJson, type Predicate } from '../chart/composite-graph.js'
import type { CompileExpressions, ValueReference } from '../chart/expressions.js'
import { givenRequest, givenResponse, type Repair } from '../chart/retry-policy.js'
import type {
  CompositeDefinition,
  ConditionDefinition,
  DocumentDefinition,
  NodeDefinition,
  PlanDefinition
} from './definition.js'

/** What the compiler needs to know of a leaf; running it is the pump's business. */
export interface LeafDefinition {
  readonly name: string
  readonly version: string
  readonly sideEffects: SideEffectClass
  /** How its writes are undone (C4); only whether there is one counts here. */
  readonly compensate?: unknown
  /** A leaf of the kernel: it chooses at run time who does its work. */
  readonly kernel?: unknown
  /** Effects that it may ask for. */
  readonly capabilities?: readonly string[]
  /** What holds for it, whatever a document says (K14). */
  readonly obligations?: BoundObligations
}

/** A named condition: pure, synchronous; throwing or answering no boolean fails the composite. */
export type ConditionPredicate = (response: Response, request: Request) => boolean

/** Where names in a document lead; undefined: no such name. */
export interface BlockRegistry {
  block(name: string): LeafDefinition | undefined
  /** A document that others may `use`: a composite or a plan. */
  composite(name: string): DocumentDefinition | undefined
  condition(name: string): ConditionPredicate | undefined
  repair(name: string): Repair | undefined
  /** Version to which a name alone leads (B10); undefined for what has none. */
  functionVersion?(kind: 'condition' | 'repair', name: string): string | undefined
  /** Who does an effect, as far as undoing it goes. */
  provider?(name: string): { readonly compensate?: unknown } | undefined
}

export type ResolvedCondition =
  | {
      readonly ok: true
      readonly predicate: Predicate | null
      readonly label: string
      /** What it reads, as far as its text says. */
      readonly references: readonly ValueReference[]
    }
  | { readonly ok: false; readonly problem: string }

/** Turns a condition into a predicate, at construction (B4). A null predicate always matches. */
export function resolveCondition(
  condition: ConditionDefinition,
  registry: BlockRegistry,
  expressions: CompileExpressions | undefined
): ResolvedCondition {
  switch (condition.kind) {
    case 'default':
      return { ok: true, predicate: null, label: 'default', references: [] }
    case 'named': {
      const { name } = condition
      const predicate = registry.condition(name)
      if (predicate === undefined) {
        return { ok: false, problem: `no condition is registered as ${name}` }
      }
      return { ok: true, label: name, predicate: guarded(predicate), references: [] }
    }
    case 'cel': {
      const { cel } = condition
      if (expressions === undefined)
        return { ok: false, problem: 'no expression compiler is given' }
      try {
        const compiled = expressions.compileCondition(cel, { roots: ['response', 'request'] })
        const predicate: Predicate = (response, request) =>
          compiled.evaluate({ response: asJson(response), request: asJson(request) })
        return { ok: true, label: cel, predicate, references: compiled.references }
      } catch (error) {
        if (isTallyError(error, 'document.too_much_work')) throw error
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

type Parent = Pick<CompositeDefinition | PlanDefinition, 'nodes'> &
  Partial<Pick<CompositeDefinition, 'transitions'>>

/**
 * Versions to which the conditions and repairs of one graph lead, as its definition hash covers
 * them: `{ functions: [{ kind, name, version }] }`. Nothing where none has a version, so that the
 * hashes of documents without such functions stay what they were (B10).
 */
export function functionVersions(
  definition: Parent,
  registry: BlockRegistry
): { readonly functions?: readonly JsonObject[] } {
  const found = new Map<string, JsonObject>()
  const note = (kind: 'condition' | 'repair', name: string) => {
    const version = registry.functionVersion?.(kind, name)
    if (version !== undefined) found.set(`${kind} ${name}`, { kind, name, version })
  }
  for (const node of nodesOf(definition)) {
    for (const step of node.recovery) if (step.kind === 'repair') note('repair', step.repair)
    if (node.confirm?.when?.kind === 'named') note('condition', node.confirm.when.name)
  }
  for (const condition of conditionsOf(definition)) {
    if (condition.kind === 'named') note('condition', condition.name)
  }
  if (found.size === 0) return {}
  const sorted = [...found].sort(([one], [other]) => (one < other ? -1 : 1))
  return { functions: sorted.map(([, version]) => version) }
}

function nodesOf({ nodes }: Parent): readonly Pick<NodeDefinition, 'recovery' | 'confirm'>[] {
  return Object.values<Pick<NodeDefinition, 'recovery' | 'confirm'>>(nodes)
}

function conditionsOf({ transitions = {} }: Parent): readonly ConditionDefinition[] {
  return Object.values(transitions).flatMap((branches) =>
    branches.map(({ condition }) => condition)
  )
}

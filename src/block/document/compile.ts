import { atOnce, type Pieces } from '../../core/index.js'
import { compositeIn } from './compile-composite.js'
import { planIn } from './compile-plan.js'
import { CompileSession, type ParentCompilers } from './compile-session.js'
import type {
  CompiledDocument,
  CompiledPlanGraph,
  CompileOptions,
  CompileResult
} from './compiled.js'
import {
  type CompositeDefinition,
  type DocumentDefinition,
  isPlanDefinition,
  type PlanDefinition
} from './definition.js'
import { validatingGraph } from './validate.js'

/**
 * Compiles a graph to a chart (B4, B6). Everything a name leads to is resolved here, so that a run
 * never meets an unknown block, condition or repair. Never throws for a bad definition.
 */
export function compileComposite(
  definition: CompositeDefinition,
  options: CompileOptions
): CompileResult {
  return atOnce(compilingComposite(definition, options))
}

function* compilingComposite(
  definition: CompositeDefinition,
  options: CompileOptions
): Pieces<CompileResult> {
  const invalid = yield* validatingGraph(definition)
  if (invalid.length > 0) return { ok: false, diagnostics: invalid, doubtful: [] }
  const session = new CompileSession(options, parents)
  return resultOf(yield* compositeIn(definition, atRoot, session), session)
}

/**
 * Compiles a dependency graph to a chart and what it looks up (C2, W2). Everything a name leads to
 * is resolved here, and the order of the nodes is worked out. Never throws for a bad plan.
 */
export function compilePlan(
  definition: PlanDefinition,
  options: CompileOptions
): CompileResult<CompiledPlanGraph> {
  return atOnce(compilingPlan(definition, options))
}

function* compilingPlan(
  definition: PlanDefinition,
  options: CompileOptions
): Pieces<CompileResult<CompiledPlanGraph>> {
  const session = new CompileSession(options, parents)
  return resultOf(yield* planIn(definition, atRoot, session), session)
}

/** {@link compileComposite} or {@link compilePlan}, as the definition is. */
export function compileDocument(
  definition: DocumentDefinition,
  options: CompileOptions
): CompileResult<CompiledDocument> {
  return atOnce(compilingDocument(definition, options))
}

/** {@link compileDocument} in pieces: other work may be done wherever it yields. */
export function compilingDocument(
  definition: DocumentDefinition,
  options: CompileOptions
): Pieces<CompileResult<CompiledDocument>> {
  return isPlanDefinition(definition)
    ? compilingPlan(definition, options)
    : compilingComposite(definition, options)
}

const atRoot = { path: [], depth: 0, isInOverlay: false, isUsed: false }

const parents: ParentCompilers = { composite: compositeIn, plan: planIn }

function resultOf<Compiled extends CompiledDocument>(
  compiled: Compiled | undefined,
  { found, doubtful }: CompileSession
): CompileResult<Compiled> {
  return compiled === undefined
    ? { ok: false, diagnostics: found.list, doubtful: doubtful.list }
    : { ok: true, compiled, doubtful: doubtful.list }
}

import type { Json, JsonObject } from '../core/index.js'
import type { EvaluationResult } from './failure.js'
import type { Reference } from './reference.js'

/** Names what an expression may read and how. */
export interface ExpressionOptions {
  /** Names an expression may begin a path with, e.g. `['inputs', 'nodes']`. */
  readonly roots: readonly string[]
  /**
   * Dotted patterns of the paths whose decimal text is an amount by its schema type (semantics.md
   * W4); `*` stands for any one key or index, e.g. `nodes.allowance.outputs.value`.
   */
  readonly amounts?: readonly string[]
}

/** A checked, planned expression. Evaluation is pure and synchronous (D1). */
export interface CompiledExpression<Value extends Json = Json> {
  /** What it reads, without repetition, in the order of first appearance in the syntax tree. */
  readonly references: readonly Reference[]
  /** Evaluates; throws `core.not_json` if a value it reads is not plain JSON. */
  evaluate(bindings: JsonObject): EvaluationResult<Value>
}

/**
 * The port behind which the CEL engine sits. An engine implements its profile, not more and not
 * less.
 */
export interface ExpressionEngine {
  readonly profile: ExpressionProfile
  /** Compiles an expression; throws `expression.invalid`. */
  compile(expression: string, options: ExpressionOptions): CompiledExpression
}

/** Profile of composites and of everything else but workflows; receipts name it. */
export const EXPRESSION_PROFILE = 'tally-cel/1'
/** Profile of workflows, which follows AIS where the two differ (docs/spec/ais-cel.md). */
export const AIS_PROFILE = 'ais-cel/1'
export type ExpressionProfile = typeof EXPRESSION_PROFILE | typeof AIS_PROFILE

import { isSliceFull, type Json, type Pieces, passSteps } from '../../core/index.js'

/**
 * What the block room needs of the expression room (B4, B7). `compile...` throws for text that
 * cannot be compiled; `evaluate` never throws. Roots are the names an expression may begin with.
 */
export interface CompileExpressions {
  /** CEL text; `evaluate` gives a boolean, or `ok: false` when it is not exactly one. */
  compileCondition(
    expression: string,
    options: { readonly roots: readonly string[] }
  ): CompiledExpression<boolean> & References
  /** A value of lit / ref / cel / object / array. */
  compileValue(value: Json, options: { readonly roots: readonly string[] }): CompiledValue
  /** The same in pieces; without it a value is compiled at once. */
  compilingValue?(
    value: Json,
    options: { readonly roots: readonly string[] }
  ): Pieces<CompiledValue>
}

export interface CompiledExpression<Result> {
  evaluate(bindings: Bindings): Evaluated<Result>
}

export interface CompiledValue extends CompiledExpression<Json>, References {}

interface References {
  /** What is read, from the syntax tree. */
  readonly references: readonly ValueReference[]
}

/** A root and the way from it, as far as it is written: `nodes[x].a` is `nodes` without a path. */
export interface ValueReference {
  readonly root: string
  readonly path: readonly (string | number)[]
}

export type Bindings = Readonly<Record<string, Json>>

export type Evaluated<Result> =
  | { readonly ok: true; readonly value: Result }
  /** `code` is stable: it stands in responses. */
  | { readonly ok: false; readonly code: string }

/** Which responses some values of a graph read; `all` when an index is computed. */
export type Mentions =
  | { readonly all: true }
  | { readonly all: false; readonly names: ReadonlySet<string> }

/**
 * The nodes that compiled values read, from their syntax trees (W2): however a name is written, a
 * response that a value reads is kept for it.
 */
export function* findingMentions(values: Iterable<CompiledValue | null>): Pieces<Mentions> {
  const names = new Set<string>()
  for (const value of values) {
    for (const { root, path } of value?.references ?? []) {
      passSteps(1)
      if (isSliceFull()) yield
      if (root !== 'nodes') continue
      const [name] = path
      if (name === undefined) return { all: true }
      names.add(String(name))
    }
  }
  return { all: false, names }
}

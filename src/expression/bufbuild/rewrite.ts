import type {
  Constant,
  Expr,
  Expr_CreateStruct_Entry
} from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { limits, present } from '../../core/index.js'
import { type Decimal, parseLiteral } from '../decimal.js'
import { invalidExpression as invalid } from '../invalid.js'
import { AIS_PREFIX, logicalOperators, type ProfileRules } from '../profile.js'
import { type Reference, referenceText } from '../reference.js'
import { isInt64, isUint64 } from '../text.js'

/** A checked syntax tree in which every static path has become one variable. */
export interface PreparedTree {
  readonly tree: Expr
  /** Each with the variable that stands for it. */
  readonly references: readonly (Reference & { readonly variable: string })[]
  /** The reference that a node of the tree stands for, by the node's id. */
  readonly places: ReadonlyMap<bigint, Reference>
  /** Variables that stand for numbers which CEL's own literals would round. */
  readonly numbers: ReadonlyMap<string, Decimal>
}

/** A parsed expression: its tree, its text, and where in it each part begins. */
export interface ParsedSource {
  readonly tree: Expr
  readonly expression: string
  readonly positions: Readonly<Record<string, number>>
}

/**
 * Checks a parsed expression against the profile and rewrites it (docs/spec/expressions.md):
 *
 * - `root.a["b"][0]` becomes one variable, bound before evaluation to just that value;
 * - other `e.f`, `e[i]` and `has(e.f)` become `@select`, `@index`, `@has`, which are strict;
 * - each loop asks `@tick` before an iteration, and gathers its list with `@append`, in linear
 *   time.
 *
 * Under exact rules operators and functions become those of AIS, and literals exact numbers.
 *
 * `names` are bound as whole CEL values. Throws `expression.invalid`.
 */
export function prepare(
  source: ParsedSource,
  rules: ProfileRules,
  roots: readonly string[],
  names: readonly string[] = []
): PreparedTree {
  const rewriter = new Rewriter(source, rules, roots, names)
  const tree = rewriter.rewrite(source.tree, 0)
  const { places, numbers } = rewriter
  return { tree, references: rewriter.references(), places, numbers }
}

type PathPart = string | number
type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value']
type Comprehension = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value']

class Rewriter {
  readonly numbers = new Map<string, Decimal>()
  readonly #source: ParsedSource
  readonly #rules: ProfileRules
  readonly #roots: ReadonlySet<string>
  readonly #references = new Map<string, Reference & { readonly variable: string }>()
  readonly #scope: string[] = []
  readonly places = new Map<bigint, Reference>()
  #nodes = 0
  #loops = 0

  constructor(
    source: ParsedSource,
    rules: ProfileRules,
    roots: readonly string[],
    names: readonly string[]
  ) {
    this.#source = source
    this.#rules = rules
    this.#roots = new Set(roots)
    this.#scope.push(...names)
  }

  references(): readonly (Reference & { readonly variable: string })[] {
    return [...this.#references.values()]
  }

  rewrite(node: Expr, depth: number): Expr {
    this.#nodes += 1
    if (this.#nodes > limits.EXPRESSION_NODES_MAX) {
      this.#refuse(`it has more than ${limits.EXPRESSION_NODES_MAX} parts`)
    }
    if (depth > limits.EXPRESSION_DEPTH_MAX) {
      this.#refuse(`it nests more than ${limits.EXPRESSION_DEPTH_MAX} deep`)
    }
    const path = this.#staticPath(node)
    if (path !== undefined) return this.#variable(node, path, false)
    switch (node.exprKind.case) {
      case 'constExpr':
        return this.#literal(node)
      case 'identExpr':
        return this.#name(node, node.exprKind.value.name)
      case 'selectExpr':
        return this.#select(node, depth)
      case 'callExpr':
        return this.#call(node, node.exprKind.value, depth)
      case 'listExpr': {
        const { value } = node.exprKind
        if (value.optionalIndices.length > 0) this.#refuse('optional elements are not allowed')
        const elements = value.elements.map((element) => this.rewrite(element, depth + 1))
        return { ...node, exprKind: { case: 'listExpr', value: { ...value, elements } } }
      }
      case 'structExpr': {
        const { value } = node.exprKind
        if (value.messageName !== '') this.#refuse('messages cannot be built')
        const entries = value.entries.map((entry) => this.#entry(entry, depth + 1))
        const keys = listOf(
          node,
          entries.map(([key]) => key)
        )
        const members = listOf(
          node,
          entries.map(([, member]) => member)
        )
        return call(node, '@map', [keys, members])
      }
      case 'comprehensionExpr':
        return this.#comprehension(node, node.exprKind.value, depth)
      default:
        return this.#refuse('it is incomplete')
    }
  }

  #entry(entry: Expr_CreateStruct_Entry, depth: number): readonly [Expr, Expr] {
    if (entry.optionalEntry || entry.keyKind.case !== 'mapKey') {
      return this.#refuse('optional entries are not allowed')
    }
    const key = this.rewrite(entry.keyKind.value, depth)
    return [key, this.rewrite(present(entry.value, 'value of a map entry'), depth)]
  }

  #literal(node: Expr): Expr {
    if (this.#rules.isExact) return this.#exactLiteral(node)
    const kind = node.exprKind.case === 'constExpr' ? node.exprKind.value.constantKind : undefined
    const isInRange =
      (kind?.case !== 'int64Value' || isInt64(kind.value)) &&
      (kind?.case !== 'uint64Value' || isUint64(kind.value)) &&
      (kind?.case !== 'doubleValue' || Number.isFinite(kind.value))
    if (!isInRange) this.#refuse('a number is too large for its type')
    return node
  }

  #exactLiteral(node: Expr): Expr {
    const kind = node.exprKind.case === 'constExpr' ? node.exprKind.value.constantKind : undefined
    switch (kind?.case) {
      case 'bytesValue':
        return this.#refuse('there are no bytes')
      case 'uint64Value':
        return constant(node, { case: 'int64Value', value: kind.value })
      case 'doubleValue': {
        const { expression, positions } = this.#source
        // The engine gives a double; the digits stand in the text.
        const digits = literal.exec(expression.slice(positions[String(node.id)] ?? 0))?.[0] ?? ''
        if (Number(digits) !== kind.value) return this.#refuse('a number cannot be read')
        const variable = `@${digits}`
        this.numbers.set(
          variable,
          parseLiteral(digits, () => undefined)
        )
        return ident(node, variable)
      }
      default:
        return node
    }
  }

  #name(node: Expr, name: string): Expr {
    if (this.#scope.includes(name)) return node
    if (this.#rules.types.has(name)) return this.#rules.isExact ? text(node, name) : node
    const known = [...this.#roots].join(', ')
    return this.#refuse(`the name ${JSON.stringify(name)} is unknown; known names: ${known}`)
  }

  #select(node: Expr, depth: number): Expr {
    if (node.exprKind.case !== 'selectExpr') return node
    const { operand, field, testOnly } = node.exprKind.value
    if (operand === undefined) return this.#refuse('it is incomplete')
    const path = testOnly ? this.#staticPath(operand) : undefined
    if (path !== undefined) return this.#variable(node, [...path, field], true)
    const qualified = qualifiedName(node)
    if (qualified !== undefined && this.#rules.types.has(qualified)) return node
    const target = this.rewrite(operand, depth + 1)
    return call(node, testOnly ? '@has' : '@select', [target, text(node, field)])
  }

  #call(node: Expr, value: Call, depth: number): Expr {
    const { functions, operators, isExact } = this.#rules
    const shape = functions.get(value.function)
    if (shape === undefined && !operators.has(value.function)) {
      this.#refuse(`the function ${JSON.stringify(value.function)} is unknown`)
    }
    const counts = value.target === undefined ? shape?.free : shape?.method
    if (counts !== undefined && !counts.includes(value.args.length)) {
      this.#refuse(`the function ${value.function} cannot be called like that`)
    }
    const args = value.args.map((argument) => this.rewrite(argument, depth + 1))
    if (value.function === '_[_]' && !isExact) return call(node, '@index', args)
    const target = value.target && this.rewrite(value.target, depth + 1)
    if (isExact && !logicalOperators.has(value.function)) {
      const name = `${AIS_PREFIX}${value.function}`
      return call(node, name, target === undefined ? args : [target, ...args])
    }
    const rewritten = { ...value, args, ...(target === undefined ? {} : { target }) }
    return { ...node, exprKind: { case: 'callExpr', value: rewritten } }
  }

  #comprehension(node: Expr, value: Comprehension, depth: number): Expr {
    const iterRange = this.rewrite(present(value.iterRange, 'range of a loop'), depth + 1)
    this.#loops += 1
    if (this.#loops > limits.EXPRESSION_LOOPS_MAX) {
      this.#refuse(`it nests more than ${limits.EXPRESSION_LOOPS_MAX} loops`)
    }
    this.#scope.push(value.accuVar, value.iterVar)
    const step = present(value.loopStep, 'step of a loop')
    const gathers = value.accuInit?.exprKind.case === 'listExpr'
    const rewrittenStep = this.rewrite(step, depth + 1)
    const loopStep = gathers ? gather(rewrittenStep, value.accuVar) : rewrittenStep
    const condition = this.rewrite(present(value.loopCondition, 'condition of a loop'), depth + 1)
    const result = this.rewrite(present(value.result, 'result of a loop'), depth + 1)
    this.#scope.length -= 2
    this.#loops -= 1
    const accuInit = present(value.accuInit, 'start of a loop')
    const rewritten = {
      ...value,
      iterRange,
      accuInit: gathers ? call(accuInit, '@gather', []) : accuInit,
      loopCondition: call(condition, '@tick', [condition]),
      loopStep,
      result
    }
    return { ...node, exprKind: { case: 'comprehensionExpr', value: rewritten } }
  }

  /** The way from a root, if the node is nothing but that. */
  #staticPath(node: Expr): PathPart[] | undefined {
    const parts: PathPart[] = []
    let at: Expr | undefined = node
    while (at !== undefined) {
      const kind: Expr['exprKind'] = at.exprKind
      if (kind.case === 'identExpr') {
        const { name } = kind.value
        if (this.#scope.includes(name) || !this.#roots.has(name)) return undefined
        return [name, ...parts.reverse()]
      }
      if (kind.case === 'selectExpr' && !kind.value.testOnly) {
        parts.push(kind.value.field)
        at = kind.value.operand
      } else if (kind.case === 'callExpr' && kind.value.function === '_[_]') {
        const part = constantPart(kind.value.args[1])
        if (part === undefined) return undefined
        parts.push(part)
        at = kind.value.args[0]
      } else return undefined
    }
    return undefined
  }

  #variable(node: Expr, fullPath: readonly PathPart[], tested: boolean): Expr {
    const [root, ...path] = fullPath
    const reference = { root: String(root), path, tested }
    if (path.length > limits.EXPRESSION_DEPTH_MAX) this.#refuse('a path is too long')
    const key = JSON.stringify([tested, ...fullPath])
    const known = this.#references.get(key)
    // "@" cannot be typed, so that no loop variable can hide it.
    const variable = known?.variable ?? `@${tested ? 'has ' : ''}${referenceText(reference)}`
    if (known === undefined) this.#references.set(key, { ...reference, variable })
    this.places.set(node.id, reference)
    return ident(node, variable)
  }

  #refuse(problem: string): never {
    throw invalid(this.#source.expression, problem)
  }
}

const literal = /^-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3}(?![0-9]))?/

function constantPart(node: Expr | undefined): PathPart | undefined {
  if (node?.exprKind.case !== 'constExpr') return undefined
  const kind = node.exprKind.value.constantKind
  if (kind.case === 'stringValue') return kind.value
  const isIndex = kind.case === 'int64Value' && kind.value >= 0n && kind.value < 1_000_000_000n
  return isIndex ? Number(kind.value) : undefined
}

function qualifiedName(node: Expr): string | undefined {
  if (node.exprKind.case === 'identExpr') return node.exprKind.value.name
  if (node.exprKind.case !== 'selectExpr' || node.exprKind.value.testOnly) return undefined
  const { operand, field } = node.exprKind.value
  const parent = operand && qualifiedName(operand)
  return parent === undefined ? undefined : `${parent}.${field}`
}

// `acc + [x]` builds a rope as deep as the list is long; appending is linear and flat.
function gather(step: Expr, accumulator: string): Expr {
  if (step.exprKind.case !== 'callExpr') return step
  const { value } = step.exprKind
  if (value.function === '_?_:_') {
    const [condition, append, otherwise] = value.args
    if (condition === undefined || append === undefined || otherwise === undefined) return step
    const args = [condition, gather(append, accumulator), otherwise]
    return { ...step, exprKind: { case: 'callExpr', value: { ...value, args } } }
  }
  const [list, added] = value.args
  const isGathering =
    (value.function === '_+_' || value.function === `${AIS_PREFIX}_+_`) &&
    list?.exprKind.case === 'identExpr' &&
    list.exprKind.value.name === accumulator &&
    added?.exprKind.case === 'listExpr'
  if (!isGathering || list === undefined || added.exprKind.case !== 'listExpr') return step
  const element = added.exprKind.value.elements[0]
  return element === undefined ? step : call(step, '@append', [list, element])
}

function listOf(node: Expr, elements: Expr[]): Expr {
  const value = {
    $typeName: 'cel.expr.Expr.CreateList' as const,
    elements,
    optionalIndices: []
  }
  return { ...node, exprKind: { case: 'listExpr', value } }
}

function call(node: Expr, name: string, args: Expr[]): Expr {
  const value: Call = { $typeName: 'cel.expr.Expr.Call', function: name, args }
  return { ...node, exprKind: { case: 'callExpr', value } }
}

function ident(node: Expr, name: string): Expr {
  return {
    ...node,
    exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } }
  }
}

function text(node: Expr, value: string): Expr {
  return constant(node, { case: 'stringValue', value })
}

function constant(node: Expr, constantKind: Constant['constantKind']): Expr {
  return {
    ...node,
    exprKind: { case: 'constExpr', value: { $typeName: 'cel.expr.Constant', constantKind } }
  }
}

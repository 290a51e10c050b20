import {
  atOnce,
  canonicalize,
  coreError,
  findingLarge,
  isJsonObject,
  isLarge,
  isSliceFull,
  type Json,
  type JsonObject,
  type Pieces,
  setOwn,
  spendWork,
  type TallyError
} from '../core/index.js'
import type { CompiledExpression, ExpressionEngine, ExpressionOptions } from './engine.js'
import { type AmountPaths, type EvaluationResult, failed } from './failure.js'
import { invalidExpression } from './invalid.js'
import { below, lookUp, parseReference, type Reference, referenceText } from './reference.js'

/**
 * A value of a document (semantics.md W3): an object with exactly one key. Bare JSON is not a
 * value, so that a typing error in a key can never pass as data.
 *
 * @example { object: { to: { ref: 'inputs.recipient' }, retries: { lit: 3 } } }
 */
export type Value =
  | { readonly lit: Json }
  | { readonly ref: string }
  | { readonly cel: string }
  | { readonly object: { readonly [key: string]: Value } }
  | { readonly array: readonly Value[] }

/** What a {@link Value} compiles to. */
export type CompiledValue = CompiledExpression

type Part = CompiledExpression
type Compile = (
  value: Json | undefined,
  options: ExpressionOptions,
  engine: Engine,
  at: string
) => Part
type Engine = ExpressionEngine | undefined

const kinds: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['lit', compileLiteral],
  ['ref', compileReference],
  ['cel', compileCel],
  ['object', compileObject],
  ['array', compileArray]
])

/**
 * Compiles a {@link Value}. `engine` is needed only where it has a `cel` part (see {@link
 * usesCel}); such a part without an engine throws `core.internal`. Throws `expression.invalid` for
 * anything that is not a value, an unknown root, or CEL outside the profile.
 */
export function compileValue(
  value: Json,
  options: ExpressionOptions,
  engine?: ExpressionEngine
): CompiledValue {
  const compiled = compilePart(value, options, engine, 'value')
  return { references: atOnce(distinct(compiled.references)), evaluate: compiled.evaluate }
}

/** {@link compileValue} in pieces: each large object or list is compiled member by member. */
export function* compilingValue(
  value: Json,
  options: ExpressionOptions,
  engine?: ExpressionEngine
): Pieces<CompiledValue> {
  const large = yield* findingLarge(value)
  if (!large.has(value as object)) return compileValue(value, options, engine)
  const found: Reference[] = []
  const { evaluate } = yield* compilingLarge(value, { options, engine, large, found }, 'value')
  return { references: yield* distinct(found), evaluate }
}

interface Compiling {
  readonly options: ExpressionOptions
  readonly engine: Engine
  readonly large: ReadonlySet<unknown>
  /** What the parts so far read: each is put there once, however deep it stands. */
  readonly found: Reference[]
}

function* compilingLarge(value: Json, compiling: Compiling, at: string): Pieces<Evaluated> {
  const { options, engine, large } = compiling
  if (isSliceFull()) yield
  const { object, array } = isJsonObject(value) ? value : {}
  const isList = Array.isArray(array) && large.has(array)
  const isWhole = !isList && !(isJsonObject(object) && large.has(object))
  if (isWhole || Object.keys(value as JsonObject).length !== 1) {
    const part = compilePart(value, options, engine, at)
    for (const reference of part.references) compiling.found.push(reference)
    return part
  }
  spendWork(STEPS_OF_PART)
  if (isList) {
    const items: Evaluated[] = []
    for (const [index, item] of array.entries()) {
      items.push(yield* compilingLarge(item as Json, compiling, `${at}.array[${index}]`))
    }
    return itemsIn(items)
  }
  const members: Member[] = []
  for (const [key, member] of Object.entries(object as JsonObject)) {
    members.push([key, yield* compilingLarge(member, compiling, `${at}.object.${key}`)])
  }
  return membersIn(members)
}

/** Whether a value has a `cel` part, so that an engine must be loaded before it is compiled. */
export function usesCel(value: Json): boolean {
  if (!isJsonObject(value)) return false
  if (typeof value['cel'] === 'string') return true
  const array = value['array']
  if (Array.isArray(array)) return array.some(usesCel)
  const object = value['object']
  return isJsonObject(object) && Object.values(object).some(usesCel)
}

function compilePart(value: Json, options: ExpressionOptions, engine: Engine, at: string): Part {
  spendWork(STEPS_OF_PART)
  if (!isJsonObject(value)) throw notValue(value, at, 'it is a bare JSON value; write {lit: ...}')
  const keys = Object.keys(value)
  const kind = keys[0] ?? ''
  const compile = kinds.get(kind)
  if (keys.length !== 1 || compile === undefined) {
    throw notValue(value, at, `it needs exactly one key of ${[...kinds.keys()].join(', ')}`)
  }
  return compile(value[kind], options, engine, at)
}

function compileLiteral(value: Json | undefined): Part {
  const result: EvaluationResult = { ok: true, value: value ?? null }
  return { references: [], evaluate: () => result }
}

function compileReference(
  value: Json | undefined,
  options: ExpressionOptions,
  _engine: Engine,
  at: string
): Part {
  if (typeof value !== 'string') throw notValue(value ?? null, at, 'a ref must be text')
  spendWork(STEPS_OF_REFERENCE)
  const reference = parseReference(value)
  if (typeof reference === 'string') throw notValue(value, at, reference)
  if (!options.roots.includes(reference.root)) {
    const known = options.roots.join(', ')
    throw notValue(value, at, `the name "${reference.root}" is unknown; known names: ${known}`)
  }
  const amounts = amountsAt(reference, options)
  return {
    references: [reference],
    evaluate: (bindings) => {
      const found = lookUp(bindings, reference)
      if (found === undefined) return failed('missing_reference', referenceText(reference))
      return amounts === undefined
        ? { ok: true, value: found }
        : { ok: true, value: found, amounts }
    }
  }
}

function amountsAt(
  { root, path }: Reference,
  { amounts = [] }: ExpressionOptions
): AmountPaths | undefined {
  if (amounts.length === 0) return undefined
  let remaining: AmountPaths = amounts.map((pattern) => pattern.split('.'))
  for (const part of [root, ...path]) remaining = below(remaining, String(part))
  return remaining.length === 0 ? undefined : remaining
}

function compileCel(
  value: Json | undefined,
  options: ExpressionOptions,
  engine: Engine,
  at: string
): Part {
  if (typeof value !== 'string') throw notValue(value ?? null, at, 'a cel expression must be text')
  if (engine === undefined) {
    throw coreError('core.internal', { problem: 'a cel value was compiled without an engine' })
  }
  return engine.compile(value, options)
}

function compileObject(
  value: Json | undefined,
  options: ExpressionOptions,
  engine: Engine,
  at: string
): Part {
  if (!isJsonObject(value)) throw notValue(value ?? null, at, 'object must hold named values')
  const members = Object.entries(value).map(
    ([key, member]): Member<Part> => [
      key,
      compilePart(member, options, engine, `${at}.object.${key}`)
    ]
  )
  return { references: referencesOf(members.map(([, part]) => part)), ...membersIn(members) }
}

type Evaluated = Pick<Part, 'evaluate'>
type Member<Of = Evaluated> = readonly [key: string, part: Of]

function membersIn(members: readonly Member[]): Evaluated {
  return {
    evaluate: (bindings) => {
      const object: Record<string, Json> = {}
      let amounts: (readonly string[])[] | undefined
      for (const [key, part] of members) {
        const result = part.evaluate(bindings)
        if (!result.ok) return result
        setOwn(object, key, result.value)
        if (result.amounts === undefined) continue
        amounts ??= []
        for (const path of result.amounts) amounts.push([key, ...path])
      }
      return evaluated(object, amounts)
    }
  }
}

function compileArray(
  value: Json | undefined,
  options: ExpressionOptions,
  engine: Engine,
  at: string
): Part {
  if (!Array.isArray(value)) throw notValue(value ?? null, at, 'array must hold a list of values')
  const items = value.map((item: Json, index) =>
    compilePart(item, options, engine, `${at}.array[${index}]`)
  )
  return { references: referencesOf(items), ...itemsIn(items) }
}

function itemsIn(items: readonly Evaluated[]): Evaluated {
  return {
    evaluate: (bindings: JsonObject) => {
      const list: Json[] = []
      let amounts: (readonly string[])[] | undefined
      for (const part of items) {
        const result = part.evaluate(bindings)
        if (!result.ok) return result
        const index = list.push(result.value) - 1
        if (result.amounts === undefined) continue
        amounts ??= []
        for (const path of result.amounts) amounts.push([String(index), ...path])
      }
      return evaluated(list, amounts)
    }
  }
}

function evaluated(value: Json, amounts: AmountPaths | undefined): EvaluationResult {
  const isNone = amounts === undefined || amounts.length === 0
  return isNone ? { ok: true, value } : { ok: true, value, amounts }
}

/** Of all parts, with repetitions: those go at the root, once for the whole value. */
function referencesOf(parts: readonly Part[]): readonly Reference[] {
  const all = parts.flatMap(({ references }) => references)
  spendWork(all.length >> 4)
  return all
}

function* distinct(references: readonly Reference[]): Pieces<readonly Reference[]> {
  if (references.length < 2) {
    spendWork(references.length * STEPS_OF_PART)
    return references
  }
  const byText = new Map<string, Reference>()
  for (const reference of references) {
    spendWork(STEPS_OF_PART)
    if (isSliceFull()) yield
    const key = JSON.stringify([reference.root, reference.path, reference.tested])
    if (!byText.has(key)) byText.set(key, reference)
  }
  return [...byText.values()]
}

/** Work of one part of a value, and what a reference takes more. */
const STEPS_OF_PART = 4
const STEPS_OF_REFERENCE = 24

function notValue(value: Json, at: string, problem: string): TallyError {
  const text = isLarge(value) ? '...' : canonicalize(value)
  return invalidExpression(text, `at ${at}, ${problem}`)
}

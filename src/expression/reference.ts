import { isJsonObject, type Json, type JsonObject } from '../core/index.js'
import type { AmountPaths } from './failure.js'

/** What an expression reads: a root and the way from it, e.g. `nodes` and `['wait', 'outputs']`. */
export interface Reference {
  readonly root: string
  readonly path: readonly (string | number)[]
  /** Only asked for existence, by `has()`. */
  readonly tested: boolean
}

const segment = /^[^.\s[\]{}"'`]+$/
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const arrayIndex = /^(0|[1-9][0-9]{0,8})$/

/** Splits `root.a.b` into a reference, or says why it cannot be one. */
export function parseReference(text: string): Reference | string {
  const [root = '', ...path] = text.split('.')
  if (!identifier.test(root)) return `a reference begins with a name, not ${JSON.stringify(root)}`
  if (!path.every((part) => segment.test(part))) return 'a reference is names joined by dots'
  return { root, path, tested: false }
}

/** The reference as it is written: `nodes.wait.outputs[0]`. */
export function referenceText(reference: Reference): string {
  return reference.path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return segment.test(part) ? `${text}.${part}` : `${text}[${JSON.stringify(part)}]`
  }, reference.root)
}

/**
 * The value at a reference, or undefined where the path leaves the data. Reads own properties of
 * objects and indexes of arrays only; an index may be written as digits.
 */
export function lookUp(bindings: JsonObject, reference: Reference): Json | undefined {
  let value: Json | undefined = member(bindings, reference.root)
  for (const part of reference.path) {
    if (value === undefined) return undefined
    value = member(value, part)
  }
  return value
}

/** What remains of paths one step further down. */
export function below(paths: AmountPaths, key: string): AmountPaths {
  if (paths.length === 0) return paths
  return paths.filter((path) => path[0] === key || path[0] === '*').map((path) => path.slice(1))
}

function member(value: Json, part: string | number): Json | undefined {
  if (Array.isArray(value)) {
    return typeof part === 'number' || arrayIndex.test(part) ? value[Number(part)] : undefined
  }
  if (!isJsonObject(value) || typeof part === 'number') return undefined
  return Object.hasOwn(value, part) ? value[part] : undefined
}

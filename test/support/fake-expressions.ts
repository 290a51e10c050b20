import type {
  Bindings,
  CompileExpressions,
  Evaluated,
  ValueReference
} from '../../src/block/chart/expressions.js'
import { isJsonObject, type Json } from '../../src/core/index.js'

/**
 * Enough of the expression room for tests of the block room: `lit`, `ref` paths, `object`, and
 * conditions of the form `path`, `path == number` and `path < number`.
 */
export const fakeExpressions: CompileExpressions = {
  compileCondition: (text) => {
    const match = /^([\w.-]+)(?:\s*(==|<)\s*(\d+))?$/.exec(text)
    if (match === null) throw new Error(`cannot compile ${text}`)
    const [, path = '', operator, number] = match
    const [root = '', ...rest] = path.split('.')
    return {
      references: [{ root, path: rest }],
      evaluate: (bindings) => {
        const found = resolve(path, bindings)
        if (!found.ok) return found
        if (operator === undefined) {
          if (typeof found.value === 'boolean') return { ok: true, value: found.value }
          return { ok: false, code: 'not_boolean' }
        }
        const left = Number(found.value)
        return {
          ok: true,
          value: operator === '<' ? left < Number(number) : left === Number(number)
        }
      }
    }
  },
  compileValue: (value) => ({
    references: referencesOf(value),
    evaluate: (bindings) => evaluate(value, bindings)
  })
}

function referencesOf(value: Json): readonly ValueReference[] {
  if (!isJsonObject(value)) return []
  const { ref, object } = value
  if (typeof ref === 'string') {
    const [root = '', ...path] = ref.split('.')
    return [{ root, path }]
  }
  return isJsonObject(object) ? Object.values(object).flatMap(referencesOf) : []
}

function evaluate(value: Json, bindings: Bindings): Evaluated<Json> {
  if (!isJsonObject(value)) return { ok: false, code: 'bad_value' }
  if (value['lit'] !== undefined) return { ok: true, value: value['lit'] }
  const { ref, object } = value
  if (typeof ref === 'string') return resolve(ref, bindings)
  if (!isJsonObject(object)) return { ok: false, code: 'bad_value' }
  const entries: [string, Json][] = []
  for (const [key, inner] of Object.entries(object)) {
    const result = evaluate(inner, bindings)
    if (!result.ok) return result
    entries.push([key, result.value])
  }
  return { ok: true, value: Object.fromEntries(entries) }
}

function resolve(path: string, bindings: Bindings): Evaluated<Json> {
  let value: Json | undefined = bindings
  for (const key of path.split('.')) {
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value === undefined ? { ok: false, code: 'missing_refs' } : { ok: true, value }
}

import { anyWithin, atOnce, isJsonObject, type Json } from '../../core/index.js'
import { compileValue, compilingValue, loadExpressions } from '../../expression/index.js'
import type { CompileValues } from './compile.js'

/** Values without CEL: the engine takes a tenth of a second to load. */
const plainValues: CompileValues = {
  compileValue: (value, options) => compileValue(value, options),
  compilingValue: (value, options) => compilingValue(value, options)
}

/** What compiles the values of these documents: with the CEL engine only if one of them has CEL. */
export async function valuesFor(...documents: readonly unknown[]): Promise<CompileValues> {
  return documents.some((one) => mentionsCel(one as Json)) ? await loadExpressions() : plainValues
}

function mentionsCel(value: Json): boolean {
  return atOnce(anyWithin(value, (part) => isJsonObject(part) && 'cel' in part))
}

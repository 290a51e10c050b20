import { anyWithin, atOnce, isJsonObject, type Json } from '../../core/index.js'
import {
  AIS_PROFILE,
  compileValue,
  compilingValue,
  loadExpressions
} from '../../expression/index.js'
import type { CompileValues } from './compile.js'

/** Values without CEL: the engine takes a tenth of a second to load. */
const plainValues: CompileValues = {
  profile: AIS_PROFILE,
  compileValue: (value, options) => compileValue(value, options),
  compilingValue: (value, options) => compilingValue(value, options)
}

/**
 * What compiles the values of new workflows out of these documents: with the CEL engine only if one
 * of them has CEL.
 */
export async function valuesFor(...documents: readonly unknown[]): Promise<CompileValues> {
  const hasCel = documents.some((one) => mentionsCel(one as Json))
  return hasCel ? (await loadExpressions()).ais : plainValues
}

function mentionsCel(value: Json): boolean {
  return atOnce(anyWithin(value, (part) => isJsonObject(part) && 'cel' in part))
}

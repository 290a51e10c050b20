import type { CompileExpressions } from '../../block/index.js'
import { isJsonObject, type Json, TallyError } from '../../core/index.js'
import { compileValue } from '../../expression/index.js'

/** Those of documents without CEL. */
export const plainExpressions: CompileExpressions = {
  compileValue: (value, options) => compileValue(value, options),
  compileCondition: (expression) => {
    throw new TallyError('core.internal', { problem: `no engine was loaded for ${expression}` })
  }
}

/** Loading the CEL engine takes a tenth of a second, so documents without CEL do without it. */
export function mentionsCel(value: Json): boolean {
  if (Array.isArray(value)) return value.some(mentionsCel)
  if (!isJsonObject(value)) return false
  return 'cel' in value || Object.values(value).some(mentionsCel)
}

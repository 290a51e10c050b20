import type { CompileExpressions } from '../../block/index.js'
import { anyWithin, coreError, isJsonObject, type Json, type Pieces } from '../../core/index.js'
import { compileValue, compilingValue } from '../../expression/index.js'

/** Those of documents without CEL. */
export const plainExpressions: CompileExpressions = {
  compileValue: (value, options) => compileValue(value, options),
  compilingValue: (value, options) => compilingValue(value, options),
  compileCondition: (expression) => {
    throw coreError('core.internal', { problem: `no engine was loaded for ${expression}` })
  }
}

/** Loading the CEL engine takes a tenth of a second, so documents without CEL do without it. */
export function mentionsCel(value: Json): Pieces<boolean> {
  return anyWithin(value, (part) => isJsonObject(part) && 'cel' in part)
}

import { blockChart } from '../../../machines/block.js'
import { functionChart, functionChartVersion } from '../../../machines/function.js'
import { type FunctionDefinition, functionSchemaName } from '../../code/index.js'
import { atOnce, hashJson, type Json } from '../../core/index.js'
import type { ChartLibrary } from '../chart/chart-run.js'
import { makingFunctionLogic } from '../chart/function.js'
import { leafLogic } from '../chart/leaf.js'
import type { CompiledFunction } from './compiled.js'

/** A workflow function's chart, and that of its atomic parts; the same for every function. */
export function compileFunction(
  definition: FunctionDefinition,
  library: ChartLibrary
): CompiledFunction {
  const scope = functionOf(definition, library, undefined)
  return functionOf(definition, library, scope)
}

function functionOf(
  definition: FunctionDefinition,
  { repair }: ChartLibrary,
  scope: CompiledFunction | undefined
): CompiledFunction {
  const { name, version } = definition
  const isScope = scope === undefined
  const config = functionChart({ id: name.replaceAll('.', '/'), scoped: isScope })
  const plan = { isScope, repair, nodes: new Map<string, never>() }
  const leaf = leafLogic(plan)
  const children = scope === undefined ? { leaf } : { leaf, scope: scope.logic }
  return {
    kind: 'function',
    name,
    version,
    sideEffects: 'non_idempotent',
    isOutermostOverlay: isScope,
    config,
    configHash: hashJson(config as unknown as Json),
    definitionHash: functionHash(definition),
    nodes: new Map(),
    plan,
    logic: atOnce(makingFunctionLogic({ config, library: plan, children })),
    ...(scope === undefined ? {} : { scope })
  }
}

/** Covers the definition and the versions of the charts; not the code (B10). */
export function functionHash(definition: FunctionDefinition) {
  return hashJson({
    schema: functionSchemaName,
    charts: { block: blockChart.version, function: functionChartVersion },
    definition: definition as unknown as Json
  })
}

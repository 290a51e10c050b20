import { z } from 'zod-pinned'
import { type Block, type BlockContext, defineBlock, touchingNothing } from '../../code/index.js'
import { isJsonObject, type Json, type JsonObject, limits } from '../../core/index.js'
import { lookUp, referenceText } from '../../expression/index.js'
import type { AisValue } from '../document/value.js'
import type { AisPlan } from '../plan/plan.js'
import { calculatedAmounts, nodesFor } from '../readiness/bindings.js'
import { applyPatches, isPatchRoot, parsePatches, patchesFor } from '../readiness/patch.js'
import { type AisRuntime, prepareRuntime } from '../readiness/runtime.js'
import { answerParts, missingRequest } from '../readiness/solver.js'
import { type CompileValues, compileAisValue, type ValuesOf } from '../value/compile.js'
import { runtimeAt } from './gather.js'
import { profileOf, type Rules } from './node-spec.js'
import { outputsRefusal } from './refuse.js'
import { givenOf, nodeBlocks, outputsNode, resultsOf } from './spec.js'

interface OutputsPlan extends Pick<AisPlan, 'inputs' | 'policy' | 'places'> {
  readonly rules?: Rules
}

const outputsInput = z.strictObject({
  outputs: z.custom<Readonly<Record<string, AisValue>>>((value) => isJsonObject(value)),
  amounts: z.array(z.string()),
  // Members beside it would change the code hash that receipts name.
  plan: z.custom<OutputsPlan>((value) => isJsonObject(value)),
  given: z.json(),
  nodes: z.record(z.string(), z.json())
})

type OutputsInput = z.infer<typeof outputsInput>

/**
 * Computes the outputs of a workflow from what its nodes returned and were given; asks for what is
 * still missing, as every node does (W3).
 */
export function outputsBlock(values: ValuesOf, version: string): Block {
  const block = defineBlock({
    name: nodeBlocks.outputs,
    version,
    sideEffects: 'none',
    input: outputsInput,
    run: async (ctx, input) => {
      let runtime = runtimeFor(ctx, input)
      for (let round = 0; round < limits.MISSING_ROUNDS_MAX; round += 1) {
        const { outputs, missing } = computed(ctx, input, runtime, values(profileOf(input.plan)))
        if (missing.length === 0) return outputs
        runtime = await withAnswer(ctx, input, runtime, missing)
      }
      return ctx.fail('still_missing', null)
    }
  })
  return Object.freeze<Block>({ ...touchingNothing(block), refuses: outputsRefusal })
}

function runtimeFor(ctx: BlockContext, { plan, given, nodes }: OutputsInput): AisRuntime {
  const prepared = prepareRuntime(plan, givenOf(given))
  if (!prepared.ok) return ctx.fail('invalid_input', prepared.problems as unknown as Json)
  const { patches, ...results } = resultsOf(nodes)
  const fitting = patchesFor(patches, null)
  return applyPatches(plan, { ...prepared.runtime, ...results }, fitting).runtime
}

/** The outputs as far as they are known, and the paths that a person still has to give. */
function computed(
  ctx: BlockContext,
  { outputs, amounts: declared, plan }: OutputsInput,
  untimed: AisRuntime,
  values: CompileValues
): { readonly outputs: JsonObject; readonly missing: readonly string[] } {
  const runtime = runtimeAt(untimed, plan, ctx.now())
  const amounts = [...declared, ...calculatedAmounts(runtime)]
  const { inputs, ctx: own, contracts, calculated, policy } = runtime
  const nodes = nodesFor(runtime, plan.places)
  const bindings = { inputs, ctx: own, contracts, calculated, policy, nodes, detect: {} }
  const known: [string, Json][] = []
  const missing = new Set<string>()
  for (const [name, value] of Object.entries(outputs)) {
    const compiled = compileAisValue({ scope: 'flow', value }, name, values, amounts)
    if (!compiled.ok) return ctx.fail('invalid_value', { name, problem: compiled.problem })
    const { references, evaluate } = compiled.compiled
    const result = evaluate(bindings)
    if (result.ok) {
      known.push([name, result.value])
      continue
    }
    const absent = references.filter(
      (reference) => !reference.tested && lookUp(bindings, reference) === undefined
    )
    const isAsked = absent.length > 0 && absent.every(({ root }) => isPatchRoot(root))
    if (result.code !== 'missing_reference' || !isAsked) {
      return ctx.fail('output_failed', { name, code: result.code, detail: result.detail })
    }
    for (const reference of absent) missing.add(referenceText(reference))
  }
  return { outputs: Object.fromEntries(known), missing: [...missing].sort() }
}

async function withAnswer(
  ctx: BlockContext,
  { plan }: OutputsInput,
  runtime: AisRuntime,
  missing: readonly string[]
): Promise<AisRuntime> {
  ctx.log('node_blocked', { node: outputsNode, missing, choices: [] })
  const request = missingRequest(plan, { id: outputsNode, chain: null }, { missing, choices: [] })
  const answer = await ctx.wait({ reason: 'external', request: request as unknown as Json })
  if (answer.action === 'deny') return ctx.fail('denied', { missing })
  const patches = parsePatches(answerParts(answer.value).patches)
  if (typeof patches === 'string') {
    ctx.log('patch_rejected', { node: outputsNode, problem: patches })
    return runtime
  }
  const applied = applyPatches(plan, runtime, patches)
  ctx.log('patch_applied', applied.audit as unknown as Json)
  return applied.runtime
}

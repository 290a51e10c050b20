import { z } from 'zod-pinned'
import { type Block, defineBlock, touchingNothing } from '../../code/index.js'
import { isJsonObject } from '../../core/index.js'
import { nodeDiagnostic } from '../diagnostic/diagnostic.js'
import { prepareRuntime } from '../readiness/runtime.js'
import { invalidInputs, NodeFailure } from './failure.js'
import { givenOf, inputsNode, type NodeInput, nodeBlocks } from './spec.js'

const inputsInput = z.strictObject({
  plan: z.custom<NodeInput['spec']['plan']>((value) => isJsonObject(value)),
  given: z.json()
})

/**
 * Checks what a workflow inside of another document was given, before any node of it begins: a
 * run's own inputs are checked before there is a run (W3). What is absent is asked for later.
 */
export function inputsBlock(version: string): Block {
  const block = defineBlock({
    name: nodeBlocks.inputs,
    version,
    sideEffects: 'none',
    input: inputsInput,
    run: (ctx, { plan, given }) => {
      const prepared = prepareRuntime(plan, givenOf(given))
      if (prepared.ok) return null
      throw new NodeFailure(
        nodeDiagnostic({
          ...invalidInputs(prepared.problems),
          // The inputs come from outside: nothing inside can be retried or patched.
          phase: 'plan',
          retryable: false,
          sent: false,
          nodeId: inputsNode,
          chain: 'none',
          executionType: 'none',
          attempt: ctx.attempt,
          elapsedMs: 0,
          lastCheckpoint: ctx.unitId
        })
      )
    }
  })
  return touchingNothing(block)
}

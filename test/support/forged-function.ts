import { defineBlock, defineWorkflow } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import { type HonestScene, honestLedger } from './forge.js'

/** A workflow in code that is forged: steps in order and at once, a signal, an atomic part. */

const put = defineBlock({
  name: 'put',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx, { key }: { readonly key: string }) => {
    ctx.state.set(key, ctx.now())
    return key
  }
})

const forged = defineWorkflow({
  name: 'forged',
  version: '1.0.0',
  blocks: [put],
  async run(ctx): Promise<Json> {
    const first = await ctx.step('first', () => 1)
    const paid = await ctx.signal('paid')
    await ctx.publish('progress', { first, paid: paid ?? null })
    const both = await ctx.all([ctx.step('one', () => 'one'), ctx.step('two', () => 'two')])
    const [won] = await ctx.race([ctx.step('three', () => ['three'])])
    const kept = await ctx.atomic('kept', async (scope) => [
      await scope.step('put', put, { key: 'a' }),
      await scope.step('again', put, { key: 'b' })
    ])
    const { action } = await ctx.wait({ reason: 'confirmation', request: 'really?' })
    return { first, both, won: won ?? null, kept: kept.map(String), action }
  }
})

export const functionCode: Registrations = { blocks: [put], workflows: [forged] }

/** The wait for a signal gets one; the others are approved. */
const answer: HonestScene['answer'] = (run, { token, digest, actions }) =>
  actions.includes('signal')
    ? run.signal('paid', { amount: '12.00' }, { id: 'evt-1' })
    : run.approve(token, { digest })

export const honestFunction = () =>
  honestLedger({
    code: functionCode,
    begin: (runtime) => runtime.begin(forged, null, { id: 'forged' }),
    answer
  })

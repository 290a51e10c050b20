/** A workflow in code with a fault, as a script of a counterexample imports it. */
import { defineWorkflow } from '../../../../dist/src/code/index.js'

export const target = defineWorkflow({
  name: 'stubborn',
  version: '1.0.0',
  async run(ctx) {
    const pay = () => ctx.step('pay', () => undefined, 1, { sideEffects: 'idempotent' })
    return pay().catch(pay)
  }
})

export const options = { effects: { 'stubborn.pay': { answer: () => 'paid' } } }

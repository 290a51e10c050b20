/**
 * Workflows in code with one planted bug each, as in `planted.mjs`, and one that keeps to `ctx`.
 */
import { defineWorkflow } from '../../../../dist/src/code/index.js'

const flow = (name, run) => defineWorkflow({ name, version: '1.0.0', run })
const pay = (ctx, input) => ctx.step('pay', () => fetch('https://bank.example'), input)

let count = 0 // found: module state, variable count

export const planted = {
  clock: flow('clock', async (ctx) => {
    const at = Date.now() // found: clock, Date.now
    return pay(ctx, { at })
  }),
  after: flow('after', async (ctx) => {
    const paid = await pay(ctx, 1)
    return { paid, id: Math.random() } // found: chance, Math.random
  }),
  timer: flow('timer', async (ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 1)) // found: timers, setTimeout
    return pay(ctx, 1)
  }),
  network: flow('network', async (ctx) => {
    await pay(ctx, 1)
    await fetch('https://rates.example') // found: network, fetch
  }),
  environment: flow('environment', async (ctx) => {
    const { HOME } = process.env // found: environment, process.env.HOME
    return pay(ctx, { HOME })
  }),
  counter: flow('counter', async (ctx) => {
    count += 1
    return pay(ctx, count)
  })
}

export const pure = {
  careful: flow('careful', async (ctx, input) => {
    const paid = await pay(ctx, input)
    const failed = await ctx.step('mail', () => Date.now()).catch(({ reason }) => reason)
    await ctx.sleep(10)
    return { paid, failed, at: ctx.now(), id: ctx.uuid(), run: ctx.runId }
  })
}

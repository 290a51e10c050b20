/** What two processes simulate: plain JavaScript, so that both load the same. */
export function options({ defineBlock }) {
  const pay = defineBlock({
    name: 'pay',
    version: '1.0.0',
    sideEffects: 'idempotent',
    async run(ctx, input) {
      const { action } = await ctx.wait({ reason: 'confirmation', request: input })
      if (action !== 'approve') return { action }
      const paid = await ctx.effect('bank.pay', { request: input })
      ctx.state.set(`paid/${input.id}`, paid)
      return paid
    }
  })
  const runs = [{ id: 1 }, { id: 2 }]
  return {
    nodes: { a: { target: pay, runs }, b: { target: pay, runs } },
    effects: { 'bank.pay': { answer: (request) => ({ reference: request.id }) } }
  }
}

/** A promise that every seed breaks in which something is paid. */
export const paysNothing = {
  'nothing is paid': ({ nodes }) =>
    Object.values(nodes).every(({ state }) => Object.keys(state).length === 0)
}

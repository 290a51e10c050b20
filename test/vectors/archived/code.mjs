/** The code of the ledger with archived history. */
export function codeOf({ defineBlock }) {
  const blocks = [
    defineBlock({
      name: 'ask',
      version: '1',
      sideEffects: 'none',
      run: async (ctx) => (await ctx.wait({ reason: 'external', request: { what: 'it' } })).value
    }),
    defineBlock({
      name: 'note',
      version: '1',
      sideEffects: 'none',
      run: (ctx, input) => {
        ctx.state.set(`texts/${input.text.slice(0, 9)}`, input.text.length)
        return { text: input.text }
      }
    })
  ]
  return { blocks, documentOf }
}

function documentOf(block) {
  return {
    schema: 'tally-composite/1',
    name: block,
    version: '1',
    entry_point: 'first',
    nodes: { first: { block, input: { ref: 'request.payload' } } }
  }
}

/** Workflows in code that golden ledgers hold runs of; `world.hangs` names what never answers. */
export function functionsOf(lib, world, blocks) {
  // 0.1.0 had none.
  if (lib.defineWorkflow === undefined) return undefined
  const block = (name) => blocks.find((one) => one.name === name)
  const define = (name, run, used = []) =>
    lib.defineWorkflow({ name, version: '1.0.0', blocks: used, run })
  const kept = define('kept', async (ctx, { n }) => ({ twice: await ctx.step('twice', () => n * 2) }))
  return [kept, order(define, kept, block), charging(define, world)]
}

/** Every kind of call: steps of each class, order, race, atomic parts, a child, a signal. */
function order(define, kept, block) {
  const [count, note, boom] = ['count', 'note', 'boom'].map(block)
  const reason = ({ reason: why }) => why
  const run = async (ctx, { item }) => {
    const [first, second] = await ctx.all([
      ctx.step('read', () => ({ item }), null, { sideEffects: 'none' }),
      ctx.step('count', count, null)
    ])
    const moved = await ctx.atomic('move', async (scope) => {
      const noted = await scope.step('note', note, null)
      return { ...noted, sum: await scope.step('sum', () => 3, null, { sideEffects: 'none' }) }
    })
    const undone = await ctx
      .atomic('undone', async (scope) => {
        await scope.step('note', note, null)
        ctx.fail('enough', { item })
      })
      .catch(reason)
    const refused = await ctx.step('boom', boom, null).catch(reason)
    const won = await ctx.race([ctx.step('quick', () => 'quick'), ctx.sleep('1d')])
    const child = await ctx.child(kept, { n: 2 }, { id: 'kept-2' })
    await ctx.publish('stage', { refused })
    const paid = await ctx.signal('paid')
    await ctx.sleep(5)
    return { first, second, moved, undone, refused, won, child, paid, id: ctx.uuid(), at: ctx.now() }
  }
  return define('order', run, [count, note, boom])
}

/** A write that may be done again, under its key. */
function charging(define, world) {
  const charge = (_, call) =>
    world.hangs?.(call) === true
      ? new Promise(() => undefined)
      : { key: call.key.length }
  return define('charging', async (ctx, input) => {
    const first = await ctx.step('first', () => 1)
    return { first, done: await ctx.step('charge', charge, input, { sideEffects: 'idempotent' }) }
  })
}

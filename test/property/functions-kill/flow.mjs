// A workflow in code whose steps write to a file, and what kills its process at a given moment.
import { appendFileSync } from 'node:fs'

/** `library`: the module under test; `log`: where effects go; `killedAt`: moment, from 1, or 0. */
export function flowOf({ defineBlock, defineWorkflow }, { log, killedAt }) {
  let moments = 0
  const moment = () => {
    moments += 1
    if (moments === killedAt) process.kill(process.pid, 'SIGKILL')
  }
  const put = defineBlock({
    name: 'put',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx, { key, value }) => {
      moment()
      ctx.state.set(key, value + (ctx.state.get(key) ?? 0))
      return value
    }
  })
  const act = (input, { key }) => {
    moment()
    appendFileSync(log, `${key}\n`)
    moment()
    return { did: input }
  }
  const idempotent = { sideEffects: 'idempotent' }
  return defineWorkflow({
    name: 'order',
    version: '1.0.0',
    blocks: [put],
    async run(ctx, { count }) {
      const found = []
      for (let item = 0; item < count; item += 1) {
        found.push(await ctx.step('act', act, item, idempotent))
        moment()
      }
      await ctx.sleep(1)
      const both = await ctx.all([
        ctx.step('left', act, 'left', idempotent),
        ctx.step('right', act, 'right', idempotent),
        ctx.step('put', put, { key: 'all', value: 1 })
      ])
      moment()
      const moved = await ctx.atomic('move', async (scope) => {
        const from = await scope.step('put', put, { key: 'a', value: -1 })
        moment()
        const to = await scope.step('put', put, { key: 'b', value: 1 })
        return from + to
      })
      await ctx.publish('stage', 'moved')
      moment()
      return { found, both, moved, dice: ctx.random(), id: ctx.uuid() }
    }
  })
}

import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Clock, type Json, ManualClock } from '../../../../src/core/index.js'
import { createRuntime } from '../../../../src/runtime/index.js'

function chainOf(...blocks: readonly string[]): Json {
  const names = blocks.map((_, index) => `n${index}`)
  return {
    schema: 'tally-composite/1',
    name: 'chain',
    version: '1.0.0',
    entry_point: 'n0',
    nodes: Object.fromEntries(blocks.map((block, index) => [`n${index}`, { block }])),
    transitions: Object.fromEntries(names.slice(1).map((name, index) => [`n${index}`, name]))
  }
}

it('K7: the clock of a run never goes back, and an attempt sees one frozen time', async () => {
  let wall = 5_000
  const clock: Clock = { now: () => wall, schedule: () => () => undefined }
  const look = defineBlock({
    name: 'look',
    version: '1.0.0',
    sideEffects: 'none',
    async run(ctx) {
      const before = ctx.now()
      wall -= 1_000
      await ctx.effect('tick', { perform: () => null })
      return { before, after: ctx.now() }
    }
  })
  await using tally = await createRuntime({ location: 'memory:', blocks: [look], clock })
  const { response } = await tally.begin(chainOf('look', 'look', 'look'), { id: 'r' }).result
  expect(response.data).toEqual({ before: 5_000, after: 5_000 })
  const times: number[] = []
  for await (const { value } of tally.journal('r')) times.push((value as { at: number }).at)
  expect(times.length).toBeGreaterThan(5)
  expect(times.every((at) => at === 5_000)).toBe(true)
})

it('K13: the entry point names the principal, and a name that is given is only claimed', async () => {
  const ask = defineBlock({
    name: 'ask',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.wait({ reason: 'confirmation', request: { principal: 'root' } })
  })
  const clock = new ManualClock()
  await using tally = await createRuntime({ location: 'memory:', blocks: [ask], clock })
  const inputs = { principal: { kind: 'agent', id: 'x' } }
  const run = tally.begin(chainOf('ask'), { id: 'r', inputs })
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    const value = { by: 'somebody else' }
    await run.approve(event.token, { digest: event.digest, by: 'boss', value })
  }
  const { response } = await run.result
  expect(response.data).toMatchObject({ by: { kind: 'owner', id: 'local', claimed: 'boss' } })
  const receipt = await tally.receipt(0)
  expect(receipt?.receipt.inputPayload.principal).toEqual({ kind: 'owner', id: 'local' })
})

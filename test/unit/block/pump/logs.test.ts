import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/block/index.js'
import type { Json } from '../../../../src/core/index.js'
import { Machine } from '../../../support/lives.js'

const block = defineBlock({
  name: 'acts',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx): Promise<Json> => {
    const data = { at: 1 }
    ctx.log('begun', data)
    data.at = 2
    await ctx.effect('look', { perform: () => 1 })
    ctx.log('looked', data)
    data.at = 3
    return null
  }
})

const document = {
  schema: 'tally-composite/1',
  name: 'one',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'acts' } },
  transitions: {}
}

it('what a block logs is heard as it was then', async () => {
  const tally = await new Machine().open({ blocks: [block] })
  const heard: unknown[] = []
  tally.events.on('event', (event) => {
    if (event.type === 'log') heard.push([event.message, event.data])
  })
  const expected = [
    ['begun', { at: 1 }],
    ['looked', { at: 2 }]
  ]
  await tally.begin(document, { id: 'r' }).result
  await tally.close()
  expect(heard).toEqual(expected)
})

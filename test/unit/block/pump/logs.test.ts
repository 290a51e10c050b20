import { expect, it, vi } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { compositeDocument } from '../../../support/composites.js'
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

const document = compositeDocument({ nodes: { a: { block: 'acts' } }, transitions: {} })

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

it.each([
  ['is written out once where somebody reads it', true, 1],
  ['is not written out where nobody does', false, 0]
])('what a block logs %s', async (_, isHeard, times) => {
  const data = { of: 'this test alone' }
  const logs = defineBlock({
    name: 'acts',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx): Promise<Json> => {
      ctx.log('said', data)
      return null
    }
  })
  const tally = await new Machine().open({ blocks: [logs] })
  if (isHeard) tally.events.on('event', () => undefined)
  // Writing JSON out looks at its keys.
  const looked = vi.spyOn(Reflect, 'ownKeys')
  try {
    await tally.begin(document, { id: 'r' }).result
    expect(looked.mock.calls.filter(([value]) => value === data)).toHaveLength(times)
  } finally {
    looked.mockRestore()
  }
  await tally.close()
})

import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { type Json, limits, systemRandom } from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { openOn, until } from '../../../support/lives.js'

const takes = defineBlock({
  name: 'takes',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const item = await ctx.signal('item')
    ctx.state.set(`item/${ctx.runId}`, item)
    return item
  }
})
const document: Json = {
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'takes' } }
}

const open = () => openOn(openMemoryStore(), { blocks: [takes], random: systemRandom })

describe('finding runs', () => {
  it('finds them by a tag, page by page, newest first', async () => {
    await using tally = await open()
    for (const n of [1, 2, 3, 4]) {
      await tally.start(document, { id: `r${n}`, tags: [`odd:${n % 2}`, 'all', 'all'] })
    }
    const first = await tally.runs({ tag: 'odd:1', limit: 1 })
    expect(first.items.map(({ tags }) => tags)).toEqual([['all', 'odd:1']])
    const second = await tally.runs({ tag: 'odd:1', cursor: first.next ?? '' })
    const ids = [...first.items, ...second.items].map(({ id }) => id).sort()
    expect([ids, second.next]).toEqual([['r1', 'r3'], null])
    expect((await tally.runs({ tag: 'odd' })).items).toEqual([])
    for (const n of [1, 2, 3, 4]) await (await tally.attach(`r${n}`)).cancel()
  })

  it('L6: the same id with other tags is the same run', async () => {
    await using tally = await open()
    await tally.start(document, { id: 'a', tags: ['one'] })
    expect(await tally.start(document, { id: 'a', tags: ['two'] })).toEqual({
      id: 'a',
      isNew: false
    })
    expect((await tally.runs({ tag: 'two' })).items).toEqual([])
    await (await tally.attach('a')).cancel()
  })

  it('finds those that wait, and the waits and receipts of one', async () => {
    await using tally = await open()
    for (const id of ['a', 'b']) await tally.start(document, { id })
    await until(() => ['a', 'b'].every((id) => tally.run(id)?.status === 'waiting'))
    await tally.signal('b', 'item', { size: 2 })
    const run = await tally.attach('b')
    await run.result
    for (const waiting of [true, 'external'] as const) {
      expect((await tally.runs({ waiting })).items.map(({ id }) => id)).toEqual(['a'])
    }
    expect((await tally.runs({ waiting: 'decision' })).items).toEqual([])
    const { items } = await tally.waits({ runId: 'a' })
    expect(items.map(({ wait }) => wait.request)).toEqual([{ signal: 'item' }])
    expect((await tally.waits({ runId: 'b' })).items).toEqual([])
    const receipts: string[] = []
    for await (const { receipt } of run.receipts()) receipts.push(receipt.intent)
    expect(receipts).toEqual(['takes', 'run.completed'])
    await (await tally.attach('a')).cancel()
  })

  it('reads the state from outside', async () => {
    await using tally = await open()
    expect(await tally.state.get('item/a')).toBeUndefined()
    for (const id of ['a', 'b', 'c']) {
      await tally.start(document, { id })
      await tally.signal(id, 'item', { of: id })
      await (await tally.attach(id)).result
    }
    expect(await tally.state.get('item/b')).toEqual({ of: 'b' })
    expect(await tally.state.get('item/')).toBeUndefined()
    const first = await tally.state.list('item/', { limit: 2 })
    expect(first.items.map(({ key }) => key)).toEqual(['item/a', 'item/b'])
    const second = await tally.state.list('item/', { after: first.next })
    expect(second).toEqual({ items: [{ key: 'item/c', value: { of: 'c' } }], next: null })
    await expect(tally.state.list('', { limit: 0 })).rejects.toMatchObject({
      code: 'service.invalid_params'
    })
  })

  it('tells what a run has published last', async () => {
    const tells = defineBlock({
      name: 'takes',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        await ctx.publish('progress', { done: 1, left: undefined })
        await ctx.publish('other', 'text')
        await ctx.signal('go')
        await ctx.publish('progress', { done: 2 })
        return null
      }
    })
    await using tally = await openOn(openMemoryStore(), { blocks: [tells], random: systemRandom })
    await tally.start(document, { id: 'a' })
    await until(() => tally.run('a')?.status === 'waiting')
    expect(await tally.query('a', 'progress')).toEqual({ done: 1 })
    expect(await tally.query('a', 'none')).toBeUndefined()
    await tally.signal('a', 'go')
    await (await tally.attach('a')).result
    expect(await tally.query('a', 'progress')).toEqual({ done: 2 })
    await expect(tally.query('b', 'progress')).rejects.toMatchObject({ code: 'run.not_found' })
  })

  it('refuses tags that cannot be kept', async () => {
    await using tally = await open()
    const many = Array.from({ length: limits.RUN_TAGS_MAX + 1 }, (_, n) => `${n}`)
    for (const tags of [[''], ['x'.repeat(limits.RUN_TAG_LENGTH_MAX + 1)], many]) {
      await expect(tally.start(document, { tags })).rejects.toMatchObject({
        code: 'run.invalid_tags'
      })
    }
  })
})

it('reads one key of the state without reading history', async () => {
  const store = openMemoryStore()
  const ofIndex = async () => {
    const keys: string[] = []
    for await (const [key] of store.entries({ gte: '', lt: '\u{10ffff}' })) keys.push(key)
    return keys.filter((key) => key.includes('/writes'))
  }
  await using tally = await openOn(store, { blocks: [takes], random: systemRandom })
  await tally.start(document, { id: 'a' })
  await tally.signal('a', 'item', 'first')
  await (await tally.attach('a')).result
  expect(await tally.state.get('item/a')).toBe('first')
  expect(await ofIndex()).toEqual([])
  await tally.state.list('item/')
  expect((await ofIndex()).length).toBeGreaterThan(0)
})

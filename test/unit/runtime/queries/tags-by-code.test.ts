import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import {
  type Json,
  limits,
  ManualClock,
  nextTurn,
  systemRandom
} from '../../../../src/core/index.js'
import { openMemoryStore, type Store } from '../../../../src/ledger/index.js'
import type { RunView } from '../../../../src/runtime/index.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, until } from '../../../support/lives.js'

/** Tags that the code of a run sets: lists find it by them. */

type Code = (ctx: BlockContext, input: Json) => Promise<Json>

const oneStep = (extra: object = {}): Json => ({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: 'work',
  nodes: { work: { block: 'order.work', ...extra } }
})

function open(run: Code, store: Store = openMemoryStore(), clock = new ManualClock()) {
  const block = defineBlock({ name: 'order.work', version: '1.0.0', sideEffects: 'none', run })
  return openOn(store, { blocks: [block], random: systemRandom, clock })
}

type Opened = Awaited<ReturnType<typeof open>>

async function idsOf(tally: Opened, tag: string) {
  return (await tally.runs({ tag })).items.map(({ id }) => id)
}

const tagsOf = async (tally: Opened) =>
  (await tally.runs({})).items.map(({ id, tags }) => [id, tags ?? []])

async function shownOf(tally: Opened, id: string): Promise<RunView> {
  const { signal } = new AbortController()
  const shown = await tally.service({ method: 'show', params: { id }, signal })
  return shown as unknown as RunView
}

describe('tags that code sets', () => {
  const waits: Code = async (ctx) => {
    await ctx.setTags(['customer:42', 'new'])
    await ctx.signal('paid')
    await ctx.setTags(['customer:42', 'paid'])
    return null
  }

  it('find the run beside those of its start; the last list counts', async () => {
    await using tally = await open(waits)
    const run = tally.begin(oneStep(), { id: 'a', tags: ['shop'] })
    await until(() => tally.run('a')?.status === 'waiting')
    expect(await tagsOf(tally)).toEqual([['a', ['customer:42', 'new', 'shop']]])
    for (const tag of ['shop', 'customer:42', 'new']) expect(await idsOf(tally, tag)).toEqual(['a'])
    expect((await shownOf(tally, 'a')).tags).toEqual(['customer:42', 'new', 'shop'])
    await run.signal('paid', null)
    await run.result
    expect((await shownOf(tally, 'a')).tags).toEqual(['customer:42', 'paid', 'shop'])
    expect(await idsOf(tally, 'new')).toEqual([])
    expect(await tagsOf(tally)).toEqual([['a', ['customer:42', 'paid', 'shop']]])
  })

  it('find a run that is under way, and one that was interrupted', async () => {
    const store = lasting(openMemoryStore())
    const reached: (() => void)[] = []
    const isReached = new Promise<void>((resolve) => reached.push(resolve))
    const code: Code = async (ctx) => {
      await ctx.setTags(['begun'])
      return ctx.effect('slow', {
        sideEffects: 'none',
        perform: () => {
          reached[0]?.()
          return new Promise(() => undefined)
        }
      })
    }
    const clock = new ManualClock()
    const first = await open(code, store, clock)
    first.begin(oneStep(), { id: 'a' }).result.catch(() => undefined)
    await isReached
    await until(() => first.run('a')?.status === 'running')
    expect(await idsOf(first, 'begun')).toEqual(['a'])
    let isClosed = false
    const closing = first.close().finally(() => {
      isClosed = true
    })
    for (; !isClosed; clock.advance(limits.CLOSE_GRACE_MS)) await nextTurn()
    await closing
    await using second = await openOn(store, { blocks: [], random: systemRandom })
    expect(second.run('a')?.status).toBe('running')
    expect(await idsOf(second, 'begun')).toEqual(['a'])
    expect(await tagsOf(second)).toEqual([['a', ['begun']]])
  })

  it('stay with a run that was parked, resumed, failed and opened again', async () => {
    const store = lasting(openMemoryStore())
    const code: Code = async (ctx) => {
      await ctx.setTags(['kept'])
      await ctx.signal('go')
      return ctx.fail('boom')
    }
    const first = await open(code, store)
    first.begin(oneStep(), { id: 'a' }).result.catch(() => undefined)
    await until(() => first.run('a')?.status === 'waiting')
    await first.close()
    const second = await open(code, store)
    expect(await idsOf(second, 'kept')).toEqual(['a'])
    await second.signal('a', 'go', null)
    expect((await (await second.attach('a')).result).status).toBe('failed')
    expect(await idsOf(second, 'kept')).toEqual(['a'])
    await second.close()
    await using third = await open(code, store)
    expect(await idsOf(third, 'kept')).toEqual(['a'])
  })

  it('stay with a run that is cancelled without its code', async () => {
    const store = lasting(openMemoryStore())
    const first = await open(waits, store)
    first.begin(oneStep(), { id: 'a' }).result.catch(() => undefined)
    await until(() => first.run('a')?.status === 'waiting')
    await first.close()
    await using second = await openOn(store, { blocks: [], random: systemRandom })
    await (await second.attach('a')).cancel('no more')
    await until(() => second.run('a')?.status === 'cancelled')
    expect(await idsOf(second, 'new')).toEqual(['a'])
  })

  it('are set by workflows in code, also where their code runs again', async () => {
    const workflow = defineWorkflow({
      name: 'checkout',
      version: '1.0.0',
      run: async (ctx) => {
        await ctx.setTags(['step:1'])
        await ctx.step('pack', () => 'packed', null)
        await ctx.signal('sent')
        await ctx.setTags(['step:2'])
        return null
      }
    })
    const store = lasting(openMemoryStore())
    const openIt = () => openOn(store, { workflows: [workflow], random: systemRandom })
    const first = await openIt()
    first.begin(workflow, null, { id: 'a' }).result.catch(() => undefined)
    await until(() => first.run('a')?.status === 'waiting')
    expect(await idsOf(first, 'step:1')).toEqual(['a'])
    await first.close()
    await using second = await openIt()
    await second.signal('a', 'sent', null)
    await (await second.attach('a')).result
    expect(await tagsOf(second)).toEqual([['a', ['step:2']]])
  })

  it.each([
    ['too many', Array.from({ length: limits.RUN_TAGS_MAX + 1 }, (_, n) => `tag:${n}`)],
    ['an empty one', ['']],
    ['one that is too long', ['x'.repeat(limits.RUN_TAG_LENGTH_MAX + 1)]],
    ['no text', [7 as unknown as string]]
  ])('are refused where there is %s', async (_, tags) => {
    await using tally = await open(async (ctx) => {
      await ctx.setTags(['before'])
      const refusal = await ctx.setTags(tags).catch((error: unknown) => error)
      return { code: (refusal as { code?: string }).code ?? null }
    })
    const { response } = await tally.begin(oneStep(), { id: 'a' }).result
    expect(response.data).toEqual({ code: 'run.invalid_tags' })
    expect(await tagsOf(tally)).toEqual([['a', ['before']]])
  })

  it('are not taken from an effect of a block that has taken their name', async () => {
    await using tally = await open(async (ctx) => {
      await ctx.effect('run.tags', { sideEffects: 'none', perform: () => ({ tags: 'all' }) })
      return null
    })
    await tally.begin(oneStep(), { id: 'a' }).result
    expect(await tagsOf(tally)).toEqual([['a', []]])
  })
})

import { describe, expect, it } from 'vitest'
import { type BlockContext, defineBlock } from '../../../src/code/index.js'
import type { Json } from '../../../src/core/index.js'
import { checkDeterminism, verifyCase } from '../../../src/testing/index.js'

function block(run: (ctx: BlockContext, input: never) => unknown) {
  return defineBlock({ name: 'pure', version: '1.0.0', sideEffects: 'none', run: run as never })
}

const input: Json = { b: 2, a: 1 }

describe('double run (K8)', () => {
  it('passes code that keeps to ctx, with state and sealed answers', async () => {
    const pure = block(async (ctx, given: { a: number }) => {
      const rate = await ctx.effect('rate', { perform: () => 'never called' })
      ctx.state.set('n', (ctx.state.get<number>('n') ?? 0) + given.a)
      return { rate, n: ctx.state.get('n') ?? null, at: ctx.now(), random: ctx.random() }
    })
    const tape = [{ seq: 1, effect: 'rate', ok: true, body: '1.25' }]
    const check = await checkDeterminism(pure, { input, state: { n: 41 }, tape })
    expect(check).toMatchObject({ ok: true })
    expect(check.changed).toContain('clock')
  })

  it.each([
    ['clock', () => Date.now()],
    ['new Date()', () => new Date().getUTCFullYear()],
    ['chance', () => Math.random()],
    ['key order', (_ctx: BlockContext, given: object) => Object.keys(given)],
    ['time zone', () => new Date(0).getHours()]
  ] as const)('K8: finds code that depends on the %s', async (name, run) => {
    const check = await checkDeterminism(block(run as never), { input })
    expect(check).toMatchObject({ ok: false, differing: { changed: name } })
  })

  it('K8: says of code that differs by itself that nothing was changed', async () => {
    let runs = 0
    const check = await checkDeterminism(
      block(() => {
        runs += 1
        return runs
      }),
      { input }
    )
    expect(check).toMatchObject({ ok: false, differing: { changed: 'nothing' } })
  })

  it.each([
    [
      'a call that the tape does not answer',
      (ctx: BlockContext) => ctx.effect('rate', { perform: () => 1 }),
      []
    ],
    ['a promise that is not of ctx', () => new Promise(() => undefined), []],
    ['an answer that no call asks for', () => 1, [{ seq: 1, effect: 'e', ok: true, body: 1 }]]
  ] as const)('K8: is not ok with %s: the end was never seen', async (_name, run, tape) => {
    const check = await checkDeterminism(block(run as never), { input, tape })
    expect(check).toMatchObject({ ok: false, unended: { field: expect.any(String) } })
    expect(check.differing).toBeUndefined()
  })

  it('leaves the world as it was', async () => {
    const { now } = Date
    const { random } = Math
    const zone = process.env['TZ']
    await checkDeterminism(
      block(() => 1),
      { input }
    )
    expect([Date.now, Math.random, process.env['TZ']]).toEqual([now, random, zone])
  })

  it('leaves the world as it was when checks and verifications run beside each other', async () => {
    const world = () => [Date, Date.now, Math.random, performance.now, process.env['TZ']]
    const before = world()
    const one = block((_ctx, given: { a: number }) => new Date(given.a).getTime())
    const checks = [1, 2].map(() => checkDeterminism(one, { input }))
    const verified = verifyCase(one, { inputs: [input], again: 'clock' })
    const results = await Promise.all([...checks, verified])
    expect(results).toMatchObject([{ ok: true }, { ok: true }, { lives: 2 }])
    expect(world()).toEqual(before)
  })
})

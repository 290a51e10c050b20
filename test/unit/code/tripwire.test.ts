import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Block, type BlockContext, defineBlock, watchBlocks } from '../../../src/code/index.js'
import type { TouchedOutside } from '../../../src/code/tripwire.js'
import { createRuntime } from '../../../src/runtime/index.js'
import { watchInDevelopment } from '../../../src/runtime/open-runtime.js'
import { installTripwire } from '../../../src/testing/index.js'

type Code = (ctx: BlockContext) => unknown

const touches: Readonly<Record<string, Code>> = {
  'Date.now': () => Date.now(),
  'new Date()': () => new Date().toISOString(),
  'Date()': () => Date(),
  'Math.random': () => Math.random(),
  'performance.now': () => performance.now(),
  'crypto.randomUUID': () => crypto.randomUUID(),
  'crypto.getRandomValues': () => crypto.getRandomValues(new Uint8Array(1))[0],
  'node:crypto randomUUID': () => randomUUID(),
  fetch: () => fetch('http://127.0.0.1:9'),
  setTimeout: () => new Promise((resolve) => setTimeout(resolve, 1)),
  setImmediate: () => new Promise((resolve) => setImmediate(resolve))
}

function blockOf(run: Code): Block {
  return defineBlock({ name: 'code', version: '1.0.0', sideEffects: 'none', run: run as never })
}

async function failureOf(run: Code) {
  await using tally = await createRuntime({
    location: 'memory:',
    create: 'if-absent',
    blocks: [blockOf(run)]
  })
  const { response } = await tally.begin(document).result
  return { reason: response.reason, details: response.details, data: response.data }
}

const document = {
  schema: 'tally-composite/1',
  name: 'tripped',
  version: '1.0.0',
  entry_point: 'a',
  nodes: { a: { block: 'code' } }
}

describe('the tripwire (K8)', () => {
  let takeOut: () => void

  beforeEach(() => {
    takeOut = installTripwire()
  })

  afterEach(() => takeOut())

  it.each(Object.keys(touches))('K8: %s inside a block fails its attempt', async (api) => {
    const found = await failureOf(touches[api] as Code)
    expect(found).toMatchObject({ reason: 'determinism_violation', details: { api } })
  })

  it.each(Object.keys(touches))('K8: %s is found after awaits, and when swallowed', async (api) => {
    const found = await failureOf(async (ctx) => {
      await ctx.effect('look', { perform: async () => 1 })
      await undefined
      try {
        return await (touches[api] as Code)(ctx)
      } catch {
        return 'swallowed'
      }
    })
    expect(found).toMatchObject({ reason: 'determinism_violation', details: { api } })
  })

  it('K8: outside blocks everything works, and so do dates with a given time', async () => {
    expect(Date.now()).toBeGreaterThan(0)
    expect(new Date()).toBeInstanceOf(Date)
    expect(crypto.randomUUID()).toHaveLength(36)
    const found = await failureOf(async (ctx) => {
      ctx.log('here')
      const performed = await ctx.effect('clock', {
        perform: async () => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          return { now: Date.now() > 0, random: Math.random() < 1 }
        }
      })
      return { performed, day: new Date(86_400_000).toISOString(), random: ctx.random() < 1 }
    })
    expect(found.data).toEqual({
      performed: { now: true, random: true },
      day: '1970-01-02T00:00:00.000Z',
      random: true
    })
  })

  it('K8: keeps 200 concurrent runs apart', async () => {
    const blocks = [
      defineBlock({
        name: 'code',
        version: '1.0.0',
        sideEffects: 'none',
        run: async (ctx, { bad }: { bad: boolean }) => {
          await ctx.effect('look', { perform: async () => Date.now() > 0 })
          return bad ? Date.now() : 'good'
        }
      })
    ]
    await using tally = await createRuntime({ location: 'memory:', create: 'if-absent', blocks })
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const run = tally.begin(document, { inputs: { bad: index % 3 === 0 } })
        return (await run.result).response.reason
      })
    )
    expect(results).toEqual(
      Array.from({ length: 200 }, (_, index) =>
        index % 3 === 0 ? 'determinism_violation' : undefined
      )
    )
  })

  it('K8: is installed once, and taken out leaves globals as they were', () => {
    const guarded = Date.now
    installTripwire()()
    expect(Date.now).toBe(guarded)
    takeOut()
    expect(Date.now).not.toBe(guarded)
    expect(Object.hasOwn(performance, 'now')).toBe(false)
    takeOut = installTripwire()
  })
})

describe('the watch of development (K8)', () => {
  it('K8: tells what a block touches with its line, once, and lets it continue', async () => {
    const found: TouchedOutside[] = []
    const takeOut = watchBlocks((touched) => found.push(touched))
    try {
      const code: Code = async (ctx) => {
        for (let times = 0; times < 3; times += 1) Math.random()
        await ctx.effect('outside', () => Math.random())
        return new Date().getFullYear() > 2_000
      }
      expect(await failureOf(code)).toMatchObject({ data: true })
    } finally {
      takeOut()
    }
    expect(found.map(({ api }) => api)).toEqual(['Math.random', 'new Date()'])
    for (const { line } of found) expect(line).toMatch(/tripwire\.test\.ts:\d+/)
  })

  it('K8: patches no global where NODE_ENV is not development', () => {
    const before = [Date, Math.random, globalThis.fetch]
    for (const environment of [{}, { NODE_ENV: 'production' }, { NODE_ENV: 'test' }]) {
      watchInDevelopment(environment)
      expect([Date, Math.random, globalThis.fetch]).toEqual(before)
    }
  })
})

/** Blocks that keep to `ctx`, in ways that a careless detector takes for more. */
import assert from 'node:assert'
import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { format, inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { defineBlock, EffectFailure } from '../../../../dist/src/code/index.js'

const block = (name, run) => defineBlock({ name, version: '1.0.0', sideEffects: 'none', run })

// While a module is loaded, its code is no block's.
const loadedAt = Date.now()
const instance = randomUUID()
process.stderr.write(`${loadedAt} ${instance} ${process.env['HOME']}`)
const rates = new Map([['eur', 2]])

export const pure = [
  block('context', async (ctx, { a }) => {
    ctx.state.set('n', (ctx.state.get('n') ?? 0) + a)
    return { at: ctx.now(), random: ctx.random(), uuid: ctx.uuid(), keys: await ctx.state.list('') }
  }),
  block('effect', async (ctx) => {
    const text = await ctx.effect('file.read', { perform: () => readFile('/etc/hosts', 'utf8') })
    return { text, time: await ctx.effect('time', () => Date.now()) }
  }),
  block('dates', (ctx) => {
    const date = new Date(ctx.now())
    const format = new Intl.DateTimeFormat('en', { timeZone: 'UTC', dateStyle: 'medium' })
    return [date.toISOString(), date.getUTCFullYear(), Date.UTC(2024, 1, 2), format.format(date)]
  }),
  block('pure_functions', (_ctx, input) => {
    const sorted = Object.keys(input).sort()
    const hash = createHash('sha256').update(sorted.join()).digest('hex')
    return { hash, path: join('a', '..', 'b'), rate: rates.get('eur'), upper: 'i'.toUpperCase() }
  }),
  block('microtasks', async (ctx) => {
    await new Promise((resolve) => queueMicrotask(resolve))
    const [one] = await Promise.all([Promise.resolve(1), ctx.uuid()])
    return Promise.race([one, 2])
  }),
  block('errors', async (ctx) => {
    try {
      await ctx.effect('bank', { request: {} })
    } catch (error) {
      return { reason: error instanceof EffectFailure ? error.reason : error.message }
    }
    return ctx.fail('expected')
  }),
  block('node_modules', () => {
    const dated = z.object({ at: z.coerce.date() }).parse({ at: '2024-01-01T00:00:00Z' })
    const texts = [
      inspect(dated),
      format('%s', 'a'),
      resolve('/a', 'b'),
      (1.5).toLocaleString('en')
    ]
    return [...texts, gzipSync('x').length, structuredClone({ a: 1 }), dated.at.toJSON()]
  }),
  block('errors_of_node', () => {
    class Own extends Error {
      constructor() {
        super('own')
        Error.captureStackTrace(this, Own)
      }
    }
    const tries = [() => assert.strictEqual(1, 2), () => Buffer.alloc('x'), () => JSON.parse('{')]
    const own = () => {
      throw new Own()
    }
    return [...tries, own].map((one) => {
      try {
        return one()
      } catch (error) {
        return error.message
      }
    })
  }),
  block('console', () => {
    console.log('shown', { a: 1 })
    console.error(new Error('shown'))
    return 1
  })
]

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BlockFailure, defineBlock, EffectFailure, type Request } from '../../src/code/index.js'
import { type Json, runtimeError } from '../../src/core/index.js'
import type { RunHandle } from '../../src/runtime/index.js'
import { cases, testMs } from '../support/effort.js'
import { Machine } from '../support/lives.js'

const RUNS = cases({ usual: 60, long: 82, soak: 2_000 })

const members = ['message', 'name', 'stack', 'cause', 'reason', 'details', 'definite', 'code']

/** An error whose given members throw, or are something else than they should be. */
function spoiled(error: object, spoils: readonly string[], how: 'throws' | 'odd'): object {
  // It is written when it is first touched, and reads the others.
  Reflect.get(error, 'stack')
  for (const key of spoils) {
    Object.defineProperty(error, key, {
      configurable: true,
      get: (): unknown => {
        if (how === 'odd') return { toString: null }
        throw trapped({})
      }
    })
  }
  return error
}

const traps = [
  'get',
  'has',
  'getPrototypeOf',
  'ownKeys',
  'getOwnPropertyDescriptor',
  'apply'
] as const

function trapped(target: object): object {
  const refuse = () => {
    throw trapped({})
  }
  return new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, refuse])))
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const loop: Record<string, unknown> = {}
loop['self'] = loop

const oddities: readonly (() => unknown)[] = [
  () => trapped({}),
  () => trapped(new Error('x')),
  () => trapped(new EffectFailure('x', { definite: true })),
  () => trapped(() => undefined),
  revoked,
  // It claims to have every mark that there is.
  () => new Proxy({}, { has: () => true, get: () => trapped({}) }),
  () => Object.create(null) as object,
  () => Object.create(Error.prototype) as object,
  () => undefined,
  () => null,
  () => 10n,
  () => Symbol('s'),
  () => () => undefined,
  () => 'text'.repeat(1_000_000),
  () => new Error('\ud800'.repeat(3_000_000)),
  () => new BlockFailure('r'.repeat(2_000_000), 'd'.repeat(2_000_000)),
  () => new BlockFailure('loop', loop as Json),
  () => new EffectFailure('loop', { details: loop as Json }),
  () => ({ toString: () => ({}), [Symbol.toPrimitive]: 5 })
]

const made = fc.constantFrom<() => object>(
  () => new Error('plain'),
  () => new TypeError('engine'),
  () => new BlockFailure('reason', { some: 'details' }),
  () => new EffectFailure('reason', { definite: true }),
  () => runtimeError('runtime.closed', {})
)
const hostile: fc.Arbitrary<() => unknown> = fc.oneof(
  fc.constantFrom(...oddities),
  fc.tuple(made, fc.subarray(members), fc.constantFrom('throws' as const, 'odd' as const)).map(
    ([make, spoils, how]) =>
      () =>
        spoiled(make(), spoils, how)
  )
)

const places = [
  'block',
  'block, later',
  'provider',
  'provider, later',
  'locate',
  'condition',
  'condition, later',
  'repair',
  'repair, later',
  'input schema',
  'output schema',
  'output schema, later',
  'result',
  'provider result',
  'log',
  'compensate'
] as const
type Where = (typeof places)[number]

/** Every kind of code of the caller, of which one throws. */
function hostileBlocks(where: Where, make: () => unknown) {
  const spring = (here: Where) => {
    if (where === here) throw make()
  }
  const later = async (here: Where) => spring(here)
  const anything = (here: Where) =>
    z.unknown().transform((value) => {
      spring(here)
      return value
    })
  const work = defineBlock({
    name: 'work',
    version: '1.0.0',
    sideEffects: 'idempotent',
    input: anything('input schema'),
    output: anything('output schema'),
    compensate: () => {
      spring('compensate')
      return null
    },
    run: (ctx): unknown => {
      spring('block')
      if (where === 'log') ctx.log('hostile', make() as Json)
      if (where === 'result') return make()
      return ctx
        .effect('act', {
          request: 1,
          perform: async (): Promise<Json> => {
            spring('provider')
            if (where === 'locate') throw new Error('ask')
            if (where === 'provider result') return [make()] as Json
            await null
            spring('provider, later')
            return 1
          },
          locate: () => {
            spring('locate')
            return { found: false, definite: false }
          }
        })
        .then(() => later('block, later'))
        .then(() => 1)
    }
  })
  const more = defineBlock({
    name: 'more',
    version: '1.0.0',
    sideEffects: 'none',
    output: anything('output schema, later'),
    run: async (ctx) => {
      await ctx.effect('look', { sideEffects: 'none', perform: () => 1 })
      return ctx.fail('always')
    }
  })
  return {
    blocks: [work, more],
    conditions: {
      yes: () => {
        if (where === 'condition, later') return later('condition, later') as unknown as boolean
        spring('condition')
        return true
      }
    },
    repairs: {
      mend: (request: Request) => {
        if (where === 'repair, later') return later('repair, later') as never
        spring('repair')
        return request
      }
    }
  }
}

function document(isAtomic: boolean): Json {
  return {
    schema: 'tally-composite/1',
    name: 'hostile',
    version: '1.0.0',
    entry_point: 'work',
    ...(isAtomic ? { atomic: true } : {}),
    nodes: {
      work: { block: 'work', recovery: [{ repair: 'mend' }], confirm: { when: 'yes' } },
      more: { block: 'more', recovery: [{ repair: 'mend' }] }
    },
    transitions: { work: [{ condition: 'yes', target: 'more' }] }
  }
}

describe('whatever the code of a caller throws or returns', () => {
  it(
    'L3: ends the run as data, and the ledger replays',
    async () => {
      const rejected: unknown[] = []
      const note = (reason: unknown) => void rejected.push(typeof reason)
      process.on('unhandledRejection', note)
      const where = fc.constantFrom(...places)
      await fc.assert(
        fc.asyncProperty(where, hostile, fc.boolean(), async (at, make, isAtomic) => {
          const runtime = await new Machine().open(hostileBlocks(at, make))
          const run = runtime.begin(document(isAtomic), { id: 'r', inputs: {} })
          await approveAll(run)
          const { status } = await run.result
          expect(status).toBe('failed')
          expect(runtime.run('r')?.status).toBe('failed')
          const { ok, failure } = await runtime.replay()
          expect({ ok, failure }).toEqual({ ok: true, failure: undefined })
          await runtime.close()
        }),
        { numRuns: RUNS }
      )
      process.off('unhandledRejection', note)
      expect(rejected).toEqual([])
    },
    testMs(200_000)
  )
})

async function approveAll(run: RunHandle): Promise<void> {
  for await (const event of run) {
    if (event.type !== 'waiting') continue
    const { token, digest, actions } = event
    if (actions.includes('approve')) await run.approve(token, { digest })
    else await run.resume(token, { digest, action: 'abort' })
  }
}

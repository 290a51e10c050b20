import type { Provider } from '../../src/block/index.js'
import { type Block, defineBlock, EffectFailure } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import type { Registrations } from '../../src/runtime/index.js'
import type { World } from './lives.js'
import { sequenceOf } from './node-sequence.js'
import { scenarioBlocks } from './scenario-blocks.js'

/** Blocks whose writes can be undone, the providers that undo them, and some that cannot. */
export function compensatedBlocks(world: World): Registrations {
  const { blocks = [] } = scenarioBlocks(world)
  return { blocks: [...blocks, ...reservingBlocks(world)], providers: undoingProviders(world) }
}

function reservingBlocks(world: World): readonly Block[] {
  const reserve = (name: string, options: Partial<Parameters<typeof defineBlock>[0]>) =>
    defineBlock({
      name,
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: async (ctx) => {
        const n = (ctx.state.get<number>('reserved') ?? 0) + 1
        const done = await ctx.effect('reserve', {
          request: { reserves: ctx.unitId },
          perform: (call) => world.act(call),
          locate: (call) => world.locate(call)
        })
        ctx.state.set('reserved', n)
        return { n, done }
      },
      ...options
    })
  return [
    reserve('reserve', {
      compensate: ({ request, response }) => ({
        effect: 'release',
        request: { releases: request, was: response },
        sideEffects: 'idempotent'
      })
    }),
    reserve('reserve-by-name', { compensate: 'cancel' }),
    reserve('reserve-stubborn', { compensate: 'stubborn' }),
    reserve('reserve-and-lose', { compensate: 'lose' }),
    reserve('reserve-for-good', { compensate: () => null }),
    // Its provider says how it is undone.
    reserve('charge', {
      capabilities: ['charge'],
      run: async (ctx) => ({
        done: await ctx.effect('charge', { request: { charges: ctx.unitId } })
      })
    }),
    // Acts, and fails after it: what it did is undone all the same.
    reserve('reserve-and-fail', {
      compensate: 'cancel',
      run: async (ctx) => {
        await ctx.effect('reserve', {
          request: { reserves: ctx.unitId },
          perform: (call) => world.act(call),
          locate: (call) => world.locate(call)
        })
        return ctx.fail('after_acting')
      }
    }),
    defineBlock({
      name: 'mail',
      version: '1.0.0',
      sideEffects: 'non_idempotent',
      run: (ctx, input) =>
        ctx.effect('mail', {
          request: { mails: ctx.unitId, to: input as Json },
          perform: (call) => world.act(call),
          locate: (call) => world.locate(call)
        })
    }),
    // Idempotent, and answers at its third attempt.
    defineBlock({
      name: 'mail-later',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: (ctx) =>
        ctx.effect('mail', {
          request: { mails: ctx.unitId },
          perform: (call) => {
            if (ctx.attempt < 3) throw new EffectFailure('not_yet', { definite: true })
            return world.actOnce(call)
          }
        })
    }),
    defineBlock({
      name: 'mail-never',
      version: '1.0.0',
      sideEffects: 'idempotent',
      run: (ctx) =>
        ctx.effect('mail', {
          request: { mails: ctx.unitId },
          perform: () => {
            throw new EffectFailure('no_such_address', { definite: true })
          }
        })
    })
  ]
}

function undoingProviders(world: World): readonly Provider[] {
  return [
    { name: 'release', perform: (call) => world.actOnce(call) },
    {
      name: 'charge',
      perform: (call) => world.act(call),
      locate: (call) => world.locate(call),
      compensate: ({ request, response }) => ({
        effect: 'release',
        request: { refunds: request, was: response },
        sideEffects: 'idempotent'
      })
    },
    {
      name: 'cancel',
      perform: (call) => world.act(call),
      locate: (call) => world.locate(call)
    },
    // Acts, and loses the answer.
    {
      name: 'lose',
      perform: (call) => {
        world.act(call)
        throw new EffectFailure('gone')
      }
    },
    {
      name: 'stubborn',
      perform: () => {
        throw new EffectFailure('too_late', { definite: true })
      }
    }
  ]
}

function document(fields: Readonly<Record<string, Json>>): Json {
  return { schema: 'tally-composite/1', name: 'trip', version: '1.0.0', ...fields }
}

const block = (name: string, more: Readonly<Record<string, Json>> = {}): Json => ({
  block: name,
  ...more
})
const atomic = (
  nodes: Readonly<Record<string, Json>>,
  more: Readonly<Record<string, Json>> = {}
): Json => ({
  composite: { atomic: true, ...sequenceOf(nodes) },
  ...more
})

/** Atomic composites that act outside, by what becomes of them. */
export const compensationDocuments: Readonly<Record<string, Json>> = {
  'two writes that are undone': document(
    sequenceOf({
      trip: atomic({
        hotel: block('reserve'),
        flight: block('reserve-by-name'),
        rest: block('ask'),
        fails: block('boom')
      })
    })
  ),
  'a write that its provider undoes': document(
    sequenceOf({ trip: atomic({ card: block('charge'), fails: block('boom') }) })
  ),
  'a step that fails after its write': document(
    sequenceOf({
      trip: atomic(
        { hotel: block('reserve'), flight: block('reserve-and-fail') },
        { on_error: 'ask' }
      ),
      after: block('count')
    })
  ),
  'a rollback that is tried again': document(
    sequenceOf({
      trip: atomic(
        { hotel: block('reserve'), fails: block('boom') },
        { recovery: [{ retry: { max_attempts: 2, interval_ms: 3_000 } }], on_error: 'ask' }
      ),
      after: block('count')
    })
  ),
  'compensations that fail or are not known': document(
    sequenceOf({
      trip: atomic({
        hotel: block('reserve'),
        flight: block('reserve-stubborn'),
        visa: block('reserve-for-good'),
        fails: block('boom')
      })
    })
  ),
  'a compensation with an unknown outcome': document(
    sequenceOf({
      trip: atomic(
        {
          hotel: block('reserve'),
          flight: block('reserve-and-lose'),
          fails: block('boom')
        },
        { recovery: [{ retry: { max_attempts: 2, interval_ms: 3_000 } }] }
      )
    })
  ),
  'an inner rollback inside a commit': document(
    sequenceOf({
      trip: atomic({
        car: block('reserve'),
        inner: atomic(
          { hotel: block('reserve-by-name'), fails: block('boom') },
          { on_error: 'ask' }
        ),
        last: block('count')
      })
    })
  ),
  'a rollback of what an inner one has committed': document(
    sequenceOf({
      trip: atomic({
        inner: atomic({ hotel: block('reserve'), flight: block('reserve-by-name') }),
        fails: block('boom')
      })
    })
  ),
  'deferred steps': document(
    sequenceOf({
      trip: atomic({
        hotel: block('reserve'),
        letter: block('mail', { deferred: true }),
        inner: atomic({
          card: block('mail', { deferred: true, confirm: true }),
          count: block('count')
        }),
        last: block('count')
      }),
      after: block('count')
    })
  ),
  'a deferred step with retries': document(
    sequenceOf({
      trip: atomic({
        count: block('count'),
        letter: block('mail-later', {
          deferred: true,
          recovery: [{ retry: { max_attempts: 3, interval_ms: 2_000 } }]
        })
      }),
      after: block('count')
    })
  ),
  'a deferred step that is never done': document(
    sequenceOf({
      trip: atomic({
        letter: block('mail-never', { deferred: true }),
        other: block('mail', { deferred: true }),
        count: block('count')
      }),
      after: block('count')
    })
  )
}

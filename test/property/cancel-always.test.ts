import { describe, expect, it } from 'vitest'
import { type Block, defineBlock } from '../../src/code/index.js'
import type { Json, JsonObject, RunId } from '../../src/core/index.js'
import { openMemoryStore } from '../../src/ledger/index.js'
import type { Registrations, WiredRuntime } from '../../src/runtime/index.js'
import { isTaken } from '../support/effort.js'
import { lasting } from '../support/lasting-store.js'
import { openOn, until } from '../support/lives.js'
import { sequenceDocument, sequenceOf } from '../support/node-sequence.js'
import { expectVerifyFailure } from '../support/verified-close.js'

/**
 * A run can be cancelled whatever has become of its code: also where what it does was computed, so
 * that nothing pins it and its absence shows only when the run is resumed (K10).
 */

const RUN = 'visit' as RunId

/** Acts, then asks; `says` is what it asks the world for. */
const asking = (version = '1.0.0', says = 'seen'): Block =>
  defineBlock({
    name: 'target',
    version,
    sideEffects: 'none',
    intents: ['target'],
    run: async (ctx) => {
      await ctx.effect('note', { request: says })
      return (await ctx.wait({ reason: 'external', request: `${says}?` })).value
    }
  })
const first = (version = '1.0.0', action = 'target.open'): Block =>
  defineBlock({ name: 'first', version, sideEffects: 'none', run: () => ({ action }) })

const registrations = (...blocks: readonly Block[]): Registrations => ({
  blocks,
  providers: [{ name: 'note', perform: () => 'noted' }]
})
const whole = registrations(first(), asking())

const OTHERWISE = 'what computes it, which says otherwise'

/** What a process has that is to cancel the run. */
const losses: Readonly<Record<string, Registrations>> = {
  nothing: whole,
  'all code': registrations(),
  'what is done': registrations(first()),
  'what computes it': registrations(asking()),
  'the version of what is done': registrations(first(), asking('2.0.0')),
  'the version of what computes it': registrations(first('2.0.0'), asking()),
  'what is done, which asks otherwise': registrations(first(), asking('1.0.0', 'heard')),
  [OTHERWISE]: registrations(first('1.0.0', 'other.open'), asking())
}

const actions: Readonly<Record<string, Json>> = {
  written: { lit: 'target.open' },
  computed: { cel: '"target." + "open"' },
  'computed from a response': { ref: 'nodes.k.response.data.action' }
}

const places: Readonly<Record<string, (node: JsonObject) => Json>> = {
  node: (node) => sequenceDocument({ k: { block: 'first' }, a: node }, 'office'),
  'an inner composite': (node) =>
    sequenceDocument(
      { o: { composite: sequenceOf({ k: { block: 'first' }, a: node }) } },
      'office'
    ),
  'an atomic composite': (node) =>
    sequenceDocument(
      { o: { composite: sequenceOf({ k: { block: 'first' }, a: node }, { atomic: true }) } },
      'office'
    ),
  'a plan': (node) => ({
    schema: 'tally-plan/1',
    name: 'office',
    version: '1.0.0',
    nodes: [
      { id: 'k', block: 'first' },
      { id: 'a', deps: ['k'], ...node }
    ]
  })
}

const table = Object.keys(places).flatMap((place) =>
  Object.keys(actions).flatMap((action) =>
    Object.keys(losses).flatMap((loss) => [
      { place, action, loss, isAnswered: false },
      { place, action, loss, isAnswered: true }
    ])
  )
)

describe('K10: a run is cancelled whatever has become of its code', () => {
  it.each(table.filter((_, at) => isTaken(at, 11)))(
    'in $place, an action that is $action; lost: $loss; answered: $isAnswered',
    async ({ place, action, loss, isAnswered }) => {
      const code = losses[loss] ?? {}
      // Its receipt is executed again when the ledger is closed.
      if (loss === OTHERWISE) expectVerifyFailure('journal.response')
      const store = openMemoryStore()
      const kept = lasting(store)
      const open = (given: Registrations) => openOn(kept, { ...given, durability: 'step' })
      const tally = await open(whole)
      const node = { block: 'intent.none', input: { object: { action: actions[action] ?? null } } }
      const run = tally.begin(places[place]?.(node) ?? null, { id: RUN })
      run.result.catch(() => undefined)
      await until(async () => (await run.waits()).length > 0)
      await until(() => tally.ledger.run(RUN)?.status === 'waiting')
      await tally.close()

      const without = await open(code)
      if (isAnswered) await answerAll(without)
      const handle = await without.attach(RUN)
      await handle.cancel('enough')
      // One that was answered may have come to its end before.
      const { status } = await handle.result
      expect(isAnswered ? ['cancelled', 'done'] : ['cancelled']).toContain(status)
      expect(without.ledger.run(RUN)?.status).toBe(status)
      await without.close()

      const again = await open(whole)
      await expect((await again.attach(RUN)).result).resolves.toMatchObject({ status })
      expect((await again.verify()).failure).toBeUndefined()
      await again.close()
      await store.close()
    }
  )
})

/** What a person may have tried before. */
async function answerAll(tally: WiredRuntime): Promise<void> {
  const handle = await tally.attach(RUN)
  for (const { token, digest } of await handle.waits()) {
    await handle.resume(token, { digest, value: null }).catch(() => undefined)
  }
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTallyError, type Json, type JsonObject, type RunId } from '../../src/core/index.js'
import { encodePlace, placeOf } from '../../src/runtime/queries/run-index.js'
import { serve } from '../../src/runtime/service/service.js'
import { cases } from '../support/effort.js'
import { entry, newLedger } from '../unit/ledger/core/support.js'
import '../support/seed.js'

/**
 * What an agent hears of a ledger is what it would hear if all that it may not see were not there:
 * lists, their pages, and refusals of cursors, whatever it asks for.
 */

const AGENT = 'walker'
/** Ids of others, which an agent could spell out if a list told whether they match. */
const texts = ['salary', 'salt', 'sale', 'pay'] as const
const owners = [null, 'owner', 'other', AGENT] as const
const reasons = ['confirmation', 'external', 'permission', 'decision'] as const

interface Made {
  readonly id: string
  readonly name: string
  readonly at: number
  readonly by: (typeof owners)[number]
  readonly wait: (typeof reasons)[number] | null
}
interface Asked {
  readonly method: 'find' | 'waits'
  readonly params: JsonObject
}

const run = fc.record({
  text: fc.constantFrom(...texts),
  name: fc.constantFrom('ship', 'bill'),
  at: fc.integer({ min: 0, max: 4 }),
  by: fc.constantFrom(...owners),
  wait: fc.option(fc.constantFrom(...reasons))
})
const runs = fc
  .array(run, { minLength: 1, maxLength: 24 })
  .map((made) =>
    made.map(({ text, ...rest }, place): Made => ({ ...rest, id: `${text}-${place}` }))
  )
const page = { limit: fc.integer({ min: 1, max: 3 }) }
const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({
    method: fc.constant('find' as const),
    params: fc.record(
      {
        text: fc.constantFrom('s', 'sal', 'sala', 'y-1', 'bill'),
        name: fc.constantFrom('ship', 'bill'),
        status: fc.constantFrom('running', 'waiting', 'done'),
        since: fc.integer({ min: 0, max: 4 }),
        until: fc.integer({ min: 1, max: 5 }),
        ...page
      },
      { requiredKeys: ['limit'] }
    )
  }),
  fc.record({ method: fc.constant('waits' as const), params: fc.record(page) })
)

const principalOf = (by: Made['by']): JsonObject =>
  by === null ? {} : { principal: { kind: by === 'owner' ? 'owner' : 'agent', id: by } }

async function ledgerWith(made: readonly Made[]) {
  const { ledger } = await newLedger()
  for (const { id, name, at, by, wait } of made) {
    const started = { k: 'run.started', status: 'running', name, at, ...principalOf(by) }
    const open = { token: `of-${id}`, reason: wait, digest: 'd', actions: ['approve'], due: null }
    const waiting = { k: 'run.waiting', status: 'waiting', waits: [open], due: null }
    const entries = [
      entry(id, 0, started),
      ...(wait === null ? [] : [entry(id, 1, waiting as never)])
    ]
    const appended = ledger.append({ runId: id as RunId, entries })
    if (!appended.ok) throw new Error('it takes everything')
    await ledger.durable(appended.position)
  }
  const refuse = () => Promise.reject(new Error('not asked for'))
  const service = serve({ ledger, location: 'memory:', verify: refuse, exports: refuse })
  const { signal } = new AbortController()
  const hear = async ({ method, params }: Asked): Promise<Json> => {
    try {
      return await (service({
        method,
        params: { ...params, agent: AGENT },
        signal
      }) as Promise<Json>)
    } catch (error) {
      if (isTallyError(error)) return error.code
      throw error
    }
  }
  return { ledger, hear }
}

/** Everything that an agent hears when it follows a list to its end. */
async function heard(hear: (asked: Asked) => Promise<Json>, { method, params }: Asked) {
  const pages: Json[] = []
  for (let cursor: Json | undefined; cursor !== null && pages.length < 40; ) {
    const given = cursor === undefined ? params : { ...params, cursor }
    const said = await hear({ method, params: given })
    pages.push(said)
    cursor = typeof said === 'string' ? null : ((said as JsonObject)['next'] ?? null)
  }
  return pages
}

/** As the page of security says it: its own runs, and where it answers what it may answer. */
const isSeen = ({ by, wait }: Made, method: Asked['method']) =>
  by === AGENT || (method === 'waits' && (wait === 'confirmation' || wait === 'external'))

describe('what an agent hears of runs', () => {
  it.each(['find', 'waits'] as const)(
    'Q5: by %s is what it would hear without those that it may not see',
    async (method) => {
      let shown = 0
      const property = fc.asyncProperty(
        runs,
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        async (made, questions) => {
          const [whole, own] = [
            await ledgerWith(made),
            await ledgerWith(made.filter((one) => isSeen(one, method)))
          ]
          for (const question of questions.filter((one) => one.method === method)) {
            const said = await heard(whole.hear, question)
            expect(said).toEqual(await heard(own.hear, question))
            shown += said.length
          }
          // A place that it has made up itself, of a run whose id and time it guesses.
          for (const { id, at } of made) {
            const cursor = encodePlace(placeOf({ id: id as RunId, at }))
            const question = { method, params: { limit: 1, cursor } }
            expect(await whole.hear(question)).toEqual(await own.hear(question))
          }
          await whole.ledger.close()
          await own.ledger.close()
        }
      )
      await fc.assert(property, { numRuns: cases({ usual: 8, long: 41, soak: 3_000 }) })
      expect(shown).toBeGreaterThan(5)
    }
  )
})

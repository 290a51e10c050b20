import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure, type SideEffectClass } from '../../../../src/code/index.js'
import {
  isTallyError,
  type Json,
  type JsonObject,
  systemRandom
} from '../../../../src/core/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../../../src/runtime/index.js'
import { openOn } from '../../../support/lives.js'
import { counterPackage, PackageFolder } from '../../../support/packages.js'
import { type Asked, classes, grantsFor, roads, roadsOf } from '../../../support/roads.js'

/** K14: every road to an effect x who goes it x what the effect may do outside. */

let tally: WiredRuntime
let done: string[]
/** What happens while the block `book` waits for its first answer. */
let beforeAnswer: (() => Promise<void>) | undefined
beforeEach(async () => {
  done = []
  const registrations = roadsOf((effect) => done.push(effect))
  tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    ...registrations,
    blocks: [...(registrations.blocks ?? []), waitsThenPays(), books(), waitsThenRefuses()]
  })
})
afterEach(() => tally.close())

function waitsThenPays() {
  return defineBlock({
    name: 'pay',
    version: '1',
    sideEffects: 'non_idempotent',
    capabilities: ['bank.pay'],
    run: async (ctx) => {
      await ctx.wait({ reason: 'external' })
      return ctx.effect('bank.pay', {
        perform: () => {
          done.push('paid')
          return 'paid'
        }
      })
    }
  })
}

function waitsThenRefuses() {
  return defineBlock({
    name: 'refuse.later',
    version: '1',
    sideEffects: 'none',
    run: async (ctx) => {
      await ctx.wait({ reason: 'external' })
      return ctx.fail('refused')
    }
  })
}

/** Books once its first answer was lost. */
function books() {
  return defineBlock({
    name: 'book',
    version: '1',
    sideEffects: 'idempotent',
    run: (ctx) =>
      ctx.effect('bank.book', {
        perform: async () => {
          const before = beforeAnswer
          beforeAnswer = undefined
          await before?.()
          done.push('booked')
          return 'booked'
        }
      })
  })
}

const { signal } = new AbortController()

/** Goes a road to its end; gives how it ended in one word. */
async function went(asked: Asked, id: string, agent?: string): Promise<string> {
  const by = agent === undefined ? {} : { agent }
  if ('intent' in asked) {
    const params = { ...asked.intent, ...by, id } as JsonObject
    const reply = (await tally.service({ method: 'intent', params, signal })) as JsonObject
    return String(reply['type'] === 'error' ? reply['reason'] : reply['type'])
  }
  const { document, isPublished } = asked
  const what = isPublished ? { published: 'road' } : { document: JSON.stringify(document) }
  const params = { ...what, id, ...by }
  try {
    const events = tally.service({ method: 'run', params, signal }) as AsyncIterable<Json>
    let last: Json = null
    for await (const event of events) last = event
    return String((last as JsonObject)['status'] ?? (last as JsonObject)['type'])
  } catch (error) {
    if (isTallyError(error)) return error.code
    throw error
  }
}

async function published(asked: Asked): Promise<void> {
  if (!('isPublished' in asked)) return
  const payload = { document: asked.document, name: 'road' }
  expect(await tally.intent({ action: 'system.publish', payload })).toMatchObject({ type: 'dapp' })
}

async function change(action: 'grant' | 'revoke', agent: string, words: readonly string[]) {
  const [subject = '', ...capabilities] = words
  const named = capabilities.length === 0 ? {} : { capabilities }
  const payload = { principal: { kind: 'agent', id: agent }, subject, ...named }
  return tally.intent({ action: `system.${action}`, payload })
}

async function runsWithin(): Promise<number> {
  let count = 0
  for await (const { started } of tally.runs()) {
    if (JSON.stringify(started['principal']).includes('agent')) count += 1
  }
  return count
}

const isWrite = (sideEffects: SideEffectClass) => sideEffects !== 'none'
const cells = roads.flatMap((road) =>
  classes.map((sideEffects) => ({ road, sideEffects, name: road.name }))
)

describe('a road to an effect', () => {
  it.each(cells)(
    'K14: $name lets through only the owner and who is granted: $sideEffects',
    async ({ road, sideEffects }) => {
      const asked = road.asked(sideEffects)
      const { done: expected = ['act'] } = road
      await published(asked)
      const undone = isWrite(sideEffects) ? expected : expected.filter((one) => one !== 'undo')

      const stranger = await went(asked, 'stranger', 'stranger')
      expect(stranger).toMatch(/not_permitted$|^failed$/)
      expect(done).toEqual([])

      const owned = await went(asked, 'owner')
      expect(done).toEqual(undone)

      for (const words of grantsFor(road, sideEffects)) {
        expect(await change('grant', 'worker', words)).toMatchObject({ type: 'dapp' })
      }
      done.length = 0
      expect(await went(asked, 'granted', 'worker')).toBe(owned)
      expect(done).toEqual(undone)
      // Another agent's grant is none of one's own.
      expect(await went(asked, 'stranger-2', 'stranger')).toMatch(/not_permitted$|^failed$/)

      done.length = 0
      for (const [subject] of grantsFor(road, sideEffects))
        await change('revoke', 'worker', [subject])
      expect(await went(asked, 'revoked', 'worker')).toMatch(/not_permitted$|^failed$/)
      expect(done).toEqual([])
      expect((await tally.replay()).failure).toBeUndefined()
    }
  )

  it.each(roads.filter(({ name }) => name !== 'an intent that a step computes'))(
    'K14: $name that is refused leaves nothing, and goes after the grant under the same id',
    async (road) => {
      const asked = road.asked('idempotent')
      await published(asked)
      const before = tally.status().receipts
      expect(await went(asked, 'same', 'worker')).toMatch(/not_permitted$/)
      expect(await runsWithin()).toBe(0)
      expect(tally.status().receipts).toBe(before)
      for (const words of grantsFor(road, 'idempotent')) await change('grant', 'worker', words)
      expect(await went(asked, 'same', 'worker')).not.toMatch(/not_permitted$/)
      expect(done).toEqual(road.done ?? ['act'])
    }
  )
})

describe('a package', () => {
  it('K14: does for an agent what the owner has granted to both, and to the agent itself', async () => {
    const folder = await PackageFolder.create()
    const location = MEMORY_LOCATION
    const packages = [await folder.write(counterPackage)]
    const own = await createRuntime({ location, create: 'if-absent', packages })
    const ask = (id: string) =>
      own.intents.submit({ id, action: 'count.up' }, { kind: 'agent', id: 'worker' })
    const grant = (payload: JsonObject) => own.intent({ action: 'system.grant', payload })
    const toAgent = { principal: { kind: 'agent', id: 'worker' }, subject: 'counter' }

    expect(await ask('one')).toMatchObject({ type: 'error', reason: 'not_permitted' })
    expect(await grant(toAgent)).toMatchObject({
      changed: ['counter', 'storage.read', 'storage.write']
    })
    expect(await ask('one')).toMatchObject({ type: 'permission_request', dappId: 'counter' })
    const capabilities = ['storage.read', 'storage.write']
    await grant({ package: 'counter', capabilities })
    expect(await own.result('one')).toMatchObject({ type: 'dapp', count: 1 })
    expect(await ask('two')).toMatchObject({ type: 'dapp', count: 2 })
    await own.intent({ action: 'system.revoke', payload: toAgent })
    expect(await ask('three')).toMatchObject({ type: 'error', reason: 'not_permitted' })
    expect((await own.replay()).failure).toBeUndefined()
    await own.close()
    await folder.remove()
  })
})

describe('a grant to an agent', () => {
  const paying = {
    schema: 'tally-composite/1',
    name: 'paying',
    version: '1',
    entry_point: 'one',
    nodes: { one: { block: 'pay' } }
  }

  it('K14: that is taken back while the run waits keeps its effect from being sent', async () => {
    const sent: string[] = []
    await tally.close()
    tally = await openOn(openMemoryStore(), {
      blocks: [waitsThenPays()],
      random: systemRandom,
      outside: ({ call }) => {
        sent.push(call.effect)
        return undefined
      }
    })
    expect(await change('grant', 'worker', ['pay'])).toMatchObject({
      changed: ['bank.pay', 'pay']
    })
    expect(await went({ document: paying }, 'waits', 'worker')).toBe('run.parked')
    await change('revoke', 'worker', ['pay', 'bank.pay'])
    const run = await tally.attach('waits')
    const [wait] = await run.waits()
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '' })
    const { status, response } = await run.result
    expect(status).toBe('failed')
    expect(response).toMatchObject({
      reason: 'not_permitted',
      details: { capability: 'bank.pay', code: 'pay' }
    })
    expect([done, sent]).toEqual([[], []])
    const report = await tally.replay()
    expect(report).toMatchObject({ ok: true, complete: true })
  })

  it('K14: that is taken back after a write has landed lets it be undone', async () => {
    const nodes = { one: { block: 'act.idempotent' }, two: { block: 'refuse.later' } }
    const transitions = { one: 'two' }
    const document = { ...paying, atomic: true, nodes, transitions }
    const words = [['act.idempotent'], ['refuse.later']] as const
    for (const granted of words) await change('grant', 'worker', granted)
    expect(await went({ document }, 'lands', 'worker')).toBe('run.parked')
    expect(done).toEqual(['act'])
    for (const granted of words) await change('revoke', 'worker', granted)
    const run = await tally.attach('lands')
    const [wait] = await run.waits()
    await run.resume(wait?.token ?? '', { digest: wait?.digest ?? '' })
    expect(await run.result).toMatchObject({ status: 'failed' })
    expect(done).toEqual(['act', 'undo'])
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('K14: that is taken back while a write is on its way lets it be finished', async () => {
    beforeAnswer = async () => {
      await change('revoke', 'worker', ['book'])
      throw new EffectFailure('connection_lost', { definite: false })
    }
    const nodes = { one: { block: 'book', recovery: [{ retry: { max_attempts: 2 } }] } }
    await change('grant', 'worker', ['book'])
    expect(await went({ document: { ...paying, nodes } }, 'sent', 'worker')).toBe('done')
    expect(done).toEqual(['booked'])
    expect(await went({ document: { ...paying, nodes } }, 'later', 'worker')).toMatch(
      /not_permitted$/
    )
    expect(await tally.replay()).toMatchObject({ ok: true, complete: true })
  })

  it('K14: says what is missing, of which code, and how the owner grants it', async () => {
    const reply = await tally.intents.submit(
      { action: 'act.idempotent' },
      { kind: 'agent', id: 'worker' }
    )
    const codeHash = tally.registry.block('act.idempotent')?.codeHash
    expect(reply).toMatchObject({
      type: 'error',
      reason: 'not_permitted',
      details: {
        capability: 'act.idempotent',
        codeHash,
        fix: 'As the owner: "tally grant --agent worker act.idempotent@1".'
      }
    })
  })

  it('K14: is shown with who may use what, and needs the owner', async () => {
    await change('grant', 'worker', ['act.idempotent'])
    const shown = await tally.intent({ action: 'system.permissions' })
    const codeHash = tally.registry.block('act.idempotent')?.codeHash
    expect(shown).toMatchObject({
      principals: [
        {
          principal: { kind: 'agent', id: 'worker' },
          subject: 'act.idempotent@1',
          codeHash,
          capability: 'act.idempotent',
          by: { kind: 'owner' }
        },
        { capability: 'undo' }
      ]
    })
    const principal = { kind: 'agent', id: 'worker' }
    const payload = { principal, codeHash: codeHash ?? '', capabilities: ['act.idempotent'] }
    for (const by of [principal, { kind: 'peer', id: 'p' }]) {
      const refused = await tally.intents.submit({ action: 'system.grant', payload }, by)
      expect(refused).toMatchObject({ type: 'error', reason: 'not_permitted' })
    }
  })

  it('K14: names the tools of a flow in the command that it says', async () => {
    const road = roads.find(({ name }) => name === 'a tool of an agent in a flow')
    const asked = road?.asked('none')
    if (asked === undefined || 'intent' in asked) throw new Error('there is no such road')
    const params = { document: JSON.stringify(asked.document), id: 'tools', agent: 'worker' }
    const events = tally.service({ method: 'run', params, signal }) as AsyncIterable<Json>
    const refused = await (async () => {
      for await (const _ of events);
    })().catch((error: unknown) => error)
    expect(isTallyError(refused) ? refused.fix : refused).toMatch(
      /^As the owner: "tally grant --agent worker agent\.turn@\S+ agent\.turn \S+fake \S+act"\.$/
    )
  })

  it.each([
    ['nothing.here', [], 'unknown_code'],
    ['pay', ['bank.refund'], 'unknown_capability']
  ])('K14: is refused for %s %s', async (subject, capabilities, reason) => {
    expect(await change('grant', 'worker', [subject, ...capabilities])).toMatchObject({
      type: 'error',
      reason
    })
  })

  it('K13: makes no run of another its own: the id is taken', async () => {
    const asked = { document: paying }
    await change('grant', 'worker', ['pay'])
    expect(await went(asked, 'owners')).toBe('run.parked')
    expect(await went(asked, 'owners', 'worker')).toBe('run.id_reused')
    expect(await went(asked, 'workers', 'worker')).toBe('run.parked')
    expect(await went(asked, 'workers')).toBe('run.id_reused')
    expect(await went(asked, 'workers', 'worker')).toBe('run.parked')
  })
})

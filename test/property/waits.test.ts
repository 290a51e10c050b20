import { describe, expect, it } from 'vitest'
import type { OpenWait } from '../../src/block/index.js'
import { defineBlock } from '../../src/code/index.js'
import type { Json, JsonObject, RunId } from '../../src/core/index.js'
import {
  commandIn,
  type Registrations,
  type RunHandle,
  type WiredRuntime
} from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'
import { codeOf, Machine, openOn, settleDown, until } from '../support/lives.js'

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx, input: { readonly timeoutMs?: number }) => {
    const { timeoutMs } = input
    const { action, value } = await ctx.wait({
      reason: 'confirmation',
      request: { text: 'go on?' },
      ...(timeoutMs === undefined ? {} : { timeoutMs })
    })
    return { action, value }
  }
})

const nap = defineBlock({
  name: 'nap',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    await ctx.sleep(3_600_000)
    return { slept: true }
  }
})

const count = defineBlock({
  name: 'count',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => {
    const n = (ctx.state.get<number>('n') ?? 0) + 1
    ctx.state.set('n', n)
    return { n }
  }
})

const boom = defineBlock({
  name: 'boom',
  version: '1.0.0',
  sideEffects: 'none',
  run: (ctx) => ctx.fail('boom')
})

const registrations: Registrations = { blocks: [ask, nap, count, boom] }

function one(node: Readonly<Record<string, Json>>): Json {
  return {
    schema: 'tally-composite/1',
    name: 'one',
    version: '1.0.0',
    entry_point: 'a',
    nodes: { a: node },
    transitions: {}
  }
}

/** Ready for a message: the wait is reported, and the run is parked. */
async function waiting(runtime: WiredRuntime, run: RunHandle): Promise<OpenWait> {
  await until(() => runtime.ledger.run(run.id)?.status === 'waiting')
  await settleDown(() => runtime.ledger.backlog().items)
  const [wait] = await run.waits()
  if (wait === undefined) throw new Error('it waits for nothing')
  return wait
}

/** Lets time pass; a run that is resumed for it arms its own timers again. */
async function elapse(machine: Machine, runtime: WiredRuntime, ms: number): Promise<void> {
  machine.clock.advance(ms)
  for (let round = 0; round < 3; round += 1) {
    await settleDown(() => runtime.ledger.run('r' as RunId)?.entries)
    machine.clock.advance(0)
  }
}

async function begun(document: Json, inputs: Json = {}) {
  const machine = new Machine()
  const runtime = await machine.open(registrations)
  const run = runtime.begin(document, { id: 'r', inputs })
  return { machine, runtime, run }
}

describe('answers to waits', () => {
  it('B3: a wrong token, digest or action changes nothing; a used one is refused', async () => {
    const { runtime, run } = await begun(one({ block: 'ask' }))
    const wait = await waiting(runtime, run)
    const { token, digest } = wait
    const entries = () => runtime.ledger.run('r' as RunId)?.entries
    const refused = async (given: Promise<unknown>, reason: string) => {
      expect(await given).toEqual({ accepted: false, reason })
      await until(() => runtime.ledger.run('r' as RunId)?.status === 'waiting')
    }
    await refused(run.approve('0'.repeat(32), { digest }), 'unknown_token')
    await refused(run.approve(token, { digest: '0'.repeat(64) }), 'digest_mismatch')
    await refused(run.resume(token, { digest, action: 'skip' }), 'action_not_allowed')
    expect(entries()).toBeGreaterThan(0)
    expect(await run.approve(token, { digest, value: { ok: 1 } })).toEqual({ accepted: true })
    expect((await run.result).response.data).toEqual({ action: 'approve', value: { ok: 1 } })
    expect(await run.approve(token, { digest })).toEqual({
      accepted: false,
      reason: 'unknown_token'
    })
    await runtime.close()
  })

  it('W10: a command with an id counts once, wherever the process dies under it', async () => {
    const two = {
      ...(one({ block: 'ask' }) as JsonObject),
      nodes: { a: { block: 'ask' }, b: { block: 'ask' } },
      transitions: { a: 'b' }
    }
    let deaths = 0
    for (let dieAt = 1; ; dieAt += 1) {
      const machine = new Machine(dieAt)
      const before = await machine.open(registrations)
      const begun = before.begin(two, { id: 'r', inputs: {} })
      const { token, digest } = await waiting(before, begun)
      await before.close()
      const command = { digest, commandId: 'c', value: { ok: 1 } }
      const { life, store } = machine.begin(dieAt)
      const clock = life.clock(machine.clock)
      const dying = await openOn(store, { ...registrations, clock }).catch(() => undefined)
      let first: unknown
      const given = async () => (await dying?.resume('r'))?.approve(token, command)
      given().then(
        (outcome) => {
          first = outcome
        },
        () => undefined
      )
      await until(() => life.isDead || first !== undefined)
      if (!life.isDead) await dying?.close().catch(() => undefined)
      if (life.isDead) deaths += 1
      const after = await machine.open(registrations)
      const run = await after.resume('r')
      const again = await run.approve(token, command)
      // A caller that got the first gets the same; one that did not may learn that it counted.
      if (first !== undefined) expect(again).toEqual({ accepted: true, repeated: true })
      expect(again).toMatchObject({ accepted: true })
      expect(await run.approve(token, command)).toEqual({ accepted: true, repeated: true })
      const next = await waiting(after, run)
      expect(next.path).toBe('root/b')
      const entries: Json[] = []
      for await (const { value } of after.journal('r')) entries.push(value)
      const commands = entries.flatMap((entry) => commandIn(entry) ?? [])
      expect(commands).toMatchObject([{ commandId: 'c', action: 'approve', value: { ok: 1 } }])
      await after.close()
      if (!life.isDead) break
    }
    expect(deaths).toBeGreaterThan(2)
  })

  it('B3: of approve and deny at the same time, one is accepted', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { runtime, run } = await begun(one({ block: 'ask' }))
      const { token, digest } = await waiting(runtime, run)
      const outcomes = await Promise.all(
        round % 2 === 0
          ? [run.approve(token, { digest }), run.deny(token, { digest })]
          : [run.deny(token, { digest }), run.approve(token, { digest })]
      )
      expect(outcomes.map(({ accepted }) => accepted)).toEqual([true, false])
      const { action } = (await run.result).response.data as { readonly action: string }
      expect(action).toBe(round % 2 === 0 ? 'approve' : 'deny')
      await runtime.close()
    }
  })

  it('B3: an answer that races with parking is taken whenever it comes', async () => {
    for (let turns = 0; turns < 25; turns += 1) {
      const { runtime, run } = await begun(one({ block: 'ask' }))
      let wait: OpenWait | undefined
      for await (const event of run) {
        if (event.type !== 'waiting') continue
        wait = event
        break
      }
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
      if (wait === undefined) throw new Error('it was not told')
      expect(await run.approve(wait.token, { digest: wait.digest })).toEqual({ accepted: true })
      expect((await run.result).status).toBe('done')
      await runtime.close()
    }
  })

  it('B3: an answer during resume, and one after a crash, is taken once', async () => {
    const { machine, runtime, run } = await begun(one({ block: 'ask' }))
    const { token, digest } = await waiting(runtime, run)
    machine.disk.crash('power')
    const again = await machine.open(registrations)
    const taken = await again.attach('r')
    const resuming = again.resume('r')
    const outcomes = await Promise.all([
      taken.approve(token, { digest }),
      taken.approve(token, { digest })
    ])
    expect(outcomes.filter(({ accepted }) => accepted)).toHaveLength(1)
    expect((await (await resuming).result).status).toBe('done')
    await again.close()
  })

  it('L3, D2: an answer whose entry cannot be written rejects, and never hangs', async () => {
    for (const fault of ['sync_failed', 'disk_full'] as const) {
      const { machine, runtime, run } = await begun(one({ block: 'ask' }))
      const { token, digest } = await waiting(runtime, run)
      machine.disk.failCommits({ after: 0, times: 1, fault })
      const outcome = codeOf(run.approve(token, { digest }))
      const result = codeOf(run.result)
      expect(await outcome).toBe('ledger.poisoned')
      expect(await result).toBe('ledger.poisoned')
      await runtime.close().catch(() => undefined)
    }
  })

  it('D2: cancel resolves when it is durable, and rejects when it cannot be', async () => {
    const { machine, runtime, run } = await begun(one({ block: 'ask' }))
    await waiting(runtime, run)
    machine.disk.failCommits({ after: 0, times: 1, fault: 'sync_failed' })
    expect(await codeOf(run.cancel('enough'))).toBe('ledger.poisoned')
    await runtime.close().catch(() => undefined)
  })

  it('D2: a wait is not shown before it is durable', async () => {
    const { machine, runtime, run } = await begun(one({ block: 'ask' }))
    machine.disk.failCommits({ after: 0, times: 1, fault: 'sync_failed' })
    const shown: unknown[] = []
    for (let turn = 0; turn < 40; turn += 1) {
      await Promise.resolve()
      run.waits().then(
        (waits) => shown.push(...waits),
        () => undefined
      )
      if (turn % 4 === 3) await new Promise(setImmediate)
    }
    await codeOf(run.result)
    expect(shown).toEqual([])
    await runtime.close().catch(() => undefined)
  })

  it('B3: a value that is not plain JSON is refused and the run keeps waiting', async () => {
    const { runtime, run } = await begun(one({ block: 'ask' }))
    const { token, digest } = await waiting(runtime, run)
    const bad = [Number.NaN, 2 ** 60, { $secret: 'x' }, '\ud800', new Date()] as unknown as Json[]
    for (const value of bad) {
      expect(await codeOf(run.approve(token, { digest, value }))).toMatch(/^core\./)
    }
    expect(await codeOf(run.approve(token, { digest, by: '\ud800' }))).toMatch(/^core\./)
    expect(await codeOf(run.cancel('\ud800'))).toMatch(/^core\./)
    expect(await run.approve(token, { digest })).toEqual({ accepted: true })
    expect((await run.result).status).toBe('done')
    await runtime.close()
  })
})

describe('times and ends of waits', () => {
  it('W5: timeoutMs ends a wait, and the block hears of it', async () => {
    const { machine, runtime, run } = await begun(one({ block: 'ask' }), { timeoutMs: 60_000 })
    await waiting(runtime, run)
    await elapse(machine, runtime, 60_000)
    expect((await run.result).response.data).toEqual({ action: 'timeout', value: null })
    await runtime.close()
  })

  it.each(['ask', 'nap'])('W5: timeout_ms of a node ends a pending wait of %s', async (block) => {
    const { machine, runtime, run } = await begun(one({ block, timeout_ms: 60_000 }))
    await waiting(runtime, run).catch(() => undefined)
    await elapse(machine, runtime, 59_999)
    expect(runtime.ledger.run('r' as RunId)?.status).toBe('waiting')
    await elapse(machine, runtime, 1)
    const { status, response } = await run.result
    expect({ status, reason: response.reason }).toEqual({ status: 'failed', reason: 'timed_out' })
    await runtime.close()
  })

  it('W5: timeout_ms of a composite ends a wait inside, also after a restart', async () => {
    const inner = { entry_point: 'b', nodes: { b: { block: 'ask' } } }
    const document = one({ composite: inner, timeout_ms: 60_000 })
    const { machine, runtime, run } = await begun(document)
    await waiting(runtime, run)
    await runtime.close()
    machine.clock.advance(60_000)
    const again = await machine.open({ ...registrations })
    const resumed = await again.resume('r')
    await elapse(machine, again, 0)
    const { status, response } = await resumed.result
    expect({ status, reason: response.reason }).toEqual({ status: 'failed', reason: 'timed_out' })
    await again.close()
  })

  it('B5: deny ends a confirmed node as denied', async () => {
    const { runtime, run } = await begun(one({ block: 'count', confirm: true }))
    const { token, digest } = await waiting(runtime, run)
    expect(await run.deny(token, { digest, by: 'ops' })).toEqual({ accepted: true })
    const { status, response } = await run.result
    expect({ status, reason: response.reason }).toEqual({ status: 'failed', reason: 'denied' })
    expect(runtime.ledger.read('n')).toBeUndefined()
    await runtime.close()
  })

  it.each([
    ['a wait', one({ block: 'ask' })],
    ['a confirmation', one({ block: 'count', confirm: true })],
    ['a sleep', one({ block: 'nap' })],
    [
      'a retry delay',
      one({ block: 'boom', recovery: [{ retry: { max_attempts: 2, interval_ms: 60_000 } }] })
    ],
    ['a decision', one({ block: 'boom', on_error: 'ask' })],
    [
      'an atomic composite',
      one({
        composite: {
          atomic: true,
          entry_point: 'b',
          nodes: { b: { block: 'count' }, c: { block: 'ask' } },
          transitions: { b: 'c' }
        }
      })
    ],
    [
      'a decision of a composite',
      one({ on_error: 'ask', composite: { entry_point: 'b', nodes: { b: { block: 'boom' } } } })
    ]
  ])(
    'B5: cancel during %s ends the run as cancelled, live, parked and reopened',
    async (_, document) => {
      for (const when of ['live', 'parked', 'reopened']) {
        const { machine, runtime, run } = await begun(document)
        if (when === 'live') await until(() => (runtime.ledger.run('r' as RunId)?.entries ?? 0) > 1)
        else await until(() => runtime.ledger.run('r' as RunId)?.status === 'waiting')
        let [tally, handle]: [WiredRuntime, RunHandle] = [runtime, run]
        if (when === 'reopened') {
          await runtime.close()
          tally = await machine.open(registrations)
          handle = await tally.attach('r')
        }
        await handle.cancel('enough')
        const { status, response } = await handle.result
        expect({ status, reason: response.reason }, when).toEqual({
          status: 'cancelled',
          reason: 'cancelled'
        })
        expect(tally.ledger.read('n'), when).toBeUndefined()
        await handle.cancel('again')
        expect(tally.run('r')?.status).toBe('cancelled')
        await tally.close()
      }
    }
  )
})

describe('many parked runs', () => {
  const RUNS = cases({ usual: 60, long: 275, soak: 10_000 })

  it(`B3: ${RUNS} parked runs are answered after reopening`, async () => {
    const machine = new Machine()
    const first = await machine.open(registrations)
    const ids = Array.from({ length: RUNS }, (_, index) => `r${index}`)
    for (const id of ids) first.begin(one({ block: 'ask' }), { id, inputs: {} })
    await until(async () => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
      return ids.every((id) => first.run(id)?.status === 'waiting')
    })
    await first.close()
    const again = await machine.open(registrations)
    const results = await Promise.all(
      ids.map(async (id) => {
        const run = await again.attach(id)
        const [wait] = await run.waits()
        if (wait === undefined) throw new Error(`${id} waits for nothing`)
        const { accepted } = await run.approve(wait.token, { digest: wait.digest, value: id })
        if (!accepted) throw new Error(`${id} was not accepted`)
        return run.result
      })
    )
    const values = results.map(({ response }) => (response.data as { value: string }).value)
    expect(values).toEqual(ids)
    expect(again.status().receipts).toBe(2 * RUNS)
    await again.close()
  })
})

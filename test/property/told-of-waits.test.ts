import { describe, expect, it } from 'vitest'
import { defineBlock, EffectFailure } from '../../src/code/index.js'
import { canonicalize, type Json, type JsonObject, type RunId } from '../../src/core/index.js'
import type { DeliveredEvent, RunHandle, WiredRuntime } from '../../src/runtime/index.js'
import { cases } from '../support/effort.js'
import { codeOf, Machine, openOn, settleDown, until } from '../support/lives.js'

const document: Json = {
  schema: 'tally-composite/1',
  name: 'asks',
  version: '1.0.0',
  entry_point: 'confirmed',
  nodes: {
    confirmed: { block: 'echo', confirm: { message: 'go on?' } },
    outside: { block: 'outside' },
    doubtful: { block: 'doubtful' },
    failing: { block: 'failing', on_error: 'ask' }
  },
  transitions: { confirmed: 'outside', outside: 'doubtful', doubtful: 'failing' }
}

const blocks = [
  defineBlock({ name: 'echo', version: '1.0.0', sideEffects: 'none', run: () => 1 }),
  defineBlock({
    name: 'outside',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.wait({ reason: 'external', request: 'value' })
  }),
  defineBlock({
    name: 'doubtful',
    version: '1.0.0',
    sideEffects: 'non_idempotent',
    run: (ctx) =>
      ctx.effect('lost', {
        request: 1,
        perform: () => {
          throw new EffectFailure('timeout')
        }
      })
  }),
  defineBlock({
    name: 'failing',
    version: '1.0.0',
    sideEffects: 'none',
    run: (ctx) => ctx.fail('always')
  })
]

/** Every way in which a caller resumes a run and reads its events. */
const ways: Readonly<
  Record<string, (runtime: WiredRuntime) => Promise<AsyncIterable<DeliveredEvent>>>
> = {
  start: async (runtime) => runtime.begin(document, { id: 'r', inputs: {} }),
  'start, read late': async (runtime) => {
    const run = runtime.begin(document, { id: 'r', inputs: {} })
    await settleDown(() => runtime.ledger.run('r' as RunId)?.entries)
    return run
  },
  resume: (runtime) => runtime.resume('r'),
  'attach, then resumeAll': async (runtime) => {
    const run = await runtime.attach('r')
    const events = listening(run)
    await runtime.resumeAll()
    return events
  },
  'the service, run': async (runtime) =>
    served(runtime, 'run', { id: 'r', document: canonicalize(document), inputs: {}, follow: true }),
  'the service, resume': async (runtime) => served(runtime, 'resume', { id: 'r', follow: true }),
  'the service, events': async (runtime) => {
    await runtime.resume('r')
    return served(runtime, 'events', { id: 'r', follow: true })
  }
}

/** What the owner socket would stream. */
function served(
  runtime: WiredRuntime,
  method: string,
  params: JsonObject
): AsyncIterable<DeliveredEvent> {
  const { signal } = new AbortController()
  return runtime.service({ method, params, signal }) as unknown as AsyncIterable<DeliveredEvent>
}

/** Reads at once, so that the first events are read. */
function listening(run: RunHandle): AsyncIterable<DeliveredEvent> {
  const iterator = run[Symbol.asyncIterator]()
  let first: Promise<IteratorResult<DeliveredEvent>> | undefined = iterator.next()
  const next = () => {
    const given = first ?? iterator.next()
    first = undefined
    return given
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

/** Answers every wait it gets, as the README's loop does, until the run has ended. */
async function answerAll(
  run: RunHandle,
  events: AsyncIterable<DeliveredEvent>
): Promise<readonly string[]> {
  const told: string[] = []
  for await (const event of events) {
    if (event.type === 'run.finished') return told
    if (event.type !== 'waiting') continue
    const { token, digest, actions } = event
    told.push(token)
    if (actions.includes('approve')) await run.approve(token, { digest })
    else if (actions.includes('skip')) await run.resume(token, { digest, action: 'skip' })
    else await run.resume(token, { digest, value: 1 })
  }
  return told
}

describe('the open waits of a run', () => {
  // The usual form dies at every third boundary, and in another place for each way.
  const every = cases({ usual: 3, long: 1 })
  for (const [place, [name, resume]] of Object.entries(ways).entries()) {
    it(`B3: a caller of ${name} gets open waits once, wherever the process died`, async () => {
      let waited = 0
      for (let dieAt = 1 + (place % every); ; dieAt += every) {
        const machine = new Machine(dieAt)
        const { life, store } = machine.begin(dieAt)
        const clock = life.clock(machine.clock)
        const first = await openOn(store, { blocks, clock }).catch(() => undefined)
        if (first !== undefined) {
          const run = first.begin(document, { id: 'r', inputs: {} })
          run.result.catch(() => undefined)
          const reading = answerAll(run, run).catch(() => [])
          const isOver = async () => first.ledger.run('r' as RunId)?.status === 'done'
          await until(async () => life.isDead || (await isOver()))
          if (!life.isDead) {
            await reading
            // It may die of the last records that closing writes.
            await first.close().catch(() => undefined)
            if (!life.isDead) break
          }
        }
        const second = await machine.open({ blocks })
        if (second.run('r') !== undefined) {
          const events = await resume(second)
          const told = await answerAll(await second.attach('r'), events)
          expect(new Set(told).size).toBe(told.length)
          waited += told.length
          expect(second.ledger.run('r' as RunId)?.status).toBe('done')
          expect(await second.replay()).toMatchObject({ ok: true })
        }
        await second.close()
      }
      expect(waited).toBeGreaterThan(10)
    })
  }

  it('B3: open waits reach a listener of all events, once while the process lives', async () => {
    const machine = new Machine()
    const first = await machine.open({ blocks })
    first.begin(document, { id: 'r', inputs: {} })
    await until(() => first.run('r')?.status === 'waiting')
    first.life.isDead = true
    machine.disk.crash('power')
    const second = await machine.open({ blocks })
    const told: string[] = []
    second.events.on('event', (event) => {
      if (event.type === 'waiting') told.push(event.token)
    })
    const run = await second.resume('r')
    await until(() => told.length > 0)
    // A message that is refused takes the parked run up again.
    await run.approve(told[0] ?? '', { digest: 'other' })
    await second.resume('r')
    await settleDown(() => second.ledger.run('r' as RunId)?.entries)
    expect(told).toHaveLength(1)
    await second.close()
  })
})

describe('a run that has only just been started', () => {
  it('L6: is there for attach, waits and answers; a refused one is not', async () => {
    const runtime = await new Machine().open({ blocks })
    runtime.begin(document, { id: 'r', inputs: {} })
    const run = await runtime.attach('r')
    expect((await runtime.attach('r')).id).toBe('r')
    runtime.begin({ ...(document as object), entry_point: 'nowhere' } as Json, { id: 'refused' })
    expect(await codeOf(runtime.attach('refused'))).toBe('run.not_found')
    expect(await codeOf(runtime.attach('never'))).toBe('run.not_found')
    await answerAll(run, run)
    expect((await run.result).status).toBe('done')
    expect(await runtime.replay()).toMatchObject({ ok: true })
    await runtime.close()
  })
})

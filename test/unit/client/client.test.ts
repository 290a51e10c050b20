import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, connect } from '../../../src/client/index.js'
import { defineBlock, defineWorkflow } from '../../../src/code/index.js'
import { isTallyError } from '../../../src/core/index.js'
import { createRuntime, type FeedEvent, type WiredRuntime } from '../../../src/runtime/index.js'

const ask = defineBlock({
  name: 'ask',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external', request: { what: 'it' } })).value
})
const echo = defineBlock({
  name: 'echo',
  version: '1',
  sideEffects: 'none',
  intents: ['echo'],
  run: (_ctx, input) => ({ said: input }) as never
})
const hear = defineBlock({
  name: 'hear',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.signal('paid')) as never
})
const twice = defineWorkflow({
  name: 'twice',
  version: '1.0.0',
  run: async (ctx, { count }: { count: number }) => ({
    twice: await ctx.step('double', () => count * 2)
  })
})
const keep = defineBlock({
  name: 'keep',
  version: '1',
  sideEffects: 'none',
  run: (ctx, { key, count }: { key: string; count: number }) => ctx.state.set(`kept/${key}`, count)
})
const keeps = defineWorkflow({
  name: 'keeps',
  version: '1.0.0',
  blocks: [keep],
  async run(ctx, { count }: { count: number }) {
    await ctx.step('a', keep, { key: 'a', count })
    await ctx.step('b', keep, { key: 'b', count })
    await ctx.publish('stage', { count })
    return null
  }
})
const composite = (block: string) => ({
  schema: 'tally-composite/1',
  name: `does.${block}`,
  version: '1',
  entry_point: 'first',
  nodes: { first: { block } }
})

let directory: string
let tally: WiredRuntime
let client: Client
const location = () => join(directory, 'ledger')

async function open(): Promise<WiredRuntime> {
  const keys = { create: 'if-absent', insecurePlaintextKey: true } as const
  return createRuntime({
    location: location(),
    ...keys,
    blocks: [ask, echo, hear],
    workflows: [twice, keeps],
    queues: { orders: { concurrency: 2 } },
    resume: true
  })
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-client-'))
  tally = await open()
  client = await connect({ location: location(), waitMs: 5_000 })
})
afterEach(async () => {
  await client.close()
  await tally.close()
  await rm(directory, { recursive: true, force: true })
})

async function waiting(id: string) {
  await client.start(composite('ask'), { id })
  for await (const { wait, runId } of waits()) if (runId === id) return wait
  throw new Error('it does not wait')
}

async function* waits() {
  for (;;) yield* (await client.queries.waits()).items
}

describe('a client', () => {
  it('L6: starts a run that is on disk, and once, and gives its end', async () => {
    const options = { id: 'one', inputs: { word: 'hello' } }
    expect(await client.start(composite('echo'), options)).toEqual({ id: 'one', isNew: true })
    expect(await client.start(composite('echo'), options)).toEqual({ id: 'one', isNew: false })
    const result = await client.result('one')
    expect(result).toMatchObject({ id: 'one', status: 'done', response: { success: true } })
    expect(result).toEqual(await (await tally.attach('one')).result)
    expect(await client.run('one')).toMatchObject({ id: 'one', status: 'done' })
    expect(client.identity).toBe(tally.identity)
    expect(await client.status()).toMatchObject({ location: location(), process: process.pid })
  })

  it('gets errors of the same codes, and what was wrong with a document', async () => {
    await client.start(composite('echo'), { id: 'one', inputs: { word: 'hello' } })
    const reused = client.start(composite('echo'), { id: 'one', inputs: { word: 'other' } })
    await expect(reused).rejects.toMatchObject({ code: 'run.id_reused' })
    await expect(client.run('other')).rejects.toMatchObject({ code: 'run.not_found' })
    await expect(client.result('other')).rejects.toMatchObject({ code: 'run.not_found' })
    const [here, there] = await Promise.all(
      [tally, client].map((one) => one.start(composite('absent'), { id: 'two' }).catch((e) => e))
    )
    expect(isTallyError(there, 'run.refused')).toBe(true)
    expect(there.message).toBe(here.message)
    expect(there.cause).toEqual(here.cause)
  })

  it('refuses options that are none, as the owner does', async () => {
    const options = { id: 'one', word: 'hello' } as object
    const problem = 'its options have word, which is none'
    for (const one of [tally, client]) {
      const started = one.start(composite('echo'), options)
      const refused = { code: 'run.invalid_options', context: { problem } }
      await expect(started).rejects.toMatchObject(refused)
    }
    await expect(client.run('one')).rejects.toMatchObject({ code: 'run.not_found' })
  })

  it('W10: answers a wait, and the same command once', async () => {
    const { token, digest } = await waiting('asked')
    const answer = { digest, action: 'resume', value: { ok: null }, commandId: 'c1' } as const
    expect(await client.answer('asked', token, answer)).toMatchObject({ accepted: true })
    expect(await client.answer('asked', token, answer)).toMatchObject({ repeated: true })
    const other = await client.answer('asked', token, { digest, action: 'deny' })
    expect(other).toMatchObject({ accepted: false })
    expect((await client.result('asked')).response).toMatchObject({ data: { ok: null } })
  })

  it('starts workflows in code by their name', async () => {
    const started = await client.startWorkflow('twice', { id: 'coded', inputs: { count: 4 } })
    expect(started).toEqual({ id: 'coded', isNew: true })
    expect((await client.result('coded')).response).toMatchObject({ data: { twice: 8 } })
    const unknown = client.startWorkflow('absent')
    await expect(unknown).rejects.toSatisfy((error) => isTallyError(error))
  })

  it('sends signals, which are taken once', async () => {
    await client.start(composite('hear'), { id: 'hears' })
    const sent = { id: 'delivery-1' }
    expect(await client.signal('hears', 'paid', { cents: 5 }, sent)).toEqual({ accepted: true })
    const again = await client.signal('hears', 'paid', { cents: 5 }, sent)
    expect(again).toMatchObject({ accepted: true, repeated: true })
    expect((await client.result('hears')).response).toMatchObject({ data: { cents: 5 } })
    const late = await client.signal('hears', 'paid', { cents: 6 })
    expect(late).toMatchObject({ accepted: false, reason: 'run_ended' })
  })

  it('starts with tags and in a queue, and reads values, state and queues', async () => {
    const how = { id: 'tagged', inputs: { count: 7 }, tags: ['b', 'a'], queue: 'orders' }
    await client.startWorkflow('keeps', how)
    expect((await client.result('tagged')).status).toBe('done')
    const { items } = await client.queries.find({ tag: 'a' })
    expect(items.map(({ id, tags }) => [id, tags])).toEqual([['tagged', ['a', 'b']]])
    expect(await client.query('tagged', 'stage')).toEqual({ count: 7 })
    expect(await client.query('tagged', 'other')).toBeUndefined()
    await expect(client.query('none', 'stage')).rejects.toMatchObject({ code: 'run.not_found' })
    expect(await client.state.get('kept/a')).toBe(7)
    expect(await client.state.get('absent')).toBeUndefined()
    const first = await client.state.list('kept/', { limit: 1 })
    expect(first.items).toEqual([{ key: 'kept/a', value: 7 }])
    const rest = await client.state.list('kept/', { after: first.next })
    expect(rest).toEqual({ items: [{ key: 'kept/b', value: 7 }], next: null })
    expect(await client.queues('orders')).toMatchObject([{ of: 'runs', running: 0, waiting: 0 }])
  })

  it('cancels, does intents, lists runs by pages and verifies', async () => {
    await waiting('long')
    expect(await client.cancel('long', { reason: 'enough' })).toMatchObject({ status: 'cancelled' })
    const reply = await client.intent({ action: 'echo', payload: { word: 'hi' } })
    expect(reply).toMatchObject({ said: { word: 'hi' } })
    for (let at = 0; at < 60; at += 1) await client.start(composite('echo'), { id: `run-${at}` })
    const ids: string[] = []
    for await (const { id } of client.runs({ name: 'does.echo' })) ids.push(id)
    expect(new Set(ids).size).toBe(60)
    expect(ids).toHaveLength(60)
    expect(await client.verify()).toMatchObject({ ok: true })
  })

  it('lets more requests wait than an owner takes at once', async () => {
    const starts = Array.from({ length: 200 }, (_, at) =>
      client.start(composite('echo'), { id: `run-${at}` })
    )
    const started = await Promise.all(starts)
    expect(started.every(({ isNew }) => isNew)).toBe(true)
  })

  it('leaves what it waits for when its signal aborts, and goes on', async () => {
    await waiting('asked')
    const abort = new AbortController()
    const result = client.result('asked', { signal: abort.signal })
    await client.status()
    abort.abort(new Error('enough'))
    await expect(result).rejects.toThrow('enough')
    await expect(client.status({ signal: abort.signal })).rejects.toThrow('enough')
    expect(await client.status()).toMatchObject({ location: location() })
  })
})

describe('a client whose owner is restarted', () => {
  async function restart(): Promise<void> {
    await tally.close()
    tally = await open()
  }

  it('asks the next one, and starts and answers once', async () => {
    const { token, digest } = await waiting('asked')
    const result = client.result('asked')
    await tally.close()
    const started = client.start(composite('echo'), { id: 'meanwhile' })
    const answered = client.answer('asked', token, { digest, action: 'resume', value: 7 })
    tally = await open()
    expect(await started).toEqual({ id: 'meanwhile', isNew: true })
    expect(await answered).toMatchObject({ accepted: true })
    expect(await result).toMatchObject({ status: 'done', response: { data: 7 } })
  })

  it('Q4: goes on with the feed at its place, without a gap or a double', async () => {
    const places: string[] = []
    const seen = new Set<string>()
    const reading = (async () => {
      for await (const event of client.queries.feed({ since: '0.0' })) {
        if ('place' in event) places.push(event.place)
        const id = runIn(event)
        if (id !== undefined) seen.add(id)
        if (seen.has('last')) return
      }
    })()
    for (let at = 0; at < 12; at += 1) {
      await client.start(composite('echo'), { id: `run-${at}` })
      if (at % 4 === 3) await restart()
    }
    await client.start(composite('echo'), { id: 'last' })
    await reading
    expect(seen.size).toBe(13)
    expect(new Set(places).size).toBe(places.length)
  })

  it('Q4: follows a run over restarts, without a gap or a double', async () => {
    const { token, digest } = await waiting('asked')
    const got: string[] = []
    const following = (async () => {
      for await (const { place, entry } of client.follow('asked'))
        got.push(`${place} ${entry['k']}`)
    })()
    for (let times = 0; times < 3; times += 1) {
      await restart()
      await client.status()
    }
    await client.answer('asked', token, { digest, action: 'resume', value: 1 })
    await following
    const whole: string[] = []
    for await (const { place, entry } of tally.follow('asked')) whole.push(`${place} ${entry['k']}`)
    expect(got).toEqual(whole)
    expect(got.at(-1)).toContain('run.finished')
    const last = got.at(-1)?.split(' ')[0]
    const more: string[] = []
    for await (const { place } of client.follow('asked', { after: last })) more.push(place)
    expect(more).toEqual([])
  })

  it('stops following when its signal aborts', async () => {
    await waiting('asked')
    const abort = new AbortController()
    const got: unknown[] = []
    for await (const { entry } of client.follow('asked', { signal: abort.signal })) {
      got.push(entry['k'])
      abort.abort()
    }
    expect(got).toEqual(['run.started'])
    expect(await client.status()).toMatchObject({ location: location() })
  })

  it('waits for one no longer than it is told', async () => {
    await using impatient = await connect({ location: location(), waitMs: 0 })
    await tally.close()
    await expect(impatient.status()).rejects.toMatchObject({ code: 'owner.absent' })
    await expect(connect({ location: location(), waitMs: 0 })).rejects.toMatchObject({
      code: 'owner.absent'
    })
  })

  it('ends its calls when it is closed', async () => {
    await tally.close()
    const status = client.status()
    await client.close()
    await expect(status).rejects.toMatchObject({ code: 'owner.client_closed' })
    await expect(client.run('one')).rejects.toMatchObject({ code: 'owner.client_closed' })
  })

  it('finds no ledger where there is no directory', async () => {
    const nowhere = connect({ location: join(directory, 'nowhere') })
    await expect(nowhere).rejects.toMatchObject({ code: 'ledger.not_found' })
  })
})

function runIn(event: FeedEvent): string | undefined {
  if (event.type === 'run') return event.run.id
  return event.type === 'entry' ? event.runId : undefined
}

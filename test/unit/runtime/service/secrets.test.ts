import { describe, expect, it } from 'vitest'
import type { Provider } from '../../../../src/block/index.js'
import { defineBlock } from '../../../../src/code/index.js'
import { cliError, Redactor } from '../../../../src/core/index.js'
import { createRuntime, type DeliveredEvent } from '../../../../src/runtime/index.js'
import { redactedService } from '../../../../src/runtime/service/redacted-service.js'

const secret = 'password-4711'

function ask(redactor: Redactor): Provider {
  return {
    name: 'bank.ask',
    redactor,
    perform: () => {
      redactor.know('env:BANK_KEY', secret)
      redactor.know('env:BANK_PIN', '4711')
      return `you are ${secret}`
    }
  }
}

const block = defineBlock({
  name: 'bank',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['bank.ask'],
  run: async (ctx, input) => {
    ctx.log('asks', { input } as never)
    return ctx.effect('bank.ask', { request: null })
  }
})

const open = (redactor: Redactor) =>
  createRuntime({
    location: 'memory:',
    create: 'if-absent',
    blocks: [block],
    providers: [ask(redactor)]
  })

describe('K16: a runtime', () => {
  it('knows the secrets of its providers, in answers and events, and names short ones', async () => {
    const redactor = new Redactor()
    await using tally = await open(redactor)
    const events: DeliveredEvent[] = []
    tally.events.on('event', (event) => events.push(event))
    expect(tally.status().warnings).toEqual([])
    expect(await tally.intent({ action: 'bank.ask' })).toMatchObject({
      value: 'you are [env:BANK_KEY]'
    })
    await tally.intent({ action: 'bank.ask', payload: { note: secret } })
    expect(tally.status().warnings).toEqual([expect.stringContaining('env:BANK_PIN')])
    const told = JSON.stringify(events)
    expect(told).toContain('"asks"')
    expect(told).toContain('"note":"[env:BANK_KEY]"')
    expect(told).not.toContain(secret)
  })

  it('knows none of another runtime, and both know those of a provider that they share', async () => {
    const shared = new Redactor()
    await using one = await open(shared)
    await using other = await open(shared)
    await using stranger = await open(new Redactor())
    await one.intent({ action: 'bank.ask' })
    expect(one.registry.redactor.text(secret)).toBe('[env:BANK_KEY]')
    expect(other.registry.redactor.text(secret)).toBe('[env:BANK_KEY]')
    expect(stranger.registry.redactor.text(secret)).toBe(secret)
  })
})

describe('K16: what a page asks of a ledger', () => {
  const asks = defineBlock({
    name: 'asks',
    version: '1.0.0',
    sideEffects: 'none',
    run: async (ctx) => {
      await ctx.effect('bank.ask', { request: { note: secret } })
      ctx.state.set(`paid/${secret}`, { to: secret })
      return (await ctx.wait({ reason: 'external', request: { message: secret } })).action
    }
  })
  const document = {
    schema: 'tally-composite/1',
    name: 'asks',
    version: '1.0.0',
    entry_point: 'first',
    nodes: { first: { block: 'bank' }, second: { block: 'asks' } },
    transitions: { first: 'second' }
  }

  it('has no secret that the runtime knows, planted in ids, keys, inputs and answers', async () => {
    const redactor = new Redactor()
    await using tally = await createRuntime({
      location: 'memory:',
      create: 'if-absent',
      blocks: [block, asks],
      providers: [ask(redactor)]
    })
    const { queries } = tally
    const id = `run-${secret}`
    const feed = queries.feed({ since: '0.0' })[Symbol.asyncIterator]()
    for await (const event of tally.begin(document, { id, inputs: { note: secret } })) {
      if (event.type === 'run.parked') break
    }
    const place = { id, path: 'root/second', step: 2 }
    const events: unknown[] = []
    for (let count = 0; count < 8; count += 1) events.push((await feed.next()).value)
    await feed.return?.()
    const answers = {
      find: await queries.find(),
      waits: await queries.waits(),
      chart: await queries.chart({ id }),
      chartAt: await queries.chartAt({ id }),
      calls: await queries.calls(place),
      log: await queries.log(),
      proof: await queries.proof({ leaf: 0 }),
      state: await queries.state(),
      stateHistory: await queries.stateHistory({ key: `paid/${secret}` }),
      doctor: await queries.doctor(),
      grants: await queries.grants(),
      resumable: await queries.resumable(),
      locate: await queries.locate({ text: 'run-' }),
      events
    }
    for (const [method, answer] of Object.entries(answers)) {
      expect.soft(JSON.stringify(answer), method).not.toContain(secret)
    }
    expect(JSON.stringify([answers.find, answers.waits, answers.calls])).toContain('[env:BANK_KEY]')
  })
})

describe('K16: the service of a ledger', () => {
  const redactor = new Redactor()
  redactor.know('env:KEY', secret)
  const request = { method: 'm', params: null, signal: new AbortController().signal }
  const failing = cliError('cli.usage', { problem: secret })
  const clean = { code: 'cli.usage', context: { problem: '[env:KEY]' } }

  it('answers, streams and fails without known secrets', async () => {
    const answering = redactedService(async () => ({ secret }), redactor)
    expect(await answering(request)).toEqual({ secret: '[env:KEY]' })
    const rejecting = redactedService(() => Promise.reject(failing), redactor)
    await expect(rejecting(request)).rejects.toMatchObject(clean)
    const throwing = redactedService(() => {
      throw failing
    }, redactor)
    expect(() => throwing(request)).toThrow(expect.objectContaining(clean))
    const streaming = redactedService(async function* () {
      yield secret
      throw failing
    }, redactor)
    const events: unknown[] = []
    const read = async () => {
      for await (const event of streaming(request) as AsyncIterable<unknown>) events.push(event)
    }
    await expect(read()).rejects.toMatchObject(clean)
    expect(events).toEqual(['[env:KEY]'])
  })
})

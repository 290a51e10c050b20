import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base'
import { afterEach, describe, expect, it } from 'vitest'
import { defineTool, type TurnRequest } from '../../../src/agent/index.js'
import { defineBlock } from '../../../src/code/index.js'
import { hashJson, type Json, type JsonObject } from '../../../src/core/index.js'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/runtime/index.js'
import { oneTurn, scripted } from '../../support/flows.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../support/ledger-on-disk.js'
import { until } from '../../support/lives.js'
import { SpansInMemory } from '../../support/spans.js'

const SECRET_INPUT = 'account-4711'
const traceId = '0af7651916cd43dd8448eb211c80319c'
const callerId = 'b7ad6b7169203331'

const pure = defineBlock({
  name: 'pure',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['office.count'],
  run: () => ({ told: SECRET_INPUT })
})

const seenTraces: (string | undefined)[] = []

const pay = defineBlock({
  name: 'pay',
  version: '1.0.0',
  sideEffects: 'idempotent',
  run: async (ctx) => {
    const request = { to: SECRET_INPUT }
    return ctx.effect('bank.pay', {
      request,
      perform: ({ traceparent }) => {
        seenTraces.push(traceparent)
        if (ctx.attempt === 1) throw new Error(`no route for ${SECRET_INPUT}`)
        return { paid: SECRET_INPUT }
      }
    })
  }
})

const ask = defineBlock({
  name: 'ask',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => {
    const { value } = await ctx.wait({ reason: 'external', request: { for: SECRET_INPUT } })
    return value
  }
})

const documentOf = (nodes: JsonObject, transitions: JsonObject = {}) => ({
  schema: 'tally-composite/1',
  name: 'order',
  version: '1.0.0',
  entry_point: Object.keys(nodes)[0] ?? '',
  nodes,
  transitions
})

const inner = {
  schema: 'tally-composite/1',
  name: 'inner',
  version: '1.0.0',
  entry_point: 'asks',
  nodes: { asks: { block: 'ask' } },
  transitions: {}
}

const open: Runtime[] = []

async function opened(spans: SpansInMemory, options: Partial<RuntimeOptions> = {}) {
  const runtime = await createRuntime({
    location: 'memory:',
    blocks: [pure, pay, ask],
    telemetry: spans.telemetry,
    ...options
  })
  open.push(runtime)
  return runtime
}

afterEach(async () => {
  seenTraces.length = 0
  for (const runtime of open.splice(0)) await runtime.close()
})

describe('spans of a run', () => {
  it('have names, parents and attributes of what was done, and nothing that was said', async () => {
    const spans = new SpansInMemory()
    const tally = await opened(spans, { composites: [inner] })
    const document = documentOf(
      {
        first: { block: 'pure' },
        pays: { block: 'pay', recovery: [{ retry: { max_attempts: 2 } }] },
        inside: { use: 'inner' }
      },
      { first: 'pays', pays: 'inside' }
    )
    const inputs = { of: SECRET_INPUT }
    const caller = `00-${traceId}-${callerId}-01`
    const run = tally.begin(document, { id: 'one', inputs, trace: caller })
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      await run.resume(event.token, { value: SECRET_INPUT, digest: event.digest })
    }
    const { response, receiptHash } = await run.result
    expect(response.success).toBe(true)
    await tally.close()

    const found = spans.ofRuns()
    expect(found.every((span) => span.traceId === traceId)).toBe(true)
    const root = spans.named('run order')
    expect(root).toMatchObject({
      id: hashJson(['request', 'one', 'root']).slice(0, 16),
      parent: callerId,
      attributes: {
        'tally.run.id': 'one',
        'tally.status': 'done',
        'tally.receipt.hash': receiptHash
      }
    })
    const parents = found.map(({ name, parent }) => [
      name,
      found.find(({ id }) => id === parent)?.name ?? parent
    ])
    expect(parents).toEqual([
      ['block pure', 'run order'],
      ['effect bank.pay', 'block pay'],
      ['attempt 1', 'block pay'],
      ['effect bank.pay', 'block pay'],
      ['attempt 2', 'block pay'],
      ['block pay', 'run order'],
      ['wait external', 'block ask'],
      ['block ask', 'block inner'],
      ['block inner', 'run order'],
      ['run order', callerId]
    ])
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    expect(spans.named('attempt 1').attributes).toMatchObject({ 'error.type': 'effect_failed' })
    expect(spans.named('block pay').attributes).toMatchObject({
      'tally.path': 'root/pays',
      'tally.attempt': 2,
      'tally.side_effects': 'idempotent'
    })
    const effects = spans.spans.filter(({ name }) => name.startsWith('effect'))
    expect(effects.map(({ kind }) => kind)).toEqual([2, 2])
    const sent = effects.map((span) => `00-${traceId}-${span.spanContext().spanId}-01`)
    expect(sent).toEqual(seenTraces)
    const written = JSON.stringify(
      spans.spans.map(({ attributes, events, name, status, links }) => [
        attributes,
        events,
        name,
        status,
        links
      ])
    )
    expect(written).not.toContain(SECRET_INPUT)
  })

  it('T3: are not made again by verification and replay, which are spans of their own', async () => {
    const spans = new SpansInMemory()
    const tally = await opened(spans)
    await tally.begin(documentOf({ first: { block: 'pure' } }), { id: 'one' }).result
    const live = spans.ofRuns()
    expect((await tally.verify()).ok).toBe(true)
    expect((await tally.replay()).ok).toBe(true)
    expect(spans.ofRuns()).toEqual(live)
    expect(spans.spans.filter(({ name }) => name === 'verify')).toHaveLength(2)
  })

  it('leave once they are durable, though nothing comes behind them', async () => {
    const spans = new SpansInMemory()
    let answer: (value: Json) => void = () => undefined
    const answered = new Promise<Json>((resolve) => {
      answer = resolve
    })
    const looks = defineBlock({
      name: 'looks',
      version: '1.0.0',
      sideEffects: 'none',
      run: async (ctx) => {
        await ctx.effect('look', { perform: () => 1 })
        return ctx.effect('look.long', { perform: () => answered })
      }
    })
    const tally = await opened(spans, { blocks: [looks] })
    const { result } = tally.begin(documentOf({ first: { block: 'looks' } }), { id: 'one' })
    await until(() => spans.ofRuns().some(({ name }) => name === 'effect look'))
    answer(2)
    await result
  })

  it('are that of the run alone for an intent of one step', async () => {
    const spans = new SpansInMemory()
    const tally = await opened(spans)
    const before = spans.ofRuns().length
    await tally.intent({ id: 'one', action: 'office.count' })
    await tally.close()
    const own = spans.ofRuns().slice(before)
    expect(own.map(({ name }) => name)).toEqual(['run office.count'])
    expect(own[0]?.attributes).toMatchObject({ 'tally.run.id': 'one', 'tally.status': 'done' })
  })

  it('count runs, waits, steps, effects, retries and receipts', async () => {
    const spans = new SpansInMemory()
    const tally = await opened(spans)
    const document = documentOf(
      {
        pays: { block: 'pay', recovery: [{ retry: { max_attempts: 2 } }] },
        asks: { block: 'ask' }
      },
      { pays: 'asks' }
    )
    const receipts = await spans.metric('tally.receipts')
    const run = tally.begin(document, { id: 'one' })
    const counted: number[] = []
    for await (const event of run) {
      if (event.type !== 'waiting') continue
      counted.push(await spans.metric('tally.wait.open'), await spans.metric('tally.run.active'))
      await run.resume(event.token, { value: 1, digest: event.digest })
    }
    await tally.close()
    expect(counted[0]).toBe(1)
    expect(await spans.metric('tally.wait.open')).toBe(0)
    expect(await spans.metric('tally.run.active')).toBe(0)
    expect(await spans.metric('tally.retries')).toBe(1)
    expect(await spans.metric('tally.effect.duration')).toBe(2)
    expect((await spans.metric('tally.receipts')) - receipts).toBeGreaterThanOrEqual(3)
    expect(await spans.metric('tally.commit.duration')).toBeGreaterThan(0)
  })

  it('are left out where the sampler does not choose the run, and what it calls hears so', async () => {
    const spans = new SpansInMemory({ sampler: new AlwaysOffSampler() })
    const tally = await opened(spans)
    const document = documentOf({
      pays: { block: 'pay', recovery: [{ retry: { max_attempts: 2 } }] }
    })
    await tally.begin(document, { id: 'one' }).result
    expect(spans.spans).toEqual([])
    expect(seenTraces.map((trace) => trace?.slice(-3))).toEqual(['-00', '-00'])
  })
})

describe('waits across processes', () => {
  let disk: LedgerOnDisk
  ledgerForEachTest((given) => {
    disk = given
  })

  it('T1: are one span each, from when they were begun, linked to the span of the answer', async () => {
    const first = new SpansInMemory()
    const blocks = [pure, ask]
    const document = documentOf(
      { first: { block: 'pure' }, asks: { use: 'inner' } },
      { first: 'asks' }
    )
    const composites = [inner]
    const one = await disk.open({ blocks, composites, telemetry: first.telemetry })
    const begun = one.begin(document, { id: 'one' })
    for await (const event of begun) if (event.type === 'run.parked') break
    await disk.close()
    const early = first.ofRuns().map(({ name }) => name)
    expect(early.filter((name) => name.startsWith('block'))).toEqual(['block pure'])

    const second = new SpansInMemory()
    const tally = await disk.open({ blocks, composites, telemetry: second.telemetry })
    const run = await tally.attach('one')
    const [wait] = await run.waits()
    if (wait === undefined) throw new Error('nothing waits')
    const answer = { traceId, spanId: callerId, traceFlags: 1 }
    const active = trace.setSpanContext(ROOT_CONTEXT, answer)
    context.setGlobalContextManager(standing(active))
    try {
      await run.resume(wait.token, { value: 1, digest: wait.digest })
    } finally {
      context.disable()
    }
    await run.result
    await disk.close()
    const names = second.ofRuns().map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['wait external', 'block ask', 'block inner', 'run order'])
    )
    expect(names).not.toContain('block pure')
    const asked = second.spans.find(({ name }) => name === 'wait external')
    expect(asked?.links.map((link) => link.context)).toEqual([answer])
    expect(asked?.attributes['tally.wait.action']).toBe('resume')
    expect(asked?.attributes['tally.digest']).toBe(wait.digest)
    const parent = second.named('block inner').id
    expect(second.named('block ask').parent).toBe(parent)
  })
})

/** A context that is active everywhere. */
function standing(active: Context): ContextManager {
  const manager: ContextManager = {
    active: () => active,
    with: (_context, work, self, ...given) => work.call(self as never, ...given),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager
  }
  return manager
}

describe('spans of agents', () => {
  const usage = { inputTokens: 60, outputTokens: 40 }
  const script = ({ messages }: TurnRequest) =>
    messages.at(-1)?.role === 'tool'
      ? { text: SECRET_INPUT, usage }
      : { text: '', toolCalls: [{ id: 'c', name: 'look', arguments: {} }], usage }
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    sideEffects: 'idempotent',
    perform: () => ({ seen: SECRET_INPUT })
  })
  const toolPolicy = { allowedCapabilities: ['look'], approvalRequirement: 'never' }
  const flow = oneTurn({}, { toolPolicy })
  const agents = { environment: {}, adapters: scripted(script), tools: [look] }

  it('have the names and counts of the conventions for generative AI where asked', async () => {
    const spans = new SpansInMemory({ genAi: true })
    const tally = await opened(spans, { agents })
    const inputs = { userPrompt: SECRET_INPUT }
    const { status } = await tally.begin(flow, { id: 'one', inputs }).result
    expect(status).toBe('done')
    const conversation = { 'gen_ai.conversation.id': 'one' }
    const [run] = spans.ofRuns().filter(({ name }) => name.startsWith('run '))
    expect(run?.attributes).toMatchObject({ 'gen_ai.operation.name': 'invoke_workflow' })
    const turn = spans.named('invoke_agent main')
    expect(turn).toMatchObject({
      attributes: {
        ...conversation,
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'main',
        'gen_ai.provider.name': 'fake'
      }
    })
    const chats = spans.ofRuns().filter(({ name }) => name.startsWith('chat'))
    expect(chats.map(({ parent }) => parent)).toEqual([turn.id, turn.id])
    expect(chats[0]?.attributes).toMatchObject({
      ...conversation,
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 60,
      'gen_ai.usage.output_tokens': 40
    })
    expect(spans.named('execute_tool look').parent).toBe(turn.id)
    expect(await spans.metric('gen_ai.client.token.usage')).toBe(4)
    expect(await spans.metric('gen_ai.client.operation.duration')).toBe(2)
    expect(JSON.stringify(spans.ofRuns())).not.toContain(SECRET_INPUT)
  })

  it('have their own names, and nothing of the conventions, where not', async () => {
    const spans = new SpansInMemory()
    const tally = await opened(spans, { agents })
    await tally.begin(flow, { id: 'one', inputs: {} }).result
    expect(spans.named('block agent.turn').attributes).toMatchObject({ 'tally.step': 1 })
    expect(JSON.stringify(spans.ofRuns())).not.toContain('gen_ai')
    expect(await spans.metric('gen_ai.client.token.usage')).toBe(0)
  })
})

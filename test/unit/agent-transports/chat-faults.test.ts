import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type AgentSession,
  deepSeekAdapter,
  type TurnDelta,
  type TurnRequest
} from '../../../src/agent/index.js'
import { refusalFailure } from '../../../src/agent/transports/failures.js'
import { EffectFailure } from '../../../src/code/index.js'
import { limits } from '../../../src/core/index.js'
import { type ChatScene, type ChatServer, startChatServer } from '../../../src/testing/index.js'

const apiKey = 'sk-0123456789abcdef'
const prompt = 'the secret of the customer'

let server: ChatServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function sessionWith(scene: ChatScene): Promise<AgentSession> {
  server = await startChatServer({ script: () => scene })
  return openAt(server.url)
}

function openAt(baseUrl: string, fetch?: typeof globalThis.fetch): Promise<AgentSession> {
  const names = { runId: 'run-1', agentId: 'clerk', flowName: 'flow' }
  const settings = { baseUrl, apiKey, model: 'deepseek-chat' }
  return deepSeekAdapter(fetch === undefined ? {} : { fetch }).open({ ...names, settings })
}

const request: TurnRequest = {
  invocationId: 'turn-1',
  runId: 'run-1',
  nodeId: 'main',
  agentId: 'clerk',
  turnMode: 'normal',
  prompt,
  input: {},
  messages: []
}

function turn(session: AgentSession, signal = new AbortController().signal) {
  return session.turn(request, { signal, invocationId: request.invocationId })
}

async function failureOf(ending: Promise<unknown>): Promise<EffectFailure> {
  const error = await ending.then(
    () => new Error('the turn succeeded'),
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(EffectFailure)
  const failure = error as EffectFailure
  const told = `${failure.stack}${JSON.stringify(failure.details)}${String(failure.cause)}`
  expect(told).not.toContain(apiKey)
  expect(told).not.toContain(prompt)
  return failure
}

/** A server that answers everything in this way. */
async function answering(answer: (response: ServerResponse) => void) {
  const plain = createServer((incoming, response) => {
    incoming.resume().on('end', () => answer(response))
  })
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const { port } = plain.address() as AddressInfo
  const close = () => {
    plain.close()
    plain.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

describe('refusals are definite, and say what they may', () => {
  it.each([
    [401, {}, 'unauthorized', true, {}],
    [403, {}, 'unauthorized', true, {}],
    [400, {}, 'refused', true, {}],
    [404, {}, 'refused', true, {}],
    [429, {}, 'rate_limited', true, {}],
    [429, { 'retry-after': '7' }, 'rate_limited', true, { retryAfterMs: 7_000 }],
    [429, { 'retry-after-ms': '250' }, 'rate_limited', true, { retryAfterMs: 250 }],
    [500, {}, 'server_failed', false, {}],
    [503, { 'retry-after': '1' }, 'server_failed', false, { retryAfterMs: 1_000 }],
    [307, { location: 'http://127.0.0.1:1/' }, 'refused', true, {}]
  ] as const)('%i with %j is %s', async (status, headers, reason, definite, details) => {
    const session = await sessionWith({ status, headers, code: 'some_code' })
    const failure = await failureOf(turn(session))
    expect(failure).toMatchObject({ reason, definite })
    const endpoint = server?.url ?? ''
    expect(failure.details).toEqual({ status, endpoint, code: 'some_code', ...details })
    // Its own retries are off.
    expect(server?.requests).toHaveLength(1)
  })

  it('reads a date to retry after against the date of the answer', async () => {
    const headers = {
      date: 'Mon, 01 Jun 2026 12:00:00 GMT',
      'retry-after': 'Mon, 01 Jun 2026 12:00:30 GMT'
    }
    const session = await sessionWith({ status: 429, headers })
    const { details } = await failureOf(turn(session))
    expect(details).toMatchObject({ retryAfterMs: 30_000 })
  })

  it.each([
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.2' }, 1_200],
    [{ 'retry-after': '86400' }, limits.RETRY_AFTER_MS_MAX],
    [{ 'retry-after': '1e400' }, limits.RETRY_AFTER_MS_MAX],
    [{ 'retry-after-ms': '999999999999' }, limits.RETRY_AFTER_MS_MAX],
    [{ 'retry-after': 'Mon, 01 Jun 2099 12:00:00 GMT' }, limits.RETRY_AFTER_MS_MAX],
    [{ 'retry-after': 'Mon, 01 Jun 1998 12:00:00 GMT' }, 0],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': 'soon' }, undefined]
  ])('reads %j as a bounded wait', (headers, retryAfterMs) => {
    const { details } = refusalFailure({ status: 429, endpoint: 'http://host', headers })
    expect((details as { retryAfterMs?: number }).retryAfterMs).toBe(retryAfterMs)
  })

  it('leaves out a code that may be a key', async () => {
    const session = await sessionWith({ status: 400, code: 'sk-live-AbC123' })
    const { details } = await failureOf(turn(session))
    expect(details).toEqual({ status: 400, endpoint: server?.url })
  })
})

describe('answers that are no answers', () => {
  it.each([
    ['malformed', 'malformed_response'],
    ['disconnect', 'connection_lost'],
    ['truncated', 'incomplete_response'],
    ['endless', 'response_too_large'],
    ['oversized', 'response_too_large']
  ] as const)('%s leaves the outcome open', async (breaks, reason) => {
    const session = await sessionWith({ breaks, text: 'The inv' })
    const failure = await failureOf(turn(session))
    expect(failure).toMatchObject({ reason, definite: false })
  })

  const { MODEL_EVENT_BYTES_MAX: bytesMax, MODEL_EVENT_VALUES_MAX: valuesMax } = limits
  const choice = JSON.stringify({ index: 0, delta: { content: '' } })
  it.each([
    ['one line has too many bytes', `data: ${'x'.repeat(bytesMax)}`],
    ['many lines has too many bytes', 'data: x\n'.repeat(bytesMax / 8 + 1)],
    ['few bytes has too many values', `data: {"choices":[${`${choice},`.repeat(valuesMax / 4)}{}]}`]
  ])('is too large when one event of %s', async (_, event) => {
    const long = await answering((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${event}\n\n`)
    })
    const failure = await failureOf(turn(await openAt(long.url)))
    expect(failure).toMatchObject({ reason: 'response_too_large', definite: false })
    long.close()
  })

  it('tells how it was refused, however long the refusal is', async () => {
    const long = await answering((response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
      const more = () => {
        while (!response.destroyed && response.write('[1,'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    const failure = await failureOf(turn(await openAt(long.url)))
    expect(failure).toMatchObject({ reason: 'rate_limited', definite: true })
    expect(failure.details).toMatchObject({ retryAfterMs: 7_000 })
    long.close()
  })

  it('is definite when no server listens', async () => {
    const closed = await startChatServer({ script: () => ({}) })
    const { url } = closed
    await closed.close()
    const failure = await failureOf(turn(await openAt(url)))
    expect(failure).toMatchObject({ reason: 'unreachable', definite: true })
    expect(failure.details).toEqual({ endpoint: url, code: 'ECONNREFUSED' })
  })

  it('takes an answer in plain HTML for malformed', async () => {
    const plain = await answering((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>')
    })
    const failure = await failureOf(turn(await openAt(plain.url)))
    expect(failure).toMatchObject({ reason: 'incomplete_response', definite: false })
    plain.close()
  })

  it('A5: breaks the connection when it is called off', async () => {
    const session = await sessionWith({ breaks: 'hang', text: 'The inv' })
    const controller = new AbortController()
    const deltas: TurnDelta[] = []
    const ending = session.turn(request, {
      signal: controller.signal,
      invocationId: 'turn-1',
      onDelta: (delta) => {
        deltas.push(delta)
        controller.abort()
      }
    })
    expect(await failureOf(ending)).toMatchObject({ reason: 'aborted', definite: false })
    await server?.untilAbandoned(1)
    expect(deltas).toEqual([{ kind: 'text', text: 'The inv' }])
  })
})

describe('what the model says about itself', () => {
  it.each([
    ['length', false],
    ['insufficient_system_resource', true],
    ['model_context_window_exceeded', true],
    ['an end of tomorrow', true]
  ])('gives an answer that stopped for %s as a failed turn', async (finishReason, retryable) => {
    const calls = [{ id: 'c1', name: 'pay', arguments: '{"amount": 1}' }]
    for (const toolCalls of [[], calls]) {
      const session = await sessionWith({ text: 'and so', toolCalls, finishReason })
      const result = await turn(session)
      expect(result).toMatchObject({
        status: 'failed',
        finalText: 'and so',
        error: { code: 'answer_truncated', retryable }
      })
      await server?.close()
    }
  })

  it.each(['stop', 'tool_calls'])('takes %s for an end', async (finishReason) => {
    const session = await sessionWith({ text: 'so it is', finishReason })
    expect(await turn(session)).toMatchObject({ status: 'completed', warnings: [] })
  })

  it('counts no less than what was read and said where the server reports no usage', async () => {
    const chunk = (delta: object, finish: string | null) => {
      const choices = [{ index: 0, delta, finish_reason: finish }]
      return `data: ${JSON.stringify({ id: '1', model: 'm', choices })}\n\n`
    }
    const said = chunk({ role: 'assistant', content: 'ünd so' }, null)
    const text = `${said}${chunk({}, 'stop')}data: [DONE]\n\n`
    const fetch = async () =>
      new Response(text, { headers: { 'content-type': 'text/event-stream' } })
    const { usage, warnings } = await turn(
      await openAt('http://host', fetch as typeof globalThis.fetch)
    )
    expect(usage.isUpperBound).toBe(true)
    expect(usage.inputTokens).toBeGreaterThanOrEqual(Buffer.byteLength(prompt))
    expect(usage.outputTokens).toBeGreaterThanOrEqual(Buffer.byteLength('ünd so'))
    expect(usage.totalTokens).toBe(usage.inputTokens + usage.outputTokens)
    expect(warnings).toEqual([`usage was not told: counted as at most ${usage.totalTokens} tokens`])
  })

  it('gives a filtered answer as a failed turn', async () => {
    const session = await sessionWith({ text: '', finishReason: 'content_filter' })
    const result = await turn(session)
    expect(result.status).toBe('failed')
    expect(result.error?.code).toBe('content_filtered')
  })

  it('hands back a call whose arguments are not JSON, as text', async () => {
    const call = { id: 'c1', name: 'pay', arguments: '{"amount": ' }
    const session = await sessionWith({ toolCalls: [call] })
    const tools = [{ name: 'pay', description: 'Pays.', parameters: { type: 'object' } }]
    const { signal } = new AbortController()
    const result = await session.turn({ ...request, tools }, { signal, invocationId: 'turn-1' })
    expect(result.toolCalls).toEqual([{ id: 'c1', name: 'pay', arguments: '{"amount": ' }])
  })

  it('sends what the turn asks: model, temperature, limit, system prompt, tools', async () => {
    const session = await sessionWith({ text: 'ok' })
    const { signal } = new AbortController()
    const asked = { ...request, model: 'deepseek-chat', temperature: 0.2, maxTokens: 50 }
    await session.turn(asked, { signal, invocationId: 'turn-1' })
    const { body, authorization } = server?.requests[0] ?? {}
    expect(authorization).toBe(`Bearer ${apiKey}`)
    expect(body).toMatchObject({
      model: 'deepseek-chat',
      temperature: 0.2,
      max_tokens: 50,
      stream: true,
      messages: [{ role: 'user', content: prompt }]
    })
  })

  it('gives the same result however the chunks fall', async () => {
    const answer = { text: 'It is due. ✓', reasoning: 'The date has passed.' }
    const results = []
    for (const chunkLength of [1, 3, 1_000]) {
      const session = await sessionWith({ ...answer, chunkLength })
      results.push(await turn(session))
      await server?.close()
    }
    expect(results[1]).toEqual(results[0])
    expect(results[2]).toEqual(results[0])
  })
})

describe('settings that will not do', () => {
  it.each([
    [{ apiKey, model: 'm' }, ['baseUrl is missing']],
    [{ baseUrl: 'ftp://host', apiKey }, ['baseUrl is not an HTTP URL']],
    [{ baseUrl: 'not a url', apiKey }, ['baseUrl is not a URL']],
    [
      { baseUrl: `https://user:${apiKey}@host`, apiKey },
      ['baseUrl has a user name or password in it: use apiKey']
    ],
    [{ baseUrl: `https://host/?key=${apiKey}`, apiKey }, ['baseUrl has a query or fragment']],
    [{ baseUrl: 'https://host' }, ['apiKey is missing']],
    [
      { baseUrl: 'https://host', apiKey, model: 'm', transport: 'carrier pigeon' },
      ['transport is neither deepseek nor openai-compatible']
    ]
  ])('%j', (settings, problems) => {
    expect(deepSeekAdapter().validate?.({ model: 'm', ...settings })).toEqual(problems)
    expect(deepSeekAdapter().validate?.(settings)).toEqual([
      ...problems,
      ...('model' in settings ? [] : ['model is missing'])
    ])
  })
})

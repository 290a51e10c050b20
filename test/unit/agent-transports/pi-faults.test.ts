import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { piMonoAdapter, type TurnRequest } from '../../../src/agent/index.js'
import { EffectFailure } from '../../../src/code/index.js'

/** What goes wrong with a pi-mono backend over HTTP. */

const program = fileURLToPath(new URL('../../conformance/fixtures/pi-rpc.mjs', import.meta.url))
const apiKey = 'sk-0123456789abcdef'
const prompt = 'the secret of the customer'
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

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

type Answer = (response: ServerResponse) => void
const json = (body: unknown, status = 200, headers = {}): Answer => {
  return (response) => {
    const type = { 'content-type': 'application/json', ...headers }
    response.writeHead(status, type).end(JSON.stringify(body))
  }
}
const opened = json({ sessionId: 's 1' }, 201)

/** A backend that answers by method and first part of the path; gives what it was asked, too. */
async function backend(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = []
  server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    const [, resource] = (incoming.url ?? '').split('/')
    const answer = answers[`${incoming.method} ${resource}`] ?? json({}, 404)
    incoming.resume().on('end', () => answer(response))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const names = { runId: 'run-1', agentId: 'clerk', flowName: 'flow' }
  const open = () => piMonoAdapter().open({ ...names, settings: { baseUrl, apiKey } })
  return { asked, baseUrl, open }
}

async function failureOf(ending: Promise<unknown>): Promise<EffectFailure> {
  const error = await ending.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(EffectFailure)
  const failure = error as EffectFailure
  const told = `${failure.stack}${JSON.stringify(failure.details)}${String(failure.cause)}`
  expect(told).not.toContain(apiKey)
  expect(told).not.toContain(prompt)
  return failure
}

async function turnFailure(answer: Answer, signal = new AbortController().signal) {
  const { open, asked } = await backend({ 'POST sessions': opened, 'POST turns': answer })
  const session = await open()
  const options = { signal, invocationId: 'turn-1' }
  return { failure: await failureOf(session.turn(request, options)), asked }
}

const rude = { error: { code: 'no_luck', message: `${apiKey}: ${prompt}` } }
const quotes: Answer = (response) => response.end(`<html>${apiKey} ${prompt}`)
const endless: Answer = (response) => {
  const more = () => {
    while (response.write('x'.repeat(1 << 20)));
  }
  response.on('drain', more)
  more()
}

describe('a turn of a pi-mono backend', () => {
  it.each([
    ['401', json(rude, 401), 'unauthorized', true],
    ['403', json(rude, 403), 'unauthorized', true],
    ['404', json(rude, 404), 'session_lost', true],
    ['422', json(rude, 422), 'refused', true],
    ['429', json(rude, 429, { 'retry-after': '2' }), 'rate_limited', true],
    ['500', json(rude, 500), 'server_failed', false],
    ['another page', quotes, 'malformed_response', false],
    ['a list', json([1]), 'malformed_response', false],
    ['a status of its own', json({ status: 'splendid' }), 'malformed_response', false],
    ['an end in the middle', (response) => response.socket?.destroy(), 'connection_lost', false],
    ['no end', endless, 'response_too_large', false]
  ] as const satisfies readonly (readonly [string, Answer, string, boolean])[])(
    'that answers %s says so, and how certain it is',
    async (_, answer, reason, definite) => {
      const { failure } = await turnFailure(answer)
      expect(failure).toMatchObject({ reason, definite })
      if (reason === 'rate_limited') expect(failure.details).toMatchObject({ retryAfterMs: 2_000 })
    }
  )

  it('A5: is called off at the backend too', async () => {
    const controller = new AbortController()
    const hangs: Answer = () => controller.abort()
    const { failure, asked } = await turnFailure(hangs, controller.signal)
    expect(failure).toMatchObject({ reason: 'aborted', definite: false })
    while (asked.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(asked).toEqual(['POST /sessions', 'POST /turns', 'POST /turns/turn-1/abort'])
  })

  it('keeps the label of a failure that the backend tells, and not its words', async () => {
    const failed = { status: 'failed', error: { ...rude.error, category: 'model' } }
    const { open } = await backend({ 'POST sessions': opened, 'POST turns': json(failed) })
    const { signal } = new AbortController()
    const result = await (await open()).turn(request, { signal, invocationId: 'turn-1' })
    expect(result).toMatchObject({ status: 'failed', error: { code: 'no_luck' } })
    expect(JSON.stringify(result)).not.toContain(apiKey)
  })
})

describe('a turn of a pi process', () => {
  it.each([
    ['oversized', 'response_too_large'],
    ['malformed', 'malformed_response'],
    ['disconnect', 'connection_lost']
  ])('whose answer is %s leaves the outcome open', async (breaks, reason) => {
    const environment = { SCENE: JSON.stringify({ breaks }) }
    const rpc = { command: process.execPath, arguments: [program], environment }
    const names = { runId: 'run-1', agentId: 'clerk', flowName: 'flow' }
    const session = await piMonoAdapter({ rpc }).open({ ...names, settings: { transport: 'rpc' } })
    const { signal } = new AbortController()
    const failure = await failureOf(session.turn(request, { signal, invocationId: 'turn-1' }))
    expect(failure).toMatchObject({ reason, definite: false })
    await session.dispose()
  })
})

describe('a session of a pi-mono backend', () => {
  it.each([
    ['500', json(rude, 500), 'server_failed'],
    ['401', json(rude, 401), 'unauthorized'],
    ['no id', json({}), 'malformed_response'],
    ['another page', quotes, 'malformed_response']
  ] as const)('is not opened by %s', async (_, answer, reason) => {
    const { open } = await backend({ 'POST sessions': answer })
    expect(await failureOf(open())).toMatchObject({ reason })
  })

  it('that is gone already is dropped, and one that cannot be closed is reported', async () => {
    const gone = await backend({ 'POST sessions': opened })
    await (await gone.open()).dispose()
    expect(gone.asked).toEqual(['POST /sessions', 'DELETE /sessions/s%201'])
    const broken = await backend({ 'POST sessions': opened, 'DELETE sessions': json(rude, 500) })
    expect(await failureOf((await broken.open()).dispose())).toMatchObject({
      reason: 'server_failed'
    })
  })
})

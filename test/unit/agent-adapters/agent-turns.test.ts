import { describe, expect, it } from 'vitest'
import {
  AdapterRegistry,
  type AgentAdapter,
  type AgentDelta,
  AgentTurns,
  builtInAdapters,
  type FakeTurn,
  type TurnResult
} from '../../../src/agent/index.js'
import { type EffectCall, EffectFailure } from '../../../src/code/index.js'
import { hashJson, type Json } from '../../../src/core/index.js'

const signal = new AbortController().signal

function call(options: {
  readonly key?: string
  readonly kind?: string
  readonly turn?: object
  readonly apiKey?: string
}) {
  const { key = 'k1', kind = 'fake', turn = {}, apiKey } = options
  const body = {
    runId: 'run-1',
    nodeId: 'main',
    agentId: 'clerk',
    turnMode: 'normal',
    prompt: 'hello',
    input: {},
    messages: [],
    ...turn
  }
  const request: Json = {
    adapterKind: kind,
    adapterConfig: apiKey === undefined ? {} : { apiKey },
    flowName: 'flow',
    timeoutMs: 60_000,
    turn: body
  }
  return { key, request, signal } satisfies EffectCall
}

function turnsWith(
  turn: FakeTurn,
  options: Partial<ConstructorParameters<typeof AgentTurns>[0]> = {}
) {
  const adapters = builtInAdapters({ fake: { script: () => turn } })
  return new AgentTurns({ adapters, environment: {}, ...options })
}

async function failureOf(ending: Promise<unknown>): Promise<EffectFailure> {
  const error = await ending.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(EffectFailure)
  return error as EffectFailure
}

/** An adapter of which each part can be replaced. */
function adapterOf(parts: Partial<AgentAdapter> & { readonly turn?: () => Promise<TurnResult> }) {
  const { turn, ...rest } = parts
  const session = { turn: turn ?? (async () => result), dispose: async () => undefined }
  const adapter: AgentAdapter = { kind: 'mine', open: async () => session, ...rest }
  const adapters = new AdapterRegistry().registerAdapter('mine', () => adapter)
  return new AgentTurns({ adapters, environment: {} })
}

const result: TurnResult = {
  status: 'completed',
  finalText: 'ok',
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  model: 'mine',
  warnings: []
}

describe('what is sealed of a turn', () => {
  it('A5: is text, usage, model and the digest of the request, without the key', async () => {
    const turns = turnsWith({ text: 'hi', usage: { inputTokens: 3, outputTokens: 1 } })
    const asked = call({})
    expect(await turns.perform(asked)).toEqual({
      status: 'completed',
      finalText: 'hi',
      toolCalls: [],
      usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
      model: 'fake',
      warnings: [],
      requestDigest: hashJson(asked.request)
    })
    // Another try has another key only when it is another effect; the digest stays.
    const again = await turns.perform({ ...asked, key: 'k2' })
    expect(again).toMatchObject({ requestDigest: hashJson(asked.request) })
  })

  it('A5: has a reference in place of the key of its session, where an answer repeats it', async () => {
    const key = 'key-0123456789'
    const answer = { text: `Use ${key} now.`, structured: { said: [key] } }
    const options = { environment: { KEY: key }, documentSecrets: ['env:KEY'] }
    const sealed = await turnsWith(answer, options).perform(call({ apiKey: 'env:KEY' }))
    expect(sealed).toMatchObject({
      finalText: 'Use [env:KEY] now.',
      structuredOutput: { said: ['[env:KEY]'] }
    })
    expect(JSON.stringify(sealed)).not.toContain(key)
  })

  it('A5: has references in place of secrets, wherever they stand', async () => {
    const token = 'tok-0123456789'
    const kept: Json[] = []
    const turns = turnsWith(
      { text: `Use ${token} now.`, structured: { token, list: [{ pin: 17 }] } },
      {
        onDelta: () => expect.unreachable('deltas would tell the secret'),
        secrets: {
          paths: [
            ['structuredOutput', 'token'],
            ['structuredOutput', 'list', 0, 'pin'],
            ['nowhere']
          ],
          keep: (secret) => `vault:${kept.push(secret)}`
        }
      }
    )
    const sealed = await turns.perform(call({}))
    expect(sealed).toMatchObject({
      finalText: 'Use [vault:1] now.',
      structuredOutput: {
        token: { secretRef: 'vault:1' },
        list: [{ pin: { secretRef: 'vault:2' } }]
      }
    })
    expect(kept).toEqual([token, 17])
    expect(JSON.stringify(sealed)).not.toContain(token)
  })

  it('A5: does not hold the key when the model repeats it', async () => {
    const apiKey = 'sk-0123456789'
    const deltas: AgentDelta[] = []
    const turns = turnsWith(
      { text: `your key is ${apiKey}` },
      { environment: { TALLY_FAKE_API_KEY: apiKey }, onDelta: (delta) => deltas.push(delta) }
    )
    const sealed = await turns.perform(call({}))
    expect(sealed).toMatchObject({ finalText: 'your key is [env:TALLY_FAKE_API_KEY]' })
    expect(JSON.stringify(deltas)).not.toContain(apiKey)
  })
})

describe('deltas', () => {
  it('A5: deltas are events with their place, and a listener that throws harms nothing', async () => {
    const deltas: AgentDelta[] = []
    const onDelta = (delta: AgentDelta) => {
      deltas.push(delta)
      throw new Error('a listener of the host')
    }
    const turns = turnsWith({ text: 'abcd', reasoning: 'hm', chunkLength: 2 }, { onDelta })
    await turns.perform(call({ key: 'k7' }))
    const place = { type: 'agent.delta', runId: 'run-1', nodeId: 'main', agentId: 'clerk' }
    expect(deltas).toEqual([
      { ...place, invocationId: 'k7', kind: 'reasoning', text: 'hm' },
      { ...place, invocationId: 'k7', kind: 'text', text: 'ab' },
      { ...place, invocationId: 'k7', kind: 'text', text: 'cd' }
    ])
  })
})

describe('what goes wrong before a turn', () => {
  it('is definite for an unknown kind', async () => {
    const failure = await failureOf(turnsWith({}).perform(call({ kind: 'oracle' })))
    expect(failure).toMatchObject({ reason: 'adapter_unavailable', definite: true })
    expect(failure.details).toMatchObject({ code: 'agent.unknown_adapter' })
  })

  it('is definite for settings that will not do', async () => {
    const failure = await failureOf(turnsWith({}).perform(call({ kind: 'deepseek' })))
    expect(failure).toMatchObject({ reason: 'invalid_settings', definite: true })
    expect(failure.details).toEqual({
      problems: ['baseUrl is missing', 'apiKey is missing', 'model is missing']
    })
  })

  it('is definite for a process that cannot be started', async () => {
    const adapters = builtInAdapters({
      piMono: { rpc: { command: '/nowhere/pi' }, defaults: { transport: 'rpc' } }
    })
    const turns = new AgentTurns({ adapters, environment: {} })
    const failure = await failureOf(turns.perform(call({ kind: 'pi-mono' })))
    expect(failure).toMatchObject({ reason: 'adapter_unavailable', definite: true })
  })

  it('does not let a document choose a program', async () => {
    const turns = new AgentTurns({ adapters: builtInAdapters(), environment: {} })
    const asked = call({ kind: 'pi-mono' })
    const adapterConfig = { transport: 'rpc', options: { command: 'rm', arguments: ['-rf'] } }
    const request = { ...(asked.request as object), adapterConfig } as Json
    const failure = await failureOf(turns.perform({ ...asked, request }))
    expect(failure.details).toEqual({
      problems: ['transport rpc needs the adapter to be given its program']
    })
  })

  it('quotes nothing of an error that an adapter throws', async () => {
    const turns = adapterOf({
      turn: async () => {
        throw new TypeError('cannot read sk-0123 of prompt hello')
      }
    })
    const failure = await failureOf(turns.perform(call({ kind: 'mine' })))
    expect(failure).toMatchObject({ reason: 'adapter_failed', definite: false })
    expect(failure.details).toEqual({ error: 'TypeError' })
    expect(failure.cause).toBeUndefined()
  })
})

describe('sessions', () => {
  it('A4: opens one for each run and agent, and does its turns one after the other', async () => {
    let opened = 0
    let active = 0
    const disposed: number[] = []
    const turns = adapterOf({
      open: async () => {
        opened += 1
        const number = opened
        return {
          turn: async () => {
            active += 1
            expect(active).toBe(1)
            await Promise.resolve()
            active -= 1
            return { ...result, finalText: `session ${number}` }
          },
          dispose: async () => void disposed.push(number)
        }
      }
    })
    const four = [1, 2, 3, 4].map((at) => turns.perform(call({ kind: 'mine', key: `k${at}` })))
    await Promise.all(four)
    expect(opened).toBe(1)
    await turns.perform(call({ kind: 'mine', turn: { agentId: 'judge' } }))
    await turns.perform(call({ kind: 'mine', turn: { runId: 'run-2' } }))
    expect(opened).toBe(3)
    await turns.disposeRun('run-1')
    expect(disposed).toEqual([1, 2])
    await turns.close()
    expect(disposed).toEqual([1, 2, 3])
  })

  it('opens a session again after one that did not open', async () => {
    let tries = 0
    const turns = adapterOf({
      open: async () => {
        tries += 1
        if (tries === 1) throw new EffectFailure('unreachable', { definite: true })
        return { turn: async () => result, dispose: async () => undefined }
      }
    })
    const failure = await failureOf(turns.perform(call({ kind: 'mine' })))
    expect(failure.reason).toBe('unreachable')
    expect(await turns.perform(call({ kind: 'mine' }))).toMatchObject({ finalText: 'ok' })
  })

  it('gives up when a new session is lost as well', async () => {
    let turnsDone = 0
    const turns = adapterOf({
      turn: async () => {
        turnsDone += 1
        throw new EffectFailure('session_lost', { definite: true })
      }
    })
    const failure = await failureOf(turns.perform(call({ kind: 'mine' })))
    expect(failure).toMatchObject({ reason: 'session_lost', definite: true })
    expect(turnsDone).toBe(2)
  })
})

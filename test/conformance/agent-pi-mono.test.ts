import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Model } from '@mariozechner/pi-ai'
import { afterEach, describe, expect, it } from 'vitest'
import { PiMonoServer } from '../../examples/pi-mono-server/server.js'
import { AdapterRegistry, AgentTurns, piMonoAdapter } from '../../src/agent/index.js'
import type { EffectCall } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import {
  type AdapterDriver,
  type AdapterScene,
  adapterChecks,
  adapterScenes,
  type ChatScene,
  type ChatServer,
  conformanceSecrets,
  startChatServer
} from '../../src/testing/index.js'
import { agentOf, flowOf, nodeOf } from '../support/flows.js'
import { documentOf, Project } from '../support/project.js'

/** The real pi agent behind HTTP, in front of the fake chat server. */

const { apiKey } = conformanceSecrets
const documentSecrets = ['env:PI_KEY']

function modelAt(baseUrl: string): Model<'openai-completions'> {
  return {
    id: 'deepseek-v4-flash',
    name: 'fake',
    api: 'openai-completions',
    provider: 'deepseek',
    baseUrl,
    reasoning: true,
    input: ['text'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 64_000,
    maxTokens: 4_096
  }
}

const scenes: Readonly<Record<AdapterScene, ChatScene>> = {
  text: { ...adapterScenes.text, chunkLength: 5 },
  reasoning: adapterScenes.reasoning,
  structured: adapterScenes.structured,
  unstructured: adapterScenes.unstructured,
  tools: { toolCalls: [adapterScenes.tools] },
  unauthorized: { text: 'never asked' },
  lost: { breaks: 'hang' },
  hang: { breaks: 'hang', text: 'The inv' }
}

const driver: AdapterDriver = {
  start: async (scene) => {
    const chat = await startChatServer({
      script: () => {
        // The backend itself goes away while the model still thinks.
        if (scene === 'lost') void server.close()
        return scenes[scene]
      }
    })
    const serverKey = scene === 'unauthorized' ? 'another key' : apiKey
    const options = { model: modelAt(chat.url), modelKey: 'model-key', apiKey: serverKey }
    const server = await PiMonoServer.start(options)
    return {
      adapter: piMonoAdapter(),
      settings: { baseUrl: server.url, apiKey },
      close: async () => {
        await server.close()
        await chat.close()
      }
    }
  }
}

describe('adapter conformance: pi-mono, http, with the real pi agent', () => {
  for (const check of adapterChecks(driver)) {
    it(check.name, async () => {
      await expect(check.run(driver)).resolves.toBeUndefined()
    })
  }
})

describe('turns with the real pi agent', () => {
  let chat: ChatServer | undefined
  let server: PiMonoServer | undefined
  afterEach(async () => {
    await server?.close()
    await chat?.close()
  })

  async function start(script: (index: number) => ChatScene): Promise<AgentTurns> {
    chat = await startChatServer({ script: ({ index }) => script(index) })
    server = await PiMonoServer.start({ model: modelAt(chat.url), modelKey: 'model-key', apiKey })
    const adapters = new AdapterRegistry().registerAdapter('pi-mono', () => piMonoAdapter())
    return new AgentTurns({ adapters, environment: { PI_KEY: apiKey }, documentSecrets })
  }

  function call(key: string, nodeId: string, session?: string): EffectCall {
    const turn = {
      runId: 'run-1',
      nodeId,
      agentId: 'clerk',
      turnMode: 'normal',
      prompt: `prompt of ${nodeId}`,
      input: {},
      messages: []
    }
    const adapterConfig = { baseUrl: server?.url ?? '', apiKey: 'env:PI_KEY' }
    const request: Json = {
      adapterKind: 'pi-mono',
      adapterConfig,
      flowName: 'flow',
      timeoutMs: 60_000,
      ...(session === undefined ? {} : { session }),
      turn
    }
    return { key, request, signal: new AbortController().signal }
  }

  it('A4: shares one session among the turns of an agent, and disposes of it', async () => {
    const turns = await start((index) => ({ text: `answer ${index}` }))
    expect(await turns.perform(call('k1', 'one'))).toMatchObject({ finalText: 'answer 0' })
    expect(await turns.perform(call('k2', 'two'))).toMatchObject({ finalText: 'answer 1' })
    expect(server?.sessions).toBe(1)
    // The second request carries what the first one said.
    const texts = JSON.stringify(chat?.requests[1]?.body['messages'])
    for (const said of ['prompt of one', 'answer 0', 'prompt of two']) expect(texts).toContain(said)
    await turns.disposeRun('run-1')
    expect(server?.sessions).toBe(0)
  })

  it('A4: continues in the session that a crash left open, and disposes of it', async () => {
    const crashed = await start((index) => ({ text: `answer ${index}` }))
    const sealed = await crashed.perform(call('k1', 'one'))
    expect(sealed).toMatchObject({ session: 'session-1' })
    // Another process: nothing is known but what was sealed.
    const adapters = new AdapterRegistry().registerAdapter('pi-mono', () => piMonoAdapter())
    const later = new AgentTurns({ adapters, environment: { PI_KEY: apiKey }, documentSecrets })
    expect(await later.locate(call('k1', 'one', 'session-1'))).toMatchObject({ found: true })
    expect(await later.perform(call('k2', 'two', 'session-1'))).toMatchObject({
      finalText: 'answer 1',
      session: 'session-1',
      warnings: []
    })
    expect(JSON.stringify(chat?.requests[1]?.body['messages'])).toContain('answer 0')
    expect(server?.sessions).toBe(1)
    await later.disposeRun('run-1')
    expect(server?.sessions).toBe(0)
    // One that is gone is replaced, and the result says so.
    expect(await later.perform(call('k3', 'three', 'session-1'))).toMatchObject({
      session: 'session-2',
      warnings: ['the backend had lost the session; the turn was done in a new one']
    })
    await later.close()
  })

  it('does a turn again in a new session when the backend lost the old one, and says so', async () => {
    const turns = await start((index) => ({ text: `answer ${index}` }))
    await turns.perform(call('k1', 'one'))
    server?.forget()
    expect(await turns.perform(call('k2', 'two'))).toMatchObject({
      finalText: 'answer 1',
      warnings: ['the backend had lost the session; the turn was done in a new one']
    })
    await turns.close()
  })

  it('L7: asks by the key what became of a turn whose answer was lost', async () => {
    const turns = await start(() => ({ text: 'done once' }))
    await turns.perform(call('k1', 'one'))
    const later = call('k1', 'one')
    expect(await turns.locate(later)).toMatchObject({
      found: true,
      result: { finalText: 'done once' }
    })
    expect(await turns.locate(call('k9', 'one'))).toEqual({ found: false, definite: false })
    // The same key again does nothing again.
    expect(await turns.perform(later)).toMatchObject({ finalText: 'done once' })
    expect(chat?.requests).toHaveLength(1)
    await turns.close()
  })
})

/** Holds what is asked of a server back until it is let go. */
async function gateTo(target: () => string) {
  const held: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    await new Promise<void>((resolve) => held.push(resolve))
    const headers = { 'content-type': 'application/json' }
    const body = Buffer.concat(chunks).toString()
    const answer = await fetch(`${target()}${request.url}`, { method: 'POST', headers, body })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: async () => {
      while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    letGo: () => held.shift()?.(),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

describe('sessions of a process that was killed', () => {
  it('A4: are let go of, whether the run is resumed or called off', async () => {
    const project = await Project.create()
    const chat = await startChatServer({ script: ({ index }) => ({ text: `answer ${index}` }) })
    const gate = await gateTo(() => chat.url)
    const model = modelAt(gate.url)
    const server = await PiMonoServer.start({ model, modelKey: 'model-key', apiKey })
    const environment = { TALLY_PI_MONO_BASE_URL: server.url, TALLY_PI_MONO_API_KEY: apiKey }
    const agent = { ...agentOf('clerk'), adapterKind: 'pi-mono' }
    const nodes = ['one', 'two', 'three'].map((id) =>
      nodeOf(id, 'agent.main', { agentId: 'clerk' })
    )
    const flow = flowOf({ agents: [agent], nodes, edges: ['one -> two', 'two -> three'] })
    await project.write('flow.json', JSON.stringify(flow))
    const notes = () => readdir(project.path('.tally/agent-sessions'))
    try {
      expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
      const words = ['run', 'flow.json', '--id', 'flow', '--inputs', '{"userPrompt":"go"}']
      const begun = project.start([...words, '--json'], { environment })
      await gate.asked()
      begun.child.kill('SIGKILL')
      await begun.ended
      // Nothing of the first turn was sealed, and the session is known all the same.
      expect([server.sessions, (await notes()).length]).toEqual([1, 1])
      expect(
        await readFile(project.path(`.tally/agent-sessions/${(await notes())[0]}`), 'utf8')
      ).toContain('"runId":"flow"')
      gate.letGo()

      const resumed = project.start(['resume', 'flow', '--json'], { environment })
      await gate.asked()
      // The turn under way was asked for by its key, and not done again.
      expect(chat.requests).toHaveLength(1)
      expect(server.sessions).toBe(1)
      resumed.child.kill('SIGKILL')
      await resumed.ended
      gate.letGo()

      const cancelled = await project.tally(['cancel', 'flow', '--json'], { environment })
      expect(documentOf(cancelled, 'run')).toMatchObject({ status: 'cancelled' })
      expect(server.sessions).toBe(0)
      expect(await notes()).toEqual([])
    } finally {
      gate.close()
      await server.close()
      await chat.close()
      await project.remove()
    }
  }, 60_000)
})

import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import {
  type AgentAdapter,
  aiSdkAdapter,
  deepSeekAdapter,
  fakeAdapter,
  piMonoAdapter
} from '../../src/agent/index.js'
import { guardedFetch } from '../../src/intent/index.js'
import {
  type AdapterDriver,
  type AdapterScene,
  adapterChecks,
  adapterScenes,
  type ChatScene,
  conformanceSecrets,
  startChatServer
} from '../../src/testing/index.js'
import { fakeAdapterScenes } from '../support/fake-adapter-scenes.js'

const { apiKey } = conformanceSecrets

/** A scene as the fake chat server plays it. */
const chatScenes: Readonly<Record<AdapterScene, ChatScene>> = {
  text: { ...adapterScenes.text, chunkLength: 5 },
  reasoning: adapterScenes.reasoning,
  structured: adapterScenes.structured,
  unstructured: adapterScenes.unstructured,
  tools: { toolCalls: [adapterScenes.tools] },
  unauthorized: { status: 401, code: 'invalid_api_key' },
  lost: { breaks: 'disconnect', text: 'The inv' },
  hang: { breaks: 'hang', text: 'The inv' }
}

/** An adapter whose chat server plays the scene. */
function chatDriver(
  make: (url: string) => { readonly adapter: AgentAdapter; readonly transport?: string }
): AdapterDriver {
  return {
    start: async (scene) => {
      const server = await startChatServer({ script: () => chatScenes[scene] })
      const { adapter, transport } = make(server.url)
      const settings = { baseUrl: server.url, apiKey, model: 'deepseek-v4-flash' }
      return {
        adapter,
        settings: { ...settings, ...(transport === undefined ? {} : { transport }) },
        close: () => server.close()
      }
    }
  }
}

const fakeDriver: AdapterDriver = {
  start: async (scene) => ({
    adapter: fakeAdapter({ script: () => fakeAdapterScenes[scene] }),
    settings: {},
    close: async () => undefined
  })
}

// A process that speaks pi's RPC and plays the scene that its environment names.
const program = fileURLToPath(new URL('./fixtures/pi-rpc.mjs', import.meta.url))

const rpcDriver: AdapterDriver = {
  // pi does its own tools, and reads its keys itself.
  without: ['tools', 'unauthorized'],
  start: async (scene) => ({
    adapter: piMonoAdapter({
      rpc: {
        command: process.execPath,
        arguments: [program],
        environment: { SCENE: JSON.stringify(chatScenes[scene]) }
      }
    }),
    settings: { transport: 'rpc' },
    close: async () => undefined
  })
}

const drivers: readonly (readonly [name: string, driver: AdapterDriver])[] = [
  ['fake', fakeDriver],
  ['deepseek', chatDriver(() => ({ adapter: deepSeekAdapter() }))],
  [
    'deepseek, openai-compatible',
    chatDriver(() => ({ adapter: deepSeekAdapter(), transport: 'openai-compatible' }))
  ],
  [
    'deepseek, bound by the network policy',
    chatDriver(() => ({
      adapter: deepSeekAdapter({ fetch: guardedFetch({ policy: { allowLoopback: true } }) })
    }))
  ],
  ['pi-mono, deepseek', chatDriver(() => ({ adapter: piMonoAdapter(), transport: 'deepseek' }))],
  ['pi-mono, rpc', rpcDriver],
  [
    'ai-sdk',
    chatDriver((baseURL) => {
      const provider = createOpenAICompatible({ name: 'mine', baseURL, apiKey, includeUsage: true })
      return { adapter: aiSdkAdapter({ model: (model) => provider(model) }) }
    })
  ]
]

for (const [name, driver] of drivers) {
  describe(`adapter conformance: ${name}`, () => {
    for (const check of adapterChecks(driver)) {
      it(check.name, async () => {
        await expect(check.run(driver)).resolves.toBeUndefined()
      })
    }
  })
}

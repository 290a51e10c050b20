import { describe, expect, it } from 'vitest'
import { secretBehind } from '../../../src/agent/binding/secret.js'
import { sessionSettings } from '../../../src/agent/binding/settings.js'
import {
  AdapterRegistry,
  type AdapterSettings,
  bindingReport,
  type FlowHost,
  fakeAdapter,
  memoryFiles,
  readPromptAssets
} from '../../../src/agent/index.js'
import { type Json, type JsonObject, Redactor } from '../../../src/core/index.js'
import type { Registrations } from '../../../src/runtime/index.js'
import { agentOf, flowOf, nodeOf, oneTurn, runFlow } from '../../support/flows.js'

function hostWith(defaults: AdapterSettings | undefined, kind = 'pi-mono'): FlowHost {
  const adapters = new AdapterRegistry().registerAdapter(kind, () => ({
    ...fakeAdapter(),
    kind,
    ...(defaults === undefined ? {} : { defaults })
  }))
  return { adapters, tool: () => undefined, kind: () => undefined }
}

function settingsOf(options: {
  readonly agent?: JsonObject
  readonly runtime?: JsonObject
  readonly defaults?: AdapterSettings
  readonly environment?: Readonly<Record<string, string>>
  readonly kind?: string
}) {
  const { agent = {}, runtime = {}, environment = {}, kind = 'pi-mono' } = options
  const document = flowOf({
    agents: [{ ...agentOf('main', agent), adapterKind: kind }],
    nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' })],
    runtime
  })
  const report = bindingReport(document, { host: hostWith(options.defaults, kind), environment })
  if (!report.ok) throw new Error(JSON.stringify(report.findings))
  const settings = report.nodes[0]?.settings ?? []
  return Object.fromEntries(settings.map(({ name, value, source }) => [name, [value, source]]))
}

const environment = {
  AGENTSFLOW_LLM_MODEL: 'llm-model',
  VITE_AGENTSFLOW_LLM_API_KEY: 'not shown',
  AGENTSFLOW_PI_MONO_MODEL: 'pi-model',
  TALLY_LLM_TEMPERATURE: '0.5'
}

describe('A3: where a setting comes from', () => {
  it('flow or agent before constructor before *_PI_MONO_* before *_LLM_*', () => {
    expect(settingsOf({ environment })).toEqual({
      apiKey: ['env:VITE_AGENTSFLOW_LLM_API_KEY', 'env:VITE_AGENTSFLOW_LLM_API_KEY'],
      model: ['pi-model', 'env:AGENTSFLOW_PI_MONO_MODEL'],
      temperature: [0.5, 'env:TALLY_LLM_TEMPERATURE']
    })
    const defaults = { model: 'built', temperature: 1 }
    expect(settingsOf({ environment, defaults })).toMatchObject({
      model: ['built', 'adapter'],
      temperature: [1, 'adapter']
    })
    const runtime = { adapterConfig: { model: 'of the flow', temperature: 0.1 } }
    expect(settingsOf({ environment, defaults, runtime })).toMatchObject({
      model: ['of the flow', 'flow'],
      temperature: [0.1, 'flow']
    })
    const agent = { adapterConfig: { model: 'configured' }, modelProfile: { model: 'profile' } }
    expect(settingsOf({ environment, defaults, runtime, agent })).toMatchObject({
      model: ['profile', 'agent'],
      temperature: [0.1, 'flow']
    })
  })

  it('gives each kind its own part of the environment', () => {
    const settings = settingsOf({ environment, kind: 'deepseek' })
    expect(settings).toMatchObject({ model: ['llm-model', 'env:AGENTSFLOW_LLM_MODEL'] })
  })

  it("keeps the host's key from a server that only the document names", () => {
    const agent = { adapterConfig: { baseUrl: 'http://elsewhere.example' } }
    expect(settingsOf({ environment, agent })).not.toHaveProperty('apiKey')
  })

  it.each([
    ['a secret of its own choice', { apiKey: 'env:OTHER_KEY' }],
    ['a file', { apiKey: 'file:/etc/passwd' }],
    ['the usual key and a server', { apiKey: 'env:TALLY_LLM_API_KEY', baseUrl: 'http://else' }],
    ["another kind's key", { apiKey: 'env:TALLY_DEEPSEEK_API_KEY' }],
    ['a secret much like an allowed one', { apiKey: 'env:MINE2' }]
  ])('A3: refuses a document that names %s, before the run and in it', async (_, config) => {
    const flow = oneTurn({}, { adapterConfig: config })
    let turns = 0
    const script = () => {
      turns += 1
      return { text: 'hello' }
    }
    const environment = { OTHER_KEY: 's3cret', TALLY_LLM_API_KEY: 's3cret' }
    const host = { environment, documentSecrets: ['env:MINE'] }
    const { result } = await runFlow(flow, { script, host })
    const told = JSON.stringify(result)
    expect(result.response.success).toBe(false)
    expect(told).toContain('agents.documentSecrets')
    expect([turns, told.includes('s3cret')]).toEqual([0, false])
    const adapter = { ...fakeAdapter(), kind: 'fake' }
    const documentSecrets = ['env:MINE']
    const network = 'any' as const
    const redactor = new Redactor()
    const given = {
      adapterConfig: config,
      adapter,
      environment,
      documentSecrets,
      network,
      redactor
    }
    await expect(sessionSettings(given)).rejects.toMatchObject({
      reason: 'secret_not_allowed',
      definite: true
    })
  })

  it.each([
    ['the usual key of its kind', { apiKey: 'env:TALLY_LLM_API_KEY' }],
    ['a listed secret and a server', { apiKey: 'env:MINE', baseUrl: 'http://127.0.0.1:9' }]
  ])('A3: takes %s from a document', async (_, config) => {
    const flow = oneTurn({}, { adapterConfig: config })
    const environment = { MINE: 'a key', TALLY_LLM_API_KEY: 'a key' }
    const host = { environment, documentSecrets: ['env:MINE'] }
    const network = { policy: { allowLoopback: true } }
    const registrations = { network } as Registrations
    const { result } = await runFlow(flow, {
      script: () => ({ text: 'hello' }),
      host,
      registrations
    })
    expect(result.status).toBe('done')
  })

  it('K16: shows where a value comes from that holds a key, and not the value', () => {
    const environment = {
      TALLY_LLM_BASE_URL: 'https://user:passphrase@models.example/v1?key=abcdefgh12345678'
    }
    const shown = settingsOf({ environment, defaults: { apiKey: 'sk-not-a-reference-0123' } })
    expect(shown).toMatchObject({
      baseUrl: ['(set, not shown)', 'env:TALLY_LLM_BASE_URL'],
      apiKey: ['(set, not shown)', 'adapter']
    })
    const plain = { TALLY_LLM_BASE_URL: 'https://models.example/v1/ethereum' }
    expect(settingsOf({ environment: plain })).toMatchObject({
      baseUrl: ['https://models.example/v1/ethereum', 'env:TALLY_LLM_BASE_URL']
    })
  })

  it('reads secrets only by reference, and says nothing of what it found', async () => {
    const environment = { KEY: ' s3cret-of-mine \n', EMPTY: '' }
    const redactor = new Redactor()
    const secrets = { environment, redactor }
    await expect(secretBehind('env:KEY', secrets)).resolves.toBe('s3cret-of-mine')
    expect(redactor.text('a s3cret-of-mine')).toBe('a [env:KEY]')
    await expect(secretBehind('env:EMPTY', secrets)).rejects.toMatchObject({
      reason: 'secret_missing',
      definite: true
    })
    await expect(secretBehind('s3cret', secrets)).rejects.toThrow(/^secret_not_reference$/)
    await expect(secretBehind('file:/nowhere/at-all', secrets)).rejects.toMatchObject({
      reason: 'secret_missing'
    })
    const adapter = { ...fakeAdapter(), kind: 'deepseek' }
    const settings = await sessionSettings({
      adapterConfig: { apiKey: 'env:KEY', options: { seed: 1 } },
      adapter,
      environment,
      documentSecrets: 'any',
      network: 'any',
      redactor
    })
    expect(settings).toEqual({ apiKey: 's3cret-of-mine', options: { seed: 1 } })
  })
})

const agentFile = (agentId: string, rest = '') =>
  [
    '---',
    `name: ${agentId}`,
    `agentId: ${agentId}`,
    'adapterKind: fake',
    rest,
    '---',
    'Body.'
  ].join('\n')

async function withAssets(files: Readonly<Record<string, string>>, nodes: readonly JsonObject[]) {
  const manifest = await readPromptAssets('.agents-flow', { files: memoryFiles(files) })
  return flowOf({
    agents: [agentOf('main', { modelProfile: { model: 'inline' }, budgets: { maxSteps: 9 } })],
    nodes,
    extensions: { promptAssets: manifest as unknown as Json }
  })
}

describe('A1: which agent a node has', () => {
  it('agentRef goes before agentId', async () => {
    const files = { '.agents-flow/agents/a.agent.md': agentFile('asset', 'model: of the file') }
    const node = nodeOf('ask', 'agent.main', { agentId: 'main', agentRef: 'asset' })
    const report = bindingReport(await withAssets(files, [node]), {
      host: hostWith(undefined, 'fake'),
      environment: {}
    })
    if (!report.ok) throw new Error(JSON.stringify(report.findings))
    expect(report.nodes).toMatchObject([
      {
        via: 'agentRef',
        agentId: 'asset',
        sourcePath: 'agents/a.agent.md',
        settings: [{ name: 'model', value: 'of the file', source: 'agent' }]
      }
    ])
  })

  it('an agent of a file has the budgets that the document gives its id', async () => {
    const files = { '.agents-flow/agents/a.agent.md': agentFile('main', 'tools: []') }
    const node = nodeOf('ask', 'agent.main', { agentRef: 'main' })
    const run = await runFlow(await withAssets(files, [node]), { script: () => ({ text: 'x' }) })
    expect(run.requests[0]).toMatchObject({ model: 'inline', agentId: 'main' })
    expect(run.result.response.success).toBe(true)
  })

  it('layout.nodeBindings changes nothing', async () => {
    const document = flowOf({ nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' })] })
    const layout = { nodeBindings: [{ nodeId: 'ask', overrides: { agentId: 'other' } }] }
    const script = () => ({ text: 'x' })
    const plain = await runFlow(document, { script })
    const laidOut = await runFlow({ ...document, layout }, { script })
    expect(laidOut.receipts).toEqual(plain.receipts)
  })

  it('an unknown kind of adapter is an error before the run starts', async () => {
    const document = flowOf({
      agents: [{ ...agentOf('main'), adapterKind: 'nowhere' }],
      nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' })]
    })
    const { result, receipts } = await runFlow(document, { script: () => ({ text: 'x' }) })
    expect(result.response).toMatchObject({ success: false, reason: 'invalid_graph' })
    expect(JSON.stringify(result.response.details)).toContain(
      'adapter_not_found: no adapter is registered as nowhere; registered are: fake'
    )
    expect(receipts).toEqual([])
  })
})

import { mkdir } from 'node:fs/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Provider } from '../../src/block/index.js'
import { type Block, defineBlock } from '../../src/code/index.js'
import { ConsoleServer } from '../../src/console/index.js'
import { type Json, type JsonObject, Redactor } from '../../src/core/index.js'
import { chainProviders, evmExecutor, readChain } from '../../src/executor/evm/index.js'
import { solanaExecutor } from '../../src/executor/solana/index.js'
import { secretsOf } from '../../src/intent/index.js'
import { createRuntime, type WiredRuntime } from '../../src/runtime/index.js'
import type { Telemetry } from '../../src/telemetry/index.js'
import { Browser } from '../support/console/browser.js'
import { cases } from '../support/effort.js'
import { agentOf, flowOf, nodeOf } from '../support/flows.js'
import { PackageFolder } from '../support/packages.js'
import { Project } from '../support/project.js'
import { formsIn, headerShapes } from '../support/secrets.js'
import { SpansInMemory } from '../support/spans.js'
import { dumpOf } from './secrets-stay-out/dump.js'
import { type Manner, manners, RudeServer } from './secrets-stay-out/rude-server.js'

/** One secret of each shape; where it stands, and the chain that is reached with it. */
const all = Object.entries(headerShapes).map(([shape, arbitrary], at) => ({
  shape,
  secret: fc.sample(arbitrary, 1)[0] ?? '',
  name: `SECRET_${at}`,
  reference: `env:SECRET_${at}`,
  chain: 1_000 + at
}))
type Planted = (typeof all)[number]

const timeout = 240_000

/** An eighth of the shapes for each manner, all of them among all eight; half for each in LONG. */
function plantedFor(manner: Manner): readonly Planted[] {
  const place = manners.indexOf(manner)
  const outOf = cases({ usual: manners.length, long: 2, soak: 1 })
  return all.filter((_one, at) => at % outOf === place % outOf)
}

let server: RudeServer
let folder: PackageFolder
let packageDirectory: string
let project: Project
beforeAll(async () => {
  server = await RudeServer.start()
  folder = await PackageFolder.create()
  packageDirectory = await folder.write({
    id: 'asker',
    intents: ['asker.ask'],
    capabilities: [{ name: 'network.request', inputs: { hosts: ['127.0.0.1'] } }],
    code: `export async function run({ payload }, api) {
      const { url, reference, timeoutMs } = payload
      const headers = { authorization: { secret: reference, prefix: 'Bearer ' } }
      return api.network.request({ url, headers, timeoutMs })
    }`
  })
  project = await Project.create()
})
afterAll(async () => {
  await server.close()
  await folder.remove()
  await project.remove()
})

/** A server that never answers is given up soon; every other one has time. */
function patienceMs(manner: Manner): number {
  return manner === 'silent' ? 50 : 60_000
}

const askChain: Block = defineBlock({
  name: 'ask.chain',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['ask.chain'],
  run: async (ctx, { chain, method }: { readonly chain: string; readonly method: string }) => {
    const type = chain.startsWith('solana:') ? 'solana_read' : 'evm_rpc'
    return readChain(ctx, { chain, execution: { type, method, params: [] } })
  }
})

const askOwn: Block = defineBlock({
  name: 'ask.own',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['ask.own'],
  run: (ctx, input: JsonObject) => {
    ctx.log('asks', input)
    return ctx.effect('own.ask', { request: input })
  }
})

/** A provider of the program, which reads its keys itself and quotes whatever it hears. */
function ownProvider(manner: Manner): Provider {
  const redactor = new Redactor()
  return {
    name: 'own.ask',
    redactor,
    perform: async ({ request }) => {
      const one = all.find(({ name }) => name === (request as JsonObject)['name'])
      if (one === undefined) throw new Error('no such secret')
      redactor.know(one.reference, one.secret)
      const headers = { authorization: `Bearer ${one.secret}` }
      const signal = AbortSignal.timeout(patienceMs(manner))
      const response = await fetch(`${server.url}/own`, { headers, signal })
      const text = await response.text()
      const told = { text, headers: Object.fromEntries(response.headers) }
      if (!response.ok) throw new Error(JSON.stringify(told))
      return told
    }
  }
}

/** Whether the chain's address has a user and a password. */
function isRefused(chain: number): boolean {
  return chain % 5 === 0
}

/** The id of a chain of Solana; a genesis hash begins with the part after the colon. */
function solanaChain(chain: number): string {
  return `solana:${String(chain).replaceAll('0', 'A').padStart(32, 'S')}`
}

function open(location: string, manner: Manner, telemetry: Telemetry): Promise<WiredRuntime> {
  const planted = plantedFor(manner)
  const secrets = planted.map(({ name, secret }) => [name, secret] as const)
  const endpoints = planted.map(({ name, secret, chain }) => {
    const path = `/chain/${chain}/${encodeURIComponent(secret)}`
    // `fetch` refuses an address with a password, and quotes it.
    const user = isRefused(chain) ? `user:${encodeURIComponent(secret)}@` : ''
    return [`${name}_URL`, `http://${user}127.0.0.1:${server.port}${path}`] as const
  })
  const environment = Object.fromEntries([...secrets, ...endpoints])
  const chains = planted.map(({ chain, name }) => {
    const config = { rpc: [`env:${name}_URL`], rpcTimeoutMs: patienceMs(manner) }
    return { evm: [`eip155:${chain}`, config], solana: [solanaChain(chain), config] } as const
  })
  const evm = Object.fromEntries(chains.map((one) => one.evm))
  const solana = Object.fromEntries(chains.map((one) => one.solana))
  const references = planted.map(({ reference }) => reference)
  return createRuntime({
    location,
    create: 'if-absent',
    insecurePlaintextKey: true,
    serve: false,
    telemetry,
    blocks: [askChain, askOwn],
    providers: [
      ownProvider(manner),
      ...chainProviders([
        evmExecutor({ chains: evm, environment }),
        solanaExecutor({ chains: solana, environment })
      ])
    ],
    packages: [packageDirectory],
    agents: { environment, documentSecrets: references },
    network: {
      policy: {
        allowLoopback: true,
        secrets: references.map((reference) => ({ reference, hosts: ['127.0.0.1'] }))
      },
      secrets: secretsOf(environment)
    }
  })
}

function flowFor({ reference }: Planted, manner: Manner): Json {
  const adapterConfig = { apiKey: reference, baseUrl: `${server.url}/v1` }
  const agent = {
    ...agentOf('main', { adapterConfig, timeouts: { turnMs: patienceMs(manner) } }),
    adapterKind: 'deepseek',
    modelProfile: { model: 'fake' }
  }
  return flowOf({
    agents: [agent],
    nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' }), nodeOf('end', 'control.finish')],
    edges: ['ask -> end']
  })
}

/** Every road on which a secret leaves; each returns what its caller gets. */
const roads: Readonly<
  Record<string, (tally: WiredRuntime, one: Planted, manner: Manner) => Promise<unknown>>
> = {
  package: (tally, { name, reference }, manner) => {
    const timeoutMs = Math.min(10_000, patienceMs(manner))
    const payload = { url: `${server.url}/package`, reference, timeoutMs }
    return tally.intent({ id: `package-${name}`, action: 'asker.ask', payload })
  },
  agent: (tally, one, manner) =>
    tally.begin(flowFor(one, manner), { id: `agent-${one.name}`, inputs: { userPrompt: 'go' } })
      .result,
  chain: async (tally, { name, chain }) => {
    const methods = ['eth_getBalance', 'eth_gasPrice', 'getTransaction', 'getBlockHeight']
    const asked = methods.map((method) => {
      const payload = {
        chain: method.startsWith('eth') ? `eip155:${chain}` : solanaChain(chain),
        method
      }
      return tally.intent({ id: `${method}-${name}`, action: 'ask.chain', payload })
    })
    return Promise.all(asked)
  },
  own: (tally, { name }) =>
    tally.intent({ id: `own-${name}`, action: 'ask.own', payload: { name } })
}

describe('K16: secrets stay out of all that is written and told', () => {
  it.each(manners)('of a server that is %s, on every road', { timeout }, async (manner) => {
    server.manner = manner
    server.heard.clear()
    const planted = plantedFor(manner)
    const directory = project.path(manner.replace(' ', '-'))
    await mkdir(directory)
    const location = `${directory}/ledger`
    const told: string[] = []
    const spans = new SpansInMemory()
    const { telemetry } = spans
    {
      await using tally = await open(location, manner, telemetry)
      tally.events.on('event', (event) => told.push(JSON.stringify(event)))
      const payload = { package: 'asker', capabilities: ['network.request'] }
      await tally.intent({ action: 'system.grant', payload })
      const asked = planted.flatMap((one) =>
        Object.values(roads).map((road) => road(tally, one, manner))
      )
      for (const ended of await Promise.allSettled(asked)) {
        expect(ended.status).toBe('fulfilled')
        told.push(JSON.stringify(ended))
      }
      told.push(deltasOf(told))
      const ids = planted.flatMap(({ name }) => [`agent-${name}`, `own-${name}`, `package-${name}`])
      told.push(...(await shownOf(tally, ids)))
    }
    told.push(
      JSON.stringify(
        spans.spans.map(({ name, attributes, events, status }) => {
          return [name, attributes, events, status]
        })
      ),
      await spans.metricsText()
    )
    // Some may be given up before a silent server has heard them.
    const unheard = planted.filter(({ secret }) => !server.heard.has(secret))
    if (manner !== 'silent') expect(unheard).toEqual([])
    server.manner = 'failing'
    server.heard.clear()
    {
      await using tally = await open(location, manner, telemetry)
      const report = await tally.replay()
      expect([report.failure, report.ok]).toEqual([undefined, true])
      told.push(JSON.stringify([report, tally.status()]))
    }
    expect(server.heard.size).toBe(0)
    const [first] = planted
    for (const words of ['log --all', 'runs', `show agent-${first?.name}`]) {
      for (const form of [[], ['--json']]) {
        const typed = [...words.split(' '), '--dir', location, ...form]
        const { code, stdout, stderr } = await project.tally(typed)
        expect(code).toBe(0)
        told.push(stdout, stderr)
      }
    }
    const kept = await dumpOf(location)
    const written = told.join('\n')
    for (const { shape, secret } of planted) {
      expect([shape, formsIn(kept, secret), formsIn(written, secret)]).toEqual([shape, [], []])
    }
    if (manner !== 'echo') return
    for (const { reference, name, chain } of planted) {
      const has = [kept, written].map((text) => text.includes(`[${reference}]`))
      const hasAddress = kept.includes(`[env:${name}_URL]`)
      expect([...has, hasAddress]).toEqual([true, true, !isRefused(chain)])
    }
  })
})

const PIECE_OF_DEATH = 40
/** One shape for each death in so many. */
const DEATHS_OUT_OF = cases({ usual: all.length, long: 12, soak: 6 })

describe('K16: a secret is not left behind by a process that dies', () => {
  const deaths = ['between request and answer', 'in the middle of the answer'] as const
  const shapesOfDeaths = deaths.flatMap((death, place) =>
    all.filter((_one, at) => at % DEATHS_OUT_OF === place).map((one) => ({ death, ...one }))
  )
  let flowProject: Project
  beforeAll(async () => {
    flowProject = await Project.create()
    const agent = { ...agentOf('main'), adapterKind: 'deepseek', modelProfile: { model: 'fake' } }
    const flow = flowOf({
      agents: [agent],
      nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' }), nodeOf('end', 'control.finish')],
      edges: ['ask -> end']
    })
    await flowProject.write('flow.json', JSON.stringify(flow))
    expect((await flowProject.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
  })
  afterAll(() => flowProject.remove())

  it.each(shapesOfDeaths)(
    '$death, with a secret of the shape $shape',
    { timeout },
    async ({ death, name, secret }) => {
      const id = `${name}-${deaths.indexOf(death)}`
      const environment = { TALLY_LLM_BASE_URL: server.url, TALLY_LLM_API_KEY: secret }
      const words = ['run', 'flow.json', '--id', id, '--inputs', '{"userPrompt":"go"}', '--json']
      server.manner = 'echo'
      const dying = flowProject.start(words, { environment })
      const kill = async () => {
        dying.child.kill('SIGKILL')
        await dying.ended
      }
      if (death === 'between request and answer') server.onRequest = kill
      else server.onPiece = async (at) => (at === PIECE_OF_DEATH ? kill() : undefined)
      const died = await dying.ended
      expect(dying.child.signalCode).toBe('SIGKILL')
      server.onRequest = async () => undefined
      server.onPiece = async () => undefined
      const between = await dumpOf(flowProject.path('.tally'))
      const resumed = await flowProject.start(words, { environment }).ended
      expect([resumed.code, resumed.stderr]).toEqual([0, expect.any(String)])
      const verified = await flowProject.tally(['verify', '--replay'])
      expect(verified.code).toBe(0)
      const told = [died, resumed, verified].map(({ stdout, stderr }) => `${stdout}${stderr}`)
      const kept = await dumpOf(flowProject.path('.tally'))
      for (const text of [between, kept, ...told]) expect(formsIn(text, secret)).toEqual([])
      for (const text of [kept, resumed.stdout]) {
        expect(text.includes('[env:TALLY_LLM_API_KEY]')).toBe(true)
      }
    }
  )
})

/** What a console, its feed and an inspector get of some runs. */
async function shownOf(tally: WiredRuntime, ids: readonly string[]): Promise<readonly string[]> {
  const server = await ConsoleServer.open({ port: 0, handle: tally.service, page: new Map() })
  try {
    const browser = await Browser.open(server.link())
    const shown: string[] = []
    const ask = async (method: string, params: object) => {
      shown.push((await browser.post(`/api/${method}`, JSON.stringify(params))).text)
    }
    for (const method of ['status', 'doctor', 'waits', 'find', 'runs', 'receipts']) {
      await ask(method, {})
    }
    await ask('state', { prefix: '' })
    const [first = ''] = ids
    for (const id of ids) {
      const ofRun = id === first ? ['show', 'chart', 'calls', 'recording'] : ['show']
      for (const method of [...ofRun, 'journal']) await ask(method, { id })
      for await (const message of tally.inspection(id, { payloads: true })) {
        shown.push(JSON.stringify(message))
      }
    }
    for await (const event of browser.feed('0.0')) {
      shown.push(JSON.stringify(event))
      if (event !== 'comment' && JSON.stringify(event).includes('run.finished')) break
    }
    return shown
  } finally {
    await server.close()
  }
}

/** The text of each turn, put together again from its deltas. */
function deltasOf(told: readonly string[]): string {
  const texts = new Map<string, string>()
  for (const line of told) {
    const { type, runId, kind, text } = JSON.parse(line) as Record<string, string>
    if (type !== 'agent.delta') continue
    const turn = `${runId} ${kind}`
    texts.set(turn, `${texts.get(turn) ?? ''}${text}`)
  }
  return [...texts.values()].join('\n')
}

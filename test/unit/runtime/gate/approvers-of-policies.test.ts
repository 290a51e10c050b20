import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AdapterRegistry, type AgentTool, fakeAdapter } from '../../../../src/agent/index.js'
import { checkWait, type Json, type JsonObject } from '../../../../src/core/index.js'
import {
  createRuntime,
  MEMORY_LOCATION,
  type Registrations,
  type WiredRuntime
} from '../../../../src/runtime/index.js'
import { aisText } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { transfer, flow as workflow } from '../../../support/ais-flows.js'
import { approvers, signed, twoOfThree } from '../../../support/approvers.js'
import { agentOf, flowOf, nodeOf } from '../../../support/flows.js'
import { PackageFolder } from '../../../support/packages.js'

/** K13, K14: approvers that a pack, a tool policy or an obligation of a capability names. */

const { ada, ben, eve } = approvers
const list = twoOfThree as unknown as JsonObject
const protocols = [aisText('erc20')]

const packOf = (name: string, named?: JsonObject): JsonObject => ({
  schema: 'ais-pack/0.0.2',
  meta: { name, version: '1.0.0' },
  includes: [{ protocol: 'erc20', version: '0.0.2' }],
  policy: { approvals: { auto_execute_max_risk_level: 0, ...(named && { approvers: named }) } }
})

const bundle = (packs: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  schema: 'ais-bundle/1',
  flow: workflow([transfer('pay')]),
  packs: packs as Json,
  writes: 'broadcast',
  ...more
})

const toolPolicy = { allowedCapabilities: ['act'], approvers: list }
const nodes = (config: JsonObject = {}) => [
  nodeOf('ask', 'agent.main', { agentId: 'main', config }),
  nodeOf('finish', 'control.finish')
]
const edges = ['ask -> finish']

/** What a package does under a capability of this name, and how that is seen. */
const capabilities = {
  'messages.send': 'api.messages.send({ to: "ben", text: "pay" })',
  'network.request': 'api.network.request({ url: intent.payload.url })'
}

const actionOf = (name: string) => `payer.${name.replace('.', 'To')}`

interface Road {
  readonly name: string
  readonly asks: { readonly document: Json } | { readonly action: string }
  readonly host?: Registrations
  /** What the result says where it was done in the state of the unit. */
  readonly result?: string
}

const roads: readonly Road[] = [
  {
    name: 'a pack of the host',
    asks: { document: workflow([transfer('pay')]) },
    host: { workflow: { protocols, packs: [packOf('own', list)], writes: 'broadcast' } }
  },
  {
    name: 'a pack of the host, where the run may not send by itself',
    asks: { document: workflow([transfer('pay')]) },
    host: { workflow: { protocols, packs: [packOf('own', list)] } }
  },
  { name: 'a pack of a bundle', asks: { document: bundle([packOf('its', list)]) } },
  {
    name: 'a pack of a bundle that counts confirmations as given',
    asks: { document: bundle([packOf('its', list)], { yes: true }) }
  },
  {
    name: 'the stricter of two packs',
    asks: {
      document: bundle([
        packOf('one', { threshold: 1, keys: [ada.key, ben.key, approvers.cay.key, eve.key] }),
        packOf('two', list),
        packOf('three')
      ])
    }
  },
  {
    name: 'the tool policy of an agent',
    asks: { document: flowOf({ agents: [agentOf('main', { toolPolicy })], nodes: nodes(), edges }) }
  },
  {
    name: 'the tool policy of an agent to whom a task is handed',
    asks: {
      document: flowOf({
        agents: [
          agentOf('main', { subagentPolicy: { switchModes: ['flow-forced'], maxDelegations: 1 } }),
          agentOf('helper', { toolPolicy })
        ],
        nodes: nodes({ delegateTo: 'helper' }),
        edges
      })
    }
  },
  ...Object.keys(capabilities).map(
    (name): Road => ({
      name: `an obligation of the capability ${name} of a package`,
      asks: { action: actionOf(name) },
      host: { obligations: { effects: { [name]: { confirm: { approvers: twoOfThree } } } } },
      ...(name === 'network.request' ? {} : { result: '"did":' })
    })
  )
]

let folder: PackageFolder
let payer: string
let server: Server
let requests = 0
beforeAll(async () => {
  folder = await PackageFolder.create()
  server = createServer((_, response) => {
    requests += 1
    response.end('paid')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cases = Object.entries(capabilities).map(
    ([name, call]) => `case '${actionOf(name)}': return { did: await ${call} }`
  )
  payer = await folder.write({
    id: 'payer',
    intents: Object.keys(capabilities).map(actionOf),
    capabilities: ['messages.send', { name: 'network.request', inputs: { hosts: ['127.0.0.1'] } }],
    code: `export async function run(intent, api) {
      switch (intent.action) { ${cases.join('\n')} }
    }`
  })
})
afterAll(async () => {
  server.close()
  await folder.remove()
})

interface Opened {
  readonly tally: WiredRuntime
  /** How much was done outside. */
  readonly acts: () => number
}

async function opened({ host = {} }: Pick<Road, 'host'>): Promise<Opened> {
  const acts: string[] = []
  const chain = new TestChain()
  const tool: AgentTool = {
    name: 'act',
    description: 'Acts.',
    parameters: { type: 'object' },
    sideEffects: 'non_idempotent',
    perform: () => {
      acts.push('act')
      return 'done'
    }
  }
  const adapters = new AdapterRegistry().registerAdapter('fake', () =>
    fakeAdapter({
      script: ({ messages, tools }) =>
        messages.length > 0 || tools === undefined
          ? { text: 'done' }
          : { text: '', toolCalls: [{ id: 'c', name: 'act', arguments: {} }] }
    })
  )
  const tally = await createRuntime({
    location: MEMORY_LOCATION,
    create: 'if-absent',
    providers: chain.providers,
    workflow: { protocols },
    agents: { adapters, tools: [tool], environment: {} },
    packages: [payer],
    network: { policy: { allowLoopback: true } },
    ...host
  })
  const payload = { package: 'payer', capabilities: Object.keys(capabilities) }
  expect(await tally.intent({ action: 'system.grant', payload })).toMatchObject({ type: 'dapp' })
  requests = 0
  return { tally, acts: () => acts.length + chain.functions.length + requests }
}

/** Goes a road until it asks approvers. */
async function asked(tally: WiredRuntime, { asks }: Road) {
  const { port } = server.address() as AddressInfo
  const payload = { url: `http://127.0.0.1:${port}/` }
  if ('action' in asks) await tally.intent({ id: 'run', ...asks, payload })
  const run =
    'action' in asks ? await tally.attach('run') : tally.begin(asks.document, { id: 'run' })
  if ('document' in asks) {
    for await (const event of run) if (['run.parked', 'run.finished'].includes(event.type)) break
  }
  const [wait, ...others] = await run.waits()
  if (wait === undefined || others.length > 0) {
    throw new Error(`it asks ${others.length} more: ${JSON.stringify((await run.result).response)}`)
  }
  return { run, wait }
}

describe('K13: approvers that are named by', () => {
  describe.each(roads)('$name', (road) => {
    it('let nothing be done before enough of them have signed', async () => {
      const { tally, acts } = await opened(road)
      await using _ = tally
      const { run, wait } = await asked(tally, road)
      const { token, digest } = wait
      expect(wait.approvers).toEqual({ threshold: 2, keys: [...twoOfThree.keys].sort() })
      expect(() => checkWait('run', wait)).not.toThrow()
      const refused = async (answer: object) =>
        expect(await run.approve(token, { digest, ...answer })).toMatchObject({ accepted: false })
      await refused({ by: 'Ada' })
      await refused({ by: ada.key })
      await refused({ approval: signed(wait, 'eve') })
      await refused({ approval: signed(wait, 'ada', { action: 'deny' }) })
      expect(await run.approve(token, { digest, approval: signed(wait, 'ada') })).toEqual({
        accepted: true,
        isPartial: true
      })
      await refused({ approval: signed(wait, 'ada') })
      await refused({ by: 'Ben' })
      expect(acts()).toBe(0)
      const last = await run.approve(token, { digest, approval: signed(wait, 'ben') })
      expect(last).toEqual({ accepted: true })
      const { status, response } = await run.result
      expect(status).toBe('done')
      if (road.result === undefined) expect(acts()).toBe(1)
      else expect(JSON.stringify(response)).toContain(road.result)
      expect(await tally.replay()).toMatchObject({ ok: true })
    })

    it('stop it by one signed denial, and by no other', async () => {
      const { tally, acts } = await opened(road)
      await using _ = tally
      const { run, wait } = await asked(tally, road)
      const { token, digest } = wait
      expect(await run.deny(token, { digest })).toMatchObject({ reason: 'signature_missing' })
      const approval = signed(wait, 'ben', { action: 'deny' })
      expect(await run.deny(token, { digest, approval })).toEqual({ accepted: true })
      const { response } = await run.result
      expect(acts()).toBe(0)
      if (road.result !== undefined) expect(JSON.stringify(response)).not.toContain(road.result)
      expect(await tally.replay()).toMatchObject({ ok: true })
    })
  })
})

describe('K13: approvers that could hold for nothing', () => {
  const narrow = { threshold: 1, keys: [eve.key] }
  const start = async (document: Json) => {
    const { tally } = await opened({})
    await using _ = tally
    const { response } = await tally.begin(document, { id: 'run' }).result
    return JSON.stringify(response)
  }

  it('are refused in two packs of which neither list is the stricter', async () => {
    const packs = [packOf('one', list), packOf('two', narrow)]
    expect(await start(bundle(packs))).toContain('neither list is the stricter')
    const opening = opened({ host: { workflow: { protocols, packs } } })
    await expect(opening).rejects.toMatchObject({ code: 'workflow.invalid_document' })
  })

  it.each([
    ['a threshold beyond the keys', { threshold: 2, keys: [ada.key] }],
    ['a key that is none', { threshold: 1, keys: ['0'.repeat(64)] }],
    ['a key twice', { threshold: 1, keys: [ada.key, ada.key] }],
    ['another member', { threshold: 1, keys: [ada.key], by: 'Ada' }]
  ])('are refused with %s', async (_, named) => {
    expect(await start(bundle([packOf('one', named)]))).toContain('schema_violation')
    const agents = [agentOf('main', { toolPolicy: { ...toolPolicy, approvers: named } })]
    expect(await start(flowOf({ agents, nodes: nodes(), edges }))).toContain('approvers')
  })

  it('are refused in a tool policy that never asks', async () => {
    const never = { ...toolPolicy, approvalRequirement: 'never' }
    const agents = [agentOf('main', { toolPolicy: never })]
    const reply = await start(flowOf({ agents, nodes: nodes(), edges }))
    expect(reply).toContain('tool_policy_not_enforceable')
  })

  it.each(['storage.read', 'storage.write'])(
    'are refused for %s, which nothing waits for',
    async (name) => {
      const effects = { [name]: { confirm: { approvers: twoOfThree } } }
      const opening = createRuntime({ location: MEMORY_LOCATION, obligations: { effects } })
      await expect(opening).rejects.toMatchObject({ code: 'runtime.invalid_obligation' })
    }
  )
})

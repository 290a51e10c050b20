import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  AdapterRegistry,
  type AdapterSettings,
  deepSeekAdapter,
  piMonoAdapter
} from '../../src/agent/index.js'
import { parseManifest } from '../../src/capability/index.js'
import { defineBlock } from '../../src/code/index.js'
import type { Json } from '../../src/core/index.js'
import { evmExecutor } from '../../src/executor/evm/index.js'
import { chainProviders } from '../../src/executor/index.js'
import { createRuntime, MEMORY_LOCATION, type WiredRuntime } from '../../src/runtime/index.js'
import { aisText } from '../support/ais.js'
import { isLong } from '../support/effort.js'
import { PackageFolder } from '../support/packages.js'
import { type Kind, kinds, manifests } from './named-servers/kinds.js'
import { type Place, placesOf, withText } from './named-servers/places.js'

/**
 * K15, of the whole class: a URL in any member of any document leads to no connection, but for the
 * members that name a server, and there by the network policy. The servers are real: those of the
 * lanes are named by documents, the other by the host.
 */

/** Documents that run at a time, each with a server of its own: most of their time is waiting. */
const LANES = 8

interface Listening {
  readonly url: string
  /** Paths that were asked for, each once. */
  readonly asked: Set<string>
  readonly server: Server
}

async function listening(): Promise<Listening> {
  const asked = new Set<string>()
  const server = createServer(async (request, response) => {
    asked.add(request.url ?? '')
    const id = await idOf(request)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
  })
  // A connection counts, also one on which nothing is asked.
  server.on('connection', () => asked.add('connected'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked, server }
}

async function idOf(request: IncomingMessage): Promise<Json> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text.startsWith('{') ? (JSON.parse(text).id ?? null) : null
}

let lanes: readonly Listening[] = []
let hosts: Listening
beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: LANES }, listening))
  hosts = await listening()
})
afterEach(() => {
  for (const { asked } of lanes) asked.clear()
})
afterAll(() => {
  for (const { server } of [...lanes, hosts]) {
    server.closeAllConnections()
    server.close()
  }
})

/** Documents of each kind at most: one that begins asks its endpoint for as long as it may. */
const PLACES_MAX = isLong ? 60 : 40
const KEY = 'sk-0123456789abcdef'
const say = defineBlock({
  name: 'say',
  version: '1.0.0',
  sideEffects: 'none',
  intents: ['say'],
  run: (_, input) => input as Json
})

function opened(allowLoopback: boolean): Promise<WiredRuntime> {
  const defaults: AdapterSettings = { baseUrl: hosts.url, apiKey: 'env:KEY', model: 'm' }
  const adapters = new AdapterRegistry()
    .registerAdapter('deepseek', () => deepSeekAdapter({ defaults }))
    .registerAdapter('pi-mono', () => piMonoAdapter({ defaults }))
  const signer = 'env:SIGNER'
  const chains = { 'eip155:1': { rpc: [hosts.url], signer } }
  const environment = { KEY, SIGNER: `0x${'1'.repeat(64)}` }
  return createRuntime({
    location: MEMORY_LOCATION,
    blocks: [say],
    providers: chainProviders([evmExecutor({ chains, environment })]),
    workflow: {
      protocols: [aisText('erc20')],
      writes: 'broadcast',
      policy: { autoExecuteMaxRisk: 5, requireApprovalMinRisk: 6 }
    },
    agents: { adapters, environment, documentSecrets: ['env:KEY'] },
    network: { policy: { allowLoopback } }
  })
}

/** Runs a document as far as it goes by itself; whether a run began. */
async function ran(tally: WiredRuntime, document: Json, id: string): Promise<boolean> {
  const run = tally.begin(document, { id })
  for await (const { type } of run) {
    if (type === 'run.finished') break
    if (type === 'run.parked') {
      await run.cancel()
      break
    }
  }
  await run.result
  return tally.run(id) !== undefined
}

/** Runs a kind with a URL at each place; gives the places that were connected to. */
async function connectedBy(kind: Kind, places: readonly Place[], allowLoopback: boolean) {
  const { base, within = (document: Json) => document } = kind
  const connected: string[] = []
  let begun = 0
  await using tally = await opened(allowLoopback)
  const left = [...places.entries()]
  const runIn = async ({ url, asked }: Listening) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, place] = next
      const document = within(withText(base, place, `${url}/v1`))
      if (await ran(tally, document, `run-${index}`)) begun += 1
      if (asked.size > 0) connected.push(place.join('/'))
      asked.clear()
    }
  }
  await Promise.all(lanes.map(runIn))
  return { connected, begun }
}

describe('K15: a URL in any member of', () => {
  it.each(kinds)('$name leads nowhere but to the servers that it names', async (kind) => {
    const { servers = [], more = [] } = kind
    const all = [...placesOf(kind.schema), ...more]
    const stride = Math.ceil(all.length / PLACES_MAX)
    const places = all.filter(
      (place, index) => index % stride === 0 || servers.includes(place.join('/'))
    )
    const { connected, begun } = await connectedBy(kind, places, true)
    expect(begun).toBeGreaterThan(1)
    expect([...connected].sort()).toEqual([...servers].sort())
    const ofServers = places.filter((place) => servers.includes(place.join('/')))
    const refused = await connectedBy(kind, ofServers, false)
    expect(refused.connected).toEqual([])
  })

  it('a manifest leads nowhere, whatever its package may ask for', async () => {
    const folder = await PackageFolder.create()
    const ids: string[] = []
    const packages: string[] = []
    for (const [index, place] of placesOf(manifests.schema).entries()) {
      const id = `named${index}`
      const manifest = withText(manifests.base(id), place, `${lanes[0]?.url}/v1`)
      const parsed = parseManifest(manifest)
      if (!parsed.ok || parsed.manifest.id !== id || place[0] === 'intents') continue
      const written = { id, intents: [], code: 'export const run = async () => ({ ran: true })' }
      const directory = await folder.write(written)
      await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest))
      packages.push(directory)
      ids.push(id)
    }
    expect(ids.length).toBeGreaterThan(10)
    const network = { policy: { allowLoopback: true } }
    await using tally = await createRuntime({ location: MEMORY_LOCATION, packages, network })
    for (const id of ids) {
      const payload = { package: id, capabilities: ['network.request'] }
      await tally.intent({ action: 'system.grant', payload })
      expect(await tally.intent({ action: `${id}.run` })).toMatchObject({ ran: true })
    }
    expect(lanes.flatMap(({ asked }) => [...asked])).toEqual([])
    await folder.remove()
  })
})

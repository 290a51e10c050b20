import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentTurns, builtInAdapters } from '../../../src/agent/index.js'
import { EffectFailure } from '../../../src/code/index.js'
import { isJsonObject, type Json, type JsonObject, Redactor } from '../../../src/core/index.js'
import type { HostAddress } from '../../../src/intent/scoped-api/network/addresses.js'
import {
  type NetworkOptions,
  networkCapability
} from '../../../src/intent/scoped-api/network/network.js'

/**
 * K15: every road on which a document or a package names the server goes by one network policy. The
 * server is on this machine and counts who comes: a refused road never reaches it.
 */

let server: Server
let elsewhere: Server
let arrivals = 0
let arrivalsElsewhere = 0
let location = ''
beforeEach(async () => {
  arrivals = 0
  arrivalsElsewhere = 0
  location = ''
  server = createServer((_request, response) => {
    arrivals += 1
    if (location === '') return void response.writeHead(503).end('{}')
    response.writeHead(307, { location }).end()
  })
  elsewhere = createServer((_request, response) => {
    arrivalsElsewhere += 1
    response.end('{}')
  })
  for (const one of [server, elsewhere]) {
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
  }
})
afterEach(() => {
  for (const one of [server, elsewhere]) {
    one.closeAllConnections()
    one.close()
  }
})

const portOf = (one: Server) => (one.address() as AddressInfo).port

type Road = (url: string, network: NetworkOptions) => Promise<Json | undefined>

function adapterRoad(adapterKind: string, settings: JsonObject = {}): Road {
  return (baseUrl, network) => {
    const turns = new AgentTurns({
      adapters: builtInAdapters(),
      environment: { KEY: 'sk-0123456789abcdef' },
      documentSecrets: ['env:KEY'],
      network
    })
    const place = { runId: 'r', nodeId: 'n', agentId: 'a' }
    const request: Json = {
      adapterKind,
      adapterConfig: { baseUrl, apiKey: 'env:KEY', model: 'm', ...settings },
      flowName: 'f',
      timeoutMs: 60_000,
      turn: { ...place, turnMode: 'normal', prompt: 'p', input: {}, messages: [] }
    }
    return turns.perform({ key: 'k', request, signal: new AbortController().signal })
  }
}

const packageRoad: Road = async (url, network) => {
  const capability = networkCapability({ ...network, redactor: new Redactor() })
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const entry = { canonical: 'network.request', inputs: { hosts: [host] } }
  const { signal } = new AbortController()
  const call = { key: 'k', request: { url: new URL(url).href }, signal }
  const caller = { packageId: 'p', entry } as unknown as Parameters<typeof capability.perform>[1]
  return capability.perform(call, caller)
}

const adapters: Readonly<Record<string, Road>> = {
  deepseek: adapterRoad('deepseek'),
  'openai-compatible': adapterRoad('deepseek', { transport: 'openai-compatible' }),
  'pi-mono over chat completions': adapterRoad('pi-mono', { transport: 'openai-compatible' }),
  'pi-mono over HTTP': adapterRoad('pi-mono', { transport: 'http' })
}
const roads: Readonly<Record<string, Road>> = { ...adapters, 'a package': packageRoad }

const PUBLIC: HostAddress = { address: '93.184.215.14', family: 4 }
const HERE: HostAddress = { address: '127.0.0.1', family: 4 }

const names: Readonly<Record<string, readonly HostAddress[]>> = {
  localhost: [HERE],
  'public.test': [PUBLIC],
  'here.test': [HERE],
  'mixed.test': [PUBLIC, HERE],
  'private.test': [{ address: '10.0.0.7', family: 4 }],
  'metadata.test': [{ address: '169.254.169.254', family: 4 }],
  'mapped.test': [{ address: '::ffff:127.0.0.1', family: 6 }],
  'unique.test': [{ address: 'fd00::1', family: 6 }]
}

async function resolve(host: string): Promise<readonly HostAddress[]> {
  const known = names[host]
  if (known !== undefined) return known
  if (!/^[\d.:a-f]+$/.test(host)) throw new Error('ENOTFOUND')
  return [{ address: host, family: host.includes(':') ? 6 : 4 }]
}

async function failureOf(ending: Promise<unknown>): Promise<EffectFailure> {
  const error = await ending.then(
    (value) => new Error(`answered: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(EffectFailure)
  return error as EffectFailure
}

/** Adapters name the problem in the details of `server_not_allowed`. */
function problemOf({ reason, details }: EffectFailure): string {
  const problem = isJsonObject(details) ? details['problem'] : undefined
  return reason === 'server_not_allowed' ? String(problem) : reason
}

const refused: readonly (readonly [string, string])[] = [
  ['http://127.0.0.1', 'address_not_allowed'],
  ['https://127.0.0.1', 'address_not_allowed'],
  ['http://127.9.9.9', 'address_not_allowed'],
  ['http://localhost', 'address_not_allowed'],
  ['http://[::1]', 'address_not_allowed'],
  ['http://[::ffff:127.0.0.1]', 'address_not_allowed'],
  ['http://[::ffff:10.0.0.1]', 'address_not_allowed'],
  ['http://0.0.0.0', 'address_not_allowed'],
  ['http://10.1.2.3', 'address_not_allowed'],
  ['http://172.16.0.1', 'address_not_allowed'],
  ['http://192.168.1.1', 'address_not_allowed'],
  ['http://169.254.169.254', 'address_not_allowed'],
  ['http://[fe80::1]', 'address_not_allowed'],
  ['http://[fd00::1]', 'address_not_allowed'],
  ['https://here.test', 'address_not_allowed'],
  ['https://mixed.test', 'address_not_allowed'],
  ['https://private.test', 'address_not_allowed'],
  ['https://metadata.test', 'address_not_allowed'],
  ['https://mapped.test', 'address_not_allowed'],
  ['https://unique.test', 'address_not_allowed'],
  ['http://public.test', 'tls_required'],
  ['https://nowhere.test', 'not_resolved']
]

describe('K15: servers that documents and packages name', () => {
  for (const [name, road] of Object.entries(roads)) {
    it(`are refused by their addresses: ${name}`, async () => {
      for (const [url, problem] of refused) {
        const failure = await failureOf(road(`${url}:${portOf(server)}/`, { resolve }))
        expect([url, problemOf(failure), failure.definite]).toEqual([url, problem, true])
      }
      expect(arrivals).toBe(0)
    })

    it(`are asked at the addresses that were looked at: ${name}`, async () => {
      // Only this resolver knows the name.
      const network = { resolve, policy: { allowLoopback: true } }
      await road(`http://here.test:${portOf(server)}/`, network).catch(() => undefined)
      expect(arrivals).toBe(1)
    })

    it(`lead nowhere that a redirect points to: ${name}`, async () => {
      const network = { resolve, policy: { allowLoopback: true } }
      for (const host of ['10.0.0.1', '169.254.169.254', 'private.test', '[::ffff:10.0.0.1]']) {
        location = `http://${host}:${portOf(elsewhere)}/`
        const url = `http://127.0.0.1:${portOf(server)}/`
        const { reason, definite } = await failureOf(road(url, network))
        expect(['refused', 'host_not_allowed']).toContain(reason)
        expect(definite).toBe(true)
      }
      expect([arrivals, arrivalsElsewhere]).toEqual([4, 0])
    })
  }

  for (const [name, road] of Object.entries(adapters)) {
    it(`are looked at again when they are connected to: ${name}`, async () => {
      let answers = 0
      const changing = async () => {
        answers += 1
        return answers === 1 ? [PUBLIC] : [HERE]
      }
      const url = `https://changing.test:${portOf(server)}/`
      expect(problemOf(await failureOf(road(url, { resolve: changing })))).toBe(
        'address_not_allowed'
      )
      expect([answers, arrivals]).toEqual([2, 0])
    })

    it(`follow no redirect on this machine either: ${name}`, async () => {
      location = `http://127.0.0.1:${portOf(elsewhere)}/`
      const network = { resolve, policy: { allowLoopback: true } }
      const failure = await failureOf(road(`http://127.0.0.1:${portOf(server)}/`, network))
      expect(failure.reason).toBe('refused')
      expect(arrivalsElsewhere).toBe(0)
    })
  }
})

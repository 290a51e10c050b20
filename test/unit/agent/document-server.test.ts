import { describe, expect, it } from 'vitest'
import { checkDocumentServer } from '../../../src/agent/binding/document-server.js'
import type { NetworkOptions } from '../../../src/intent/index.js'
import type { Registrations } from '../../../src/runtime/index.js'
import { agentOf, flowOf, nodeOf, runFlow } from '../../support/flows.js'

/** K15: the network policy of packages bounds the servers that documents name. */

const names: Readonly<Record<string, string>> = {
  'models.example': '93.184.215.14',
  'inside.example': '10.0.0.7',
  'metadata.example': '169.254.169.254',
  'here.example': '127.0.0.1'
}

async function problemOf(baseUrl: string, policy: NetworkOptions['policy'] = {}) {
  const resolve = async (host: string) => {
    const address = names[host] ?? host
    if (!/^[\d.:a-f]+$/.test(address)) throw new Error('ENOTFOUND')
    return [{ address, family: address.includes(':') ? 6 : 4 } as const]
  }
  return checkDocumentServer({ baseUrl }, { policy, resolve }).then(
    () => 'allowed',
    (error: { reason: string; definite: boolean; details: { problem: string } }) => {
      expect(error).toMatchObject({ reason: 'server_not_allowed', definite: true })
      return error.details.problem
    }
  )
}

describe('K15: a server that a document names', () => {
  it.each([
    ['https://models.example/v1', {}, 'allowed'],
    ['http://models.example/v1', {}, 'tls_required'],
    ['https://inside.example', {}, 'address_not_allowed'],
    ['https://inside.example', { privateHosts: ['inside.example'] }, 'allowed'],
    ['http://inside.example', { privateHosts: ['inside.example'] }, 'tls_required'],
    ['http://169.254.169.254/latest', {}, 'address_not_allowed'],
    ['https://metadata.example', { allowLoopback: true }, 'address_not_allowed'],
    ['http://127.0.0.1:11434', {}, 'address_not_allowed'],
    ['http://127.0.0.1:11434', { allowLoopback: true }, 'allowed'],
    ['http://2130706433', {}, 'address_not_allowed'],
    ['http://0x7f.1', {}, 'address_not_allowed'],
    ['http://[::1]:80', {}, 'address_not_allowed'],
    ['http://[::ffff:10.0.0.1]', {}, 'address_not_allowed'],
    ['https://here.example', {}, 'address_not_allowed'],
    ['https://nowhere.example', {}, 'not_resolved'],
    ['https://models.example', { hosts: ['other.example'] }, 'host_not_allowed'],
    ['https://models.example', { hosts: ['*.example'] }, 'allowed']
  ] as const)('%s under %j is %s', async (baseUrl, policy, expected) => {
    expect(await problemOf(baseUrl, policy)).toBe(expected)
  })

  it('is checked before each turn is sent, and not where the host named it', async () => {
    const flow = (adapterConfig: object) =>
      flowOf({
        agents: [agentOf('main', { adapterConfig: { ...adapterConfig } })],
        nodes: [nodeOf('ask', 'agent.main', { agentId: 'main' }), nodeOf('end', 'control.finish')],
        edges: ['ask -> end']
      })
    const script = () => ({ text: 'hello' })
    const local = { baseUrl: 'http://127.0.0.1:1/v1' }
    const refused = await runFlow(flow(local), { script })
    expect(refused.requests).toEqual([])
    expect(JSON.stringify(refused.result.response)).toContain('server_not_allowed')
    const network: NetworkOptions = { policy: { allowLoopback: true } }
    const registrations = { network } as Registrations
    const allowed = await runFlow(flow(local), { script, registrations })
    expect(allowed.requests).toHaveLength(1)
    const environment = { TALLY_FAKE_BASE_URL: local.baseUrl }
    const usual = await runFlow(flow({}), { script, host: { environment } })
    expect(usual.requests).toHaveLength(1)
  })
})

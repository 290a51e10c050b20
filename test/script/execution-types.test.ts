import { mkdir, symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, Project } from '../support/project.js'

/** Execution types that an executor beside the chain's own brings, as commands see them. */

const config = (bridges: string) => `
import { defineConfig } from 'tallystick'
import { chainProviders } from 'tallystick/evm'
import { FakeChain, fakeExecutor } from 'tallystick/testing'
const chain = new FakeChain({ id: 'eip155:7',
  read: ({ type }) => ({ arrived: type === 'bridge_status' }),
  write: ({ type }) => ({ ok: true, outputs: { by: type } }) })
const terms = { pollMs: 5 }
const own = fakeExecutor({ chains: [chain], accounts: { default: '0x${'1'.repeat(40)}' }, terms })
const bridge = () => fakeExecutor({ chains: [chain], isBeside: true, terms,
  accounts: { default: '0x${'2'.repeat(40)}' },
  executions: { bridge_send: 'write', bridge_status: 'read' } })
export default defineConfig({ providers: chainProviders([own, ${bridges}]) })
`

const protocol = `
schema: ais/0.0.2
meta: { protocol: any-bridge, version: 1.0.0 }
actions:
  send:
    risk_level: 1
    params: [{ name: amount, type: uint256 }]
    returns: [{ name: by, type: string }]
    execution: { "eip155:*": { type: bridge_send, amount: { ref: params.amount } } }
  note:
    risk_level: 1
    returns: [{ name: by, type: string }]
    execution:
      eip155:*:
        type: evm_call
        to: { lit: "0x${'a'.repeat(40)}" }
        abi: { name: note, inputs: [], outputs: [] }
queries:
  status:
    returns: [{ name: arrived, type: bool }]
    execution: { "eip155:*": { type: bridge_status } }
`

const flow = `
schema: ais-flow/0.0.3
meta: { name: pay, version: 1.0.0 }
default_chain: "eip155:7"
imports: { protocols: [{ protocol: any-bridge@1.0.0, path: ./any-bridge.yaml }] }
nodes:
  - { id: note, type: action_ref, protocol: any-bridge@1.0.0, action: note }
  - { id: send, type: action_ref, protocol: any-bridge@1.0.0, action: send, deps: [note],
      args: { amount: { lit: "5" } } }
  - { id: wait, type: query_ref, protocol: any-bridge@1.0.0, query: status, deps: [send],
      retry: { interval_ms: 5, max_attempts: 3 },
      until: { cel: nodes.wait.outputs.arrived == true } }
`

const pack = (types: string) => `
schema: ais-pack/0.0.2
meta: { name: house, version: 1.0.0 }
includes: [{ protocol: any-bridge, version: 1.0.0 }]
plugins: { execution: { enabled: [${types}] } }
`

let project: Project
beforeAll(async () => {
  project = await Project.create()
  await mkdir(project.path('node_modules'))
  const here = fileURLToPath(new URL('../../', import.meta.url))
  await symlink(here, project.path('node_modules/tallystick'))
  await project.write('tally.config.ts', config('bridge()'))
  await project.write('twice.config.ts', config('bridge(), bridge()'))
  await project.write('any-bridge.yaml', protocol)
  await project.write('pay.yaml', flow)
  await project.write('both.yaml', pack('{ type: bridge_send }, { type: bridge_status }'))
  await project.write('reads.yaml', pack('{ type: bridge_status }'))
  expect((await project.tally(['init', '--insecure-plaintext-key'])).code).toBe(0)
})
afterAll(() => project.remove())

const run = (id: string, ...words: readonly string[]) =>
  project.tally(['run', 'pay.yaml', '--id', id, '--yes', ...words, '--json'])
const nodes = (by: string) => ({
  send: { data: { outputs: { by } } },
  wait: { data: { outputs: { arrived: true } } }
})

describe('execution types of an executor that stands beside', () => {
  it('lint, plan and dry run take them', async () => {
    expect((await project.tally(['lint', 'pay.yaml'])).code).toBe(0)
    expect((await project.tally(['plan', 'pay.yaml', '--json'])).code).toBe(0)
    const dry = await project.tally(['run', 'pay.yaml', '--dry-run', '--json'])
    expect(documentOf(dry, 'dry-run')).toMatchObject({
      nodes: [{ id: 'note' }, { id: 'send', execution: { type: 'bridge_send', amount: '5' } }, {}]
    })
  })

  it('a run sends by it, and reads by it until it holds', async () => {
    const sent = await run('sent', '--broadcast', '--pack', 'both.yaml')
    expect(sent.stdout).toContain('tx_sent')
    expect(documentOf(sent, 'result')).toMatchObject({
      status: 'done',
      response: { data: { nodes: nodes('bridge_send') } }
    })
    const verified = await project.tally(['verify', '--replay', '--json'])
    expect(documentOf(verified, 'verification')).toMatchObject({ ok: true })
  })

  it('a simulation is done by it', async () => {
    const simulated = await run('simulated', '--simulate')
    expect(simulated.stdout).not.toContain('tx_sent')
    expect(documentOf(simulated, 'result')).toMatchObject({
      status: 'done',
      response: { data: { nodes: nodes('bridge_send') } }
    })
  })

  it('W12: a pack that does not list a type refuses it', async () => {
    const refused = await run('refused', '--broadcast', '--pack', 'reads.yaml')
    expect(refused.code).not.toBe(0)
    expect(refused.stdout).toContain('bridge_send is not enabled on eip155:7')
    const dry = ['run', 'pay.yaml', '--dry-run', '--pack', 'reads.yaml']
    expect((await project.tally(dry)).stdout).toContain('block: the execution type bridge_send')
  })

  it('two executors of one type on one chain are a wrong configuration', async () => {
    const refused = await run('twice', '--config', 'twice.config.ts')
    expect(refused.code).not.toBe(0)
    expect(refused.stderr + refused.stdout).toContain(
      'Two executors carry out bridge_send on the chain eip155:7'
    )
  })
})

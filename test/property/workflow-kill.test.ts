import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AbiEvent, type Hex, parseAbiItem } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canonicalize, type Json, type JsonObject, Xorshift128 } from '../../src/core/index.js'
import { anvilKeys, artifact, owner, startChain, type TestChain } from '../support/anvil.js'
import { FaultyProxy } from '../support/anvil-proxy.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'
import { type Death, liveUntilCall } from '../support/mortal.js'
import { givenFor, openWorker } from './workflow-kill/worker.mjs'

/** A workflow in a process that is killed, on a real chain. */

const KILLS = cases({ usual: 2, long: 4, soak: 200 })
/** Calls to the node in one life: those of two runs abreast and a part of the next two. */
const CALLS_MAX = 70

const protocol = readFileSync(
  new URL('../../examples/03-evm-transfer/erc20.yaml', import.meta.url),
  'utf8'
)
const erc20 = { protocol: 'erc20@1.0.0' }
const token = { ref: 'calculated.token' }
const recipient = { ref: 'inputs.recipient' }
const amount = { ref: 'inputs.amount' }
const enough = (value: string) => ({
  cel: `${value} >= to_atomic(inputs.amount, calculated.token)`
})

/** Approves if that is needed, pays, waits for the payment, and checks it. */
function flowOn(chain: string): Json {
  const query = (id: string, name: string, args: JsonObject, more: JsonObject) =>
    ({ id, type: 'query_ref', ...erc20, query: name, args: { token, ...args }, ...more }) as Json
  const action = (id: string, args: JsonObject, more: JsonObject) =>
    ({
      id,
      type: 'action_ref',
      ...erc20,
      action: id,
      args: { token, amount, ...args },
      ...more
    }) as Json
  return {
    schema: 'ais-flow/0.0.3',
    meta: { name: 'kill', version: '1.0.0' },
    default_chain: chain,
    inputs: {
      recipient: { type: 'address', required: true },
      amount: { type: 'token_amount', required: true }
    },
    nodes: [
      query('allowance', 'allowance', { owner: { lit: owner.address }, spender: recipient }, {}),
      action(
        'approve',
        { spender: recipient },
        {
          condition: {
            cel: 'nodes.allowance.outputs.allowance < to_atomic(inputs.amount, calculated.token)'
          }
        }
      ),
      action('transfer', { to: recipient }, { deps: ['approve'] }),
      query(
        'arrived',
        'balance',
        { owner: recipient },
        {
          deps: ['transfer'],
          until: enough('nodes.arrived.outputs.balance'),
          retry: { interval_ms: 5, max_attempts: 50 }
        }
      ),
      query(
        'checked',
        'allowance',
        { owner: { lit: owner.address }, spender: recipient },
        {
          deps: ['arrived'],
          assert: enough('nodes.checked.outputs.allowance')
        }
      )
    ],
    outputs: {
      received: { cel: 'to_human(nodes.arrived.outputs.balance, calculated.token)' },
      approved: { cel: 'has(nodes.approve.outputs)' }
    }
  }
}

let chain: TestChain
let proxy: FaultyProxy
let directory: string
let tokenAt: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-workflow-kill-'))
  chain = await startChain()
  proxy = await FaultyProxy.start(chain.url)
  tokenAt = await chain.deploy(artifact('ExampleToken'), ['Example', 'EXT', 6, 100_000_000n])
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await chain.anvil.stop()
  await rm(directory, { recursive: true, force: true })
})

function options() {
  return {
    sources: builtModule('index.js').replace(/index\.js$/, ''),
    location: join(directory, 'ledger'),
    chain: chain.id,
    url: proxy.url,
    key: anvilKeys[0],
    protocol,
    flow: flowOn(chain.id),
    token: tokenAt
  }
}

function oneLife(first: number, death: Death, onLine: (line: string) => void): Promise<void> {
  const worker = join(import.meta.dirname, 'workflow-kill/worker.mjs')
  return liveUntilCall({ worker, given: { ...options(), first }, proxy, death, onLine })
}

const events = {
  approve: 'event Approval(address indexed from, address indexed to, uint256 value)',
  transfer: 'event Transfer(address indexed from, address indexed to, uint256 value)'
} as const

/** Effective transactions of one kind: to whom, and how much. Found by a client of its own. */
async function effective(kind: keyof typeof events): Promise<readonly string[]> {
  const logs = await chain.client.getLogs({
    address: tokenAt as Hex,
    event: parseAbiItem(events[kind]) as AbiEvent,
    args: { from: owner.address },
    fromBlock: 0n
  })
  return logs
    .map(({ args }) => args as unknown as { readonly to: string; readonly value: bigint })
    .map(({ to, value }) => `${to.toLowerCase()} ${value}`)
    .sort()
}

function wanted(id: string) {
  const value = Number(id.slice('run-'.length))
  const { inputs } = givenFor({ chain: chain.id, token: tokenAt }, value) as unknown as {
    readonly inputs: { readonly recipient: string; readonly amount: string }
  }
  return {
    outputs: canonicalize({ approved: true, received: inputs.amount }),
    transaction: `${inputs.recipient} ${value * 10 + 1}`
  }
}

describe('workflows in processes that are killed', () => {
  it('L7, W11: send one transaction for each node, and give what they give without deaths', {
    timeout: KILLS * 20_000
  }, async () => {
    const random = new Xorshift128('workflow-kill')
    const told = new Set<string>()
    const wrong: string[] = []
    for (let life = 0; life < KILLS; life += 1) {
      const at = 1 + (random.uint32() % CALLS_MAX)
      await oneLife(told.size, { at, isAfter: random.uint32() % 2 === 0 }, (line) => {
        const [status, id = '', data = ''] = line.split(' ')
        const isRight = status === 'done' && canonicalize(JSON.parse(data)) === wanted(id).outputs
        if (isRight) told.add(id)
        else wrong.push(line)
      })
    }
    expect(wrong).toEqual([])
    const runtime = await openWorker(options())
    expect(runtime.status().mode).toBe('ready')
    const begun: string[] = []
    for await (const { runId } of runtime.runs()) begun.push(runId)
    expect(begun.length).toBeGreaterThan(0)
    for (const id of begun) {
      const { status, response } = await (await runtime.resume(id)).result
      expect(status, id).toBe('done')
      expect(canonicalize(response.data), id).toBe(wanted(id).outputs)
    }
    const once = begun.map((id) => wanted(id).transaction).sort()
    expect(await effective('approve')).toEqual(once)
    expect(await effective('transfer')).toEqual(once)
    expect(await runtime.verify()).toMatchObject({ ok: true })
    await runtime.close()
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Xorshift128 } from '../../src/core/index.js'
import { anvilKeys, artifact, fragment, startChain, type TestChain } from '../support/anvil.js'
import { FaultyProxy } from '../support/anvil-proxy.js'
import { builtModule } from '../support/built.js'
import { cases } from '../support/effort.js'
import { type Death, liveUntilCall } from '../support/mortal.js'
import { openWorker } from './executor-kill/worker.mjs'

const KILLS = cases({ usual: 2, long: 5, soak: 200 })
/** Calls to the node in one life: those of two writes and a half. */
const CALLS_MAX = 45

const bridge = artifact('BridgeLock')
let chain: TestChain
let proxy: FaultyProxy
let directory: string
let bridgeAt: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-kill-'))
  chain = await startChain()
  proxy = await FaultyProxy.start(chain.url)
  bridgeAt = await chain.deploy(bridge, [])
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
    key: anvilKeys[0]
  }
}

function oneLife(first: number, death: Death, onLine: (line: string) => void): Promise<void> {
  const worker = join(import.meta.dirname, 'executor-kill/worker.mjs')
  const given = { ...options(), note: fragment(bridge, 'note'), to: bridgeAt, first }
  return liveUntilCall({ worker, given, proxy, death, onLine })
}

async function noted(): Promise<readonly number[]> {
  const read = async (name: string, args: readonly bigint[]) =>
    chain.client.readContract({
      address: bridgeAt as `0x${string}`,
      abi: [fragment(bridge, name)] as never,
      functionName: name as never,
      args: args as never
    }) as Promise<bigint>
  const count = Number(await read('noteCount', []))
  const all: number[] = []
  for (let index = 0; index < count; index += 1) {
    all.push(Number(await read('noteAt', [BigInt(index)])))
  }
  return all
}

describe('processes that are killed around their transactions', () => {
  it('L7, W11: send each at most once, and all of them in the end', {
    timeout: KILLS * 15_000
  }, async () => {
    const random = new Xorshift128('executor-kill')
    const told = new Map<string, string>()
    for (let life = 0; life < KILLS; life += 1) {
      const at = 1 + (random.uint32() % CALLS_MAX)
      // A new life resumes the runs of the last ones by starting them again, then continues.
      await oneLife(told.size, { at, isAfter: random.uint32() % 2 === 0 }, (line) => {
        const [status, id = '', hash = ''] = line.split(' ')
        if (status !== 'done') throw new Error(line)
        expect(told.get(id) ?? hash, `${id} ended twice`).toBe(hash)
        told.set(id, hash)
      })
    }
    const runtime = await openWorker(options())
    expect(runtime.status().mode).toBe('ready')
    const begun: string[] = []
    for await (const { runId } of runtime.runs()) begun.push(runId)
    for (const id of begun) {
      const { status } = await (await runtime.resume(id)).result
      expect(status, id).toBe('done')
    }
    await chain.rpc('evm_mine', [])
    const values = await noted()
    expect([...values].sort((a, b) => a - b)).toEqual(
      begun.map((id) => Number(id.slice('run-'.length))).sort((a, b) => a - b)
    )
    expect(begun.length).toBeGreaterThanOrEqual(told.size)
    const report = await runtime.verify()
    expect(report.failure).toBeUndefined()
    await runtime.close()
  })
})

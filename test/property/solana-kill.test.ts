import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SolanaNode } from '../../src/testing/solana-node/index.js'
import { FaultyProxy } from '../support/anvil-proxy.js'
import { builtModule } from '../support/built.js'
import { isLong } from '../support/effort.js'
import { type Death, liveUntilCall } from '../support/mortal.js'
import { aliceKey, bob, LEAST, startSolana, transfer } from '../support/solana-executor.js'
import { openWorker, pay } from './solana-kill/worker.mjs'

const EXPIRY = 220

/** Where a process dies, and how many blocks come before the next one begins. */
interface Case extends Death {
  readonly of: string
  readonly slots: number
}

const all: readonly Case[] = [
  'simulateTransaction',
  'sendTransaction',
  'getSignatureStatuses'
].flatMap((of) =>
  [true, false].flatMap((isAfter) =>
    [1, EXPIRY].map((slots): Case => ({ of, at: 1, isAfter, slots }))
  )
)
/** The three that matter most: before it is sealed, once it is sent, and after it has expired. */
const usual = all.filter(
  ({ of, isAfter, slots }) =>
    (of === 'simulateTransaction' && isAfter && slots === 1) ||
    (of === 'sendTransaction' && (isAfter ? slots === 1 : slots === EXPIRY))
)
const chosen = isLong ? all : usual

let node: SolanaNode
let proxy: FaultyProxy
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tally-solana-'))
  node = await startSolana()
  proxy = await FaultyProxy.start(node.url)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await node.close()
  await rm(directory, { recursive: true, force: true })
})

describe('a process that is killed around its Solana transaction', () => {
  it.each(chosen)(
    'L7, W11: makes one transfer: $of, heard: $isAfter, $slots blocks later',
    {
      timeout: 60_000
    },
    async ({ slots, ...death }) => {
      const given = {
        sources: builtModule('index.js').replace(/index\.js$/, ''),
        location: join(directory, `${death.of}-${death.isAfter}-${slots}`),
        chain: node.id,
        url: proxy.url,
        key: aliceKey,
        execution: transfer(LEAST),
        run: 'pay'
      }
      const before = node.lamports(bob.address)
      const worker = join(import.meta.dirname, 'solana-kill/worker.mjs')
      const lines: string[] = []
      await liveUntilCall({ worker, given, proxy, death, onLine: (line) => lines.push(line) })
      expect(lines).toEqual([])
      node.advance(slots)
      const runtime = await openWorker(given)
      const { status } = await pay(runtime, given)
      expect(status).toBe('done')
      expect(node.lamports(bob.address) - before).toBe(BigInt(LEAST))
      expect((await runtime.verify()).failure).toBeUndefined()
      await runtime.close()
    }
  )
})

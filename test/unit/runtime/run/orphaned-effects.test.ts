import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JournalEntry, Provider } from '../../../../src/block/index.js'
import { type Clock, limits, ManualClock, systemClock } from '../../../../src/core/index.js'
import { chainEffects, chainProviders } from '../../../../src/executor/index.js'
import { createRuntime, type WiredRuntime } from '../../../../src/runtime/index.js'
import { FakeChain, fakeExecutor } from '../../../../src/testing/index.js'
import { sendBlock, sending } from '../../../support/anvil-send.js'
import { until } from '../../../support/lives.js'

const never = new Promise<never>(() => undefined)
const CHAIN = 'eip155:7'

let location: string
let chain: FakeChain
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), 'tally-left-'))
  chain = new FakeChain({ id: CHAIN })
})
afterEach(() => rm(location, { recursive: true, force: true }))

function open(options: {
  readonly clock: Clock
  readonly resume?: boolean
  readonly change?: (provider: Provider) => Provider
}): Promise<WiredRuntime> {
  const { clock, resume = false, change = (provider) => provider } = options
  // Its memory is that of one process.
  const executor = fakeExecutor({ chains: [chain], accounts: { default: '0xme' } })
  const providers = chainProviders([executor]).map(change)
  const given = { location, clock, resume, providers, blocks: [sendBlock], serve: false }
  return createRuntime({ ...given, create: 'if-absent', insecurePlaintextKey: true })
}

const write = (value: number) => ({
  chain: CHAIN,
  execution: { type: 'evm_call', value },
  pollMs: 1,
  timeoutMs: 60_000
})

/** Leaves a run behind whose transaction is signed, and which was about to send it. */
async function leaveOneUnsent(): Promise<void> {
  const clock = new ManualClock()
  let isSending = false
  const change = (provider: Provider): Provider =>
    provider.name !== chainEffects.broadcast
      ? provider
      : {
          ...provider,
          perform: () => {
            isSending = true
            return never
          },
          locate: () => never
        }
  const tally = await open({ clock, change })
  const run = tally.begin(sending(), { id: 'first', inputs: write(1) })
  run.result.catch(() => undefined)
  await until(() => isSending)
  let isClosed = false
  const closing = tally.close().then(() => {
    isClosed = true
  })
  await until(() => {
    clock.advance(limits.CLOSE_GRACE_MS)
    return isClosed
  })
  await closing
  expect(chain.effective()).toEqual([])
}

async function ends(tally: WiredRuntime, ids: readonly string[]) {
  const runs = await Promise.all(ids.map((id) => tally.attach(id)))
  const results = await Promise.all(runs.map(({ result }) => result))
  return results.map(({ status, response }) => [status, response.reason ?? null])
}

const values = () => chain.effective().map(({ execution }) => execution['value'])

describe('what earlier processes have left behind', () => {
  it.each(['resume: true', 'resume(id)', 'none'])(
    'W11: nonces are known before any run starts or resumes (%s)',
    async (how) => {
      await leaveOneUnsent()
      const tally = await open({ clock: systemClock, resume: how === 'resume: true' })
      const second = tally.begin(sending(), { id: 'second', inputs: write(2) })
      if (how === 'resume(id)') await tally.resume('first')
      await second.result
      if (how === 'none') await tally.resume('first')
      expect(await ends(tally, ['first', 'second'])).toEqual([
        ['done', null],
        ['done', null]
      ])
      expect(values()).toEqual([1, 2])
      await tally.close()
    }
  )

  it('each provider gets its orphaned effects once, and again only after a failure', async () => {
    await leaveOneUnsent()
    const told: Record<string, (readonly JournalEntry[])[]> = {}
    let calls = 0
    const telling = (provider: Provider): Provider => ({
      ...provider,
      recover: async (unfinished) => {
        calls += 1
        if (calls === 1) throw new Error('not yet')
        const journals: (readonly JournalEntry[])[] = []
        for await (const entries of unfinished) journals.push(entries)
        told[provider.name] = journals
      }
    })
    const asked: readonly string[] = [chainEffects.broadcast, chainEffects.look]
    const tally = await open({
      clock: systemClock,
      change: (provider) => (asked.includes(provider.name) ? telling(provider) : provider)
    })
    const start = (id: string) => tally.begin(sending(), { id, inputs: write(3) }).result
    await expect(start('refused')).rejects.toThrow('not yet')
    await start('second')
    await start('third')
    expect(calls).toBe(3)
    // Whole journals, or what a provider has named.
    expect(told[chainEffects.look]?.map(([first]) => first?.k)).toEqual(['run.started'])
    const named = told[chainEffects.broadcast]?.map((entries) =>
      entries.map((entry) => [entry.k, 'effect' in entry ? entry.effect : null])
    )
    expect(named).toEqual([
      [
        ['requested', chainEffects.prepare],
        ['sealed', chainEffects.prepare],
        ['requested', chainEffects.broadcast]
      ]
    ])
    await tally.close()
  })
})

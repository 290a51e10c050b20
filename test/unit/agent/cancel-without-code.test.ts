import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AdapterRegistry } from '../../../src/agent/index.js'
import type { RuntimeOptions, WiredRuntime } from '../../../src/runtime/index.js'
import { agentOf, flowOf, nodeOf, scripted } from '../../support/flows.js'
import { LedgerOnDisk } from '../../support/ledger-on-disk.js'

let disk: LedgerOnDisk
let turns = 0

beforeEach(async () => {
  turns = 0
  disk = await LedgerOnDisk.create()
})
afterEach(() => disk.remove())

/** One turn that ends, then one that fails and asks a person. */
const document = flowOf({
  agents: [agentOf('main')],
  nodes: [
    nodeOf('one', 'agent.main', { agentId: 'main' }),
    nodeOf('two', 'agent.main', { agentId: 'main', config: { onError: 'ask' } }),
    nodeOf('finish', 'control.finish')
  ],
  edges: ['one -> two', 'two -> finish']
})

const adapters = scripted(({ nodeId }) => {
  turns += 1
  return nodeId === 'two' ? { fails: 'refused' } : { text: 'first' }
})

/** Everything that the run needs. */
const whole: Partial<RuntimeOptions> = { agents: { environment: {}, adapters } }

async function parked(tally: WiredRuntime, id: string): Promise<void> {
  const run = tally.begin(document, { id, inputs: {} })
  for await (const { type } of run) if (type === 'run.parked') return
  throw new Error('the run has ended')
}

/** What a host brings that has lost the adapter of the run's agent, by what is gone. */
const losses: Readonly<Record<string, Partial<RuntimeOptions>>> = {
  'no adapter is registered': {
    agents: { environment: {}, adapters: new AdapterRegistry() }
  },
  'an adapter of another kind is registered': {
    agents: { environment: {}, adapters: scripted(() => ({ text: 'other' }), ['other']) }
  },
  'nothing is given for agents': {}
}

describe('cancelling a parked agent flow whose code has gone', () => {
  for (const [loss, options] of Object.entries(losses)) {
    it(`K10: ends it when ${loss}, takes no turn, and with its code it verifies`, async () => {
      await parked(await disk.open(whole), 'r1')
      await disk.close()
      const before = turns
      const tally = await disk.open(options)
      const handle = await tally.attach('r1')
      await handle.cancel('the office has closed')
      expect(await handle.result).toMatchObject({ status: 'cancelled' })
      expect(tally.run('r1')?.last).toMatchObject({
        response: { reason: 'cancelled', details: { reason: 'the office has closed' } }
      })
      expect(turns).toBe(before)
      expect(await tally.verify()).toMatchObject({ ok: true })
      await disk.close()
      const again = await disk.open(whole)
      expect(again.status().mode).toBe('ready')
      const found = await (await again.attach('r1')).result
      expect(found).toMatchObject({ status: 'cancelled' })
      const report = await again.verify()
      expect([report.failure, report.ok, report.complete]).toEqual([undefined, true, true])
    })
  }
})

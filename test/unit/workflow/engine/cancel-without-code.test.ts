import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/core/index.js'
import type { RuntimeOptions, WiredRuntime } from '../../../../src/runtime/index.js'
import { aisText, seedProtocols } from '../../../support/ais.js'
import { TestChain } from '../../../support/ais-chain.js'
import { balance, flow, transfer } from '../../../support/ais-flows.js'
import { LedgerOnDisk } from '../../../support/ledger-on-disk.js'

let disk: LedgerOnDisk
let chain: TestChain

beforeEach(async () => {
  disk = await LedgerOnDisk.create()
  chain = new TestChain({ read: () => ({ balance: '7' }) })
})
afterEach(() => disk.remove())

const protocols = seedProtocols.map(aisText)

/** Asks before it sends anything. */
const confirmed = flow([balance('start'), transfer('pay', { deps: ['start'] })])

/** Everything that the run needs. */
function whole(): Partial<RuntimeOptions> {
  return { providers: chain.providers, workflow: { protocols } }
}

async function parked(tally: WiredRuntime, id: string, started: Json): Promise<void> {
  const run = tally.begin(started, { id, inputs: {} })
  for await (const { type } of run) if (type === 'run.parked') return
  throw new Error('the run has ended')
}

/** What a host brings that has lost a part of what the run needs, by what is gone. */
const losses: Readonly<Record<string, () => Partial<RuntimeOptions>>> = {
  'no protocol is given': () => ({ ...whole(), workflow: { protocols: [] } }),
  'nothing is given for workflows': () => ({ providers: chain.providers }),
  'no executor is registered': () => ({ workflow: { protocols } }),
  'nothing is given at all': () => ({})
}

describe('cancelling a parked workflow whose code has gone', () => {
  for (const [loss, brought] of Object.entries(losses)) {
    it(`K10: ends it when ${loss}, sends nothing, and with its code it verifies`, async () => {
      await parked(await disk.open(whole()), 'r1', confirmed)
      await disk.close()
      const reads = chain.reads.length
      const tally = await disk.open(brought())
      const handle = await tally.attach('r1')
      await handle.cancel('the office has closed')
      expect(await handle.result).toMatchObject({ status: 'cancelled' })
      expect(tally.run('r1')?.last).toMatchObject({
        response: { reason: 'cancelled', details: { reason: 'the office has closed' } }
      })
      expect([chain.functions, chain.reads.length]).toEqual([[], reads])
      expect(await tally.verify()).toMatchObject({ ok: true })
      await disk.close()
      const again = await disk.open(whole())
      expect(again.status().mode).toBe('ready')
      const found = await (await again.attach('r1')).result
      expect(found).toMatchObject({ status: 'cancelled' })
      const report = await again.verify()
      expect([report.failure, report.ok, report.complete]).toEqual([undefined, true, true])
    })
  }
})

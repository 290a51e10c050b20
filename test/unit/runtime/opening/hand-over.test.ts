import { describe, expect, it } from 'vitest'
import { defineBlock, defineWorkflow } from '../../../../src/code/index.js'
import { nextTurn, systemClock } from '../../../../src/core/index.js'
import { connectOwner } from '../../../../src/owner/index.js'
import type { RuntimeOptions, WiredRuntime } from '../../../../src/runtime/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../../support/ledger-on-disk.js'

const pause = defineBlock({
  name: 'pause',
  version: '1',
  sideEffects: 'none',
  run: async (ctx) => {
    await ctx.sleep(20)
    return 'done'
  }
})
const document = {
  schema: 'tally-composite/1',
  name: 'one',
  version: '1',
  entry_point: 'first',
  nodes: { first: { block: 'pause' } }
}

let disk: LedgerOnDisk
ledgerForEachTest((given) => {
  disk = given
})

function open(handOver?: RuntimeOptions['handOver']): Promise<WiredRuntime> {
  const given = handOver === undefined ? {} : { handOver }
  return disk.open({ serve: true, resume: true, blocks: [pause], ...given })
}

describe('a hand-over', () => {
  it('gives the program its time, closes, and lets the next one go on', async () => {
    const told: string[] = []
    const old = await open({
      onHandOver: async (released) => {
        told.push(`asked while ${(await old.start(document, { id: 'late' })).id} is accepted`)
        void released.then(() => told.push('released'))
      }
    })
    await old.start(document, { id: 'early' })
    const next = await open(true)
    expect(told).toEqual(['asked while late is accepted', 'released'])
    expect(old.status().mode).toBe('closed')
    await expect(old.start(document)).rejects.toMatchObject({ code: 'runtime.closed' })
    for (const id of ['early', 'late']) {
      expect(await (await next.attach(id)).result).toMatchObject({ status: 'done' })
    }
  })

  it('is done all the same when the program fails, which hears of it', async () => {
    const heard: unknown[] = []
    const old = await open({
      onHandOver: async (released) => {
        released.catch((error: unknown) => heard.push(error))
        throw new Error('no server')
      }
    })
    const next = await open(true)
    expect(next.identity).toBe(old.identity)
    expect(heard).toEqual([new Error('no server')])
  })

  it('B13: keeps who has a turn and who waits for one, in their order, and the rate', async () => {
    const order: string[] = []
    const flow = defineWorkflow({
      name: 'flow',
      version: '1.0.0',
      async run(ctx, id: string) {
        await ctx.step('begin', () => order.push(id), null, { sideEffects: 'idempotent' })
        await ctx.signal('go')
        await ctx.step('slow', () => 1, null, { sideEffects: 'idempotent', queue: 'calls' })
        return id
      }
    })
    const calls = { rate: { limit: 1, per: '1h' } }
    const queues = { orders: { concurrency: 2 }, calls }
    const given = { serve: true, resume: true, handOver: true, workflows: [flow], queues } as const
    const old = await disk.open(given)
    const ids = ['e', 'd', 'c', 'b', 'a']
    for (const id of ids) {
      await old.start(flow, id, { id, queue: 'orders' })
      // The order is that of the times at which they began, in milliseconds.
      for (const at = systemClock.now(); systemClock.now() === at; ) await nextTurn()
    }
    await old.signal('e', 'go')
    expect((await (await old.attach('e')).result).status).toBe('done')
    while (order.length < 3) await nextTurn()
    const next = await disk.open(given)
    expect(old.status().mode).toBe('closed')
    const standing = async () => {
      const [queue] = await next.queues('orders')
      return queue?.work.map(({ runId, isRunning }) => `${runId} ${isRunning}`)
    }
    expect(await standing()).toEqual(['c true', 'd true', 'b false', 'a false'])
    await next.signal('d', 'go')
    while ((await next.queues('calls'))[0]?.waiting !== 1) await nextTurn()
    // One call was made by the process before: the next has to wait for the end of the hour.
    expect((await next.queues('calls'))[0]?.nextAt).toBeGreaterThan(0)
    await (await next.attach('d')).cancel()
    while (order.length < 4) await nextTurn()
    expect(order).toEqual(['e', 'd', 'c', 'b'])
    expect(await standing()).toEqual(['c true', 'b true', 'a false'])
  })

  it('is refused by a holder that does not want it, which keeps its ledger', async () => {
    const old = await open()
    await expect(open({ waitMs: 30 })).rejects.toMatchObject({ code: 'ledger.locked' })
    await expect(open()).rejects.toMatchObject({ code: 'ledger.locked' })
    expect((await old.start(document)).isNew).toBe(true)
  })

  it('is asked for at the owner socket alone', async () => {
    const tally = await open(true)
    const { signal } = new AbortController()
    expect(() => tally.service({ method: 'handOver', params: {}, signal })).toThrow('handOver')
    const owner = await connectOwner(disk.path)
    await owner?.request('handOver', {}).catch(() => null)
    owner?.close()
    await tally.close()
    expect(tally.status().mode).toBe('closed')
  })
})

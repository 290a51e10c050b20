import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/block/index.js'
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

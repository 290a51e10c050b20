import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../src/code/index.js'
import { createRuntime } from '../../../src/runtime/index.js'
import { Chance, FakeClock } from '../../../src/testing/index.js'
import { type LedgerOnDisk, ledgerForEachTest } from '../../support/ledger-on-disk.js'

const vault = defineBlock({
  name: 'vault',
  version: '1.0.0',
  sideEffects: 'none',
  private: { input: true },
  run: (ctx) => ctx.effect('look', { perform: () => 7 })
})
const document = {
  schema: 'tally-composite/1',
  name: 'bank',
  version: '1.0.0',
  entry_point: 'one',
  nodes: { one: { block: 'vault' } }
}

/** Everything that chance has a part in: identity, id of the run, and the receipts with salts. */
async function lived(seed: string) {
  const given = { location: 'memory:', blocks: [vault] }
  await using tally = await createRuntime({
    ...given,
    clock: new FakeClock(),
    random: new Chance(seed)
  })
  const run = tally.begin(document)
  await run.result
  const receipts: unknown[] = []
  for await (const { receipt } of tally.receipts()) receipts.push(receipt)
  return { identity: tally.identity, id: run.id, receipts }
}

let disk: LedgerOnDisk
ledgerForEachTest((given) => {
  disk = given
})

describe('Chance', () => {
  it('makes identity, ids, salts and signatures of a runtime those of its seed', async () => {
    const first = await lived('one')
    expect(await lived('one')).toEqual(first)
    const other = await lived('two')
    expect(other.identity).not.toBe(first.identity)
    expect(other.id).not.toBe(first.id)
  })

  it('gives the same values to the same questions, of the shapes that are asked for', () => {
    const drawn = (seed: string) => {
      const chance = new Chance(seed)
      const [bytes, uuid, below] = [chance.bytes(33), chance.uuid(), chance.below(5)]
      return { bytes, uuid, below, one: chance.oneOf(['a', 'b']), none: chance.bytes(0) }
    }
    const { bytes, uuid, below, none } = drawn('seed')
    expect(drawn('seed')).toEqual(drawn('seed'))
    expect(drawn('seed')).not.toEqual(drawn('other'))
    expect(bytes).toHaveLength(33)
    expect(new Set(bytes).size).toBeGreaterThan(20)
    expect(none).toHaveLength(0)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(below).toBeLessThan(5)
  })

  it('L6: with the seed of an earlier opening, a run without an id is the one of then', async () => {
    const block = defineBlock({
      name: 'count',
      version: '1.0.0',
      sideEffects: 'none',
      run: (ctx) => {
        const count = Number(ctx.state.get('count') ?? 0) + 1
        ctx.state.set('count', count)
        return count
      }
    })
    const counting = { ...document, nodes: { one: { block: 'count' } } }
    const next = async (seed: string) => {
      const tally = await disk.open({ blocks: [block], random: new Chance(seed) })
      const { response } = await tally.begin(counting).result
      await disk.close()
      return response.data
    }
    expect([await next('new'), await next('one'), await next('one'), await next('two')]).toEqual([
      1, 2, 2, 3
    ])
  })

  it('L6: with the seed of an earlier opening, an intent without an id is the one of then', async () => {
    const next = async (seed: string, action: string) => {
      const tally = await disk.open({ blocks: [], random: new Chance(seed) })
      const { id, reason } = (await tally.intent({ action })) as unknown as Record<string, string>
      const { ok } = await tally.verify()
      await disk.close()
      return { id, reason, ok }
    }
    await next('new', 'nothing.serves')
    const first = await next('one', 'nothing.serves')
    expect(first).toMatchObject({ reason: 'no_match', ok: true })
    expect(await next('one', 'nothing.serves')).toEqual(first)
    const other = await next('one', 'nothing.else')
    expect(other).toEqual({ ...first, reason: 'id_reused' })
  })
})

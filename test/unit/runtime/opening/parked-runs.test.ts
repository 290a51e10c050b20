import { describe, expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import { openMemoryStore } from '../../../../src/ledger/index.js'
import { compositeDocument } from '../../../support/composites.js'
import { lasting } from '../../../support/lasting-store.js'
import { openOn, until } from '../../../support/lives.js'

const RUNS = 12

const asks = defineBlock({
  name: 'asks',
  version: '1.0.0',
  sideEffects: 'none',
  run: async (ctx) => (await ctx.wait({ reason: 'external', request: 'when?' })).value ?? null
})
const document = compositeDocument({ nodes: { a: { block: 'asks' } }, transitions: {} })

/** A store with runs that are parked. */
async function parked() {
  const store = openMemoryStore()
  const tally = await openOn(lasting(store), { blocks: [asks] })
  for (let run = 0; run < RUNS; run += 1) tally.begin(document, { id: `p-${run}` })
  await until(async () => (await tally.runs({ status: 'waiting' })).items.length === RUNS)
  await tally.close()
  return store
}

describe('opening a ledger with parked runs', () => {
  it('reads the record of each once, for its code, its due time and what archives would hold', async () => {
    const store = await parked()
    const reads = new Map<string, number>()
    const get = store.get.bind(store)
    store.get = (key) => {
      const [, run] = /\/run\/(p-\d+)$/.exec(key) ?? []
      if (run !== undefined) reads.set(run, (reads.get(run) ?? 0) + 1)
      return get(key)
    }
    const tally = await openOn(lasting(store), { blocks: [asks] })
    await tally.archives.resume()
    await tally.resumeAll()
    tally.runsOf.withoutCode.look()
    expect(await tally.runsOf.withoutCode.warnings()).toEqual([])
    expect([reads.size, Math.max(...reads.values())]).toEqual([RUNS, 1])
    await tally.close()
  })

  it('says which rest for want of their code, seen on the way or looked for', async () => {
    const store = await parked()
    for (const resumes of [true, false]) {
      const tally = await openOn(lasting(store), {})
      if (resumes) await tally.resumeAll()
      tally.runsOf.withoutCode.look()
      const warnings = await tally.runsOf.withoutCode.warnings()
      expect(warnings).toHaveLength(RUNS)
      expect(warnings.join()).toContain('run p-0 rests: it needs asks@1.0.0, not registered')
      await tally.close()
    }
  })
})

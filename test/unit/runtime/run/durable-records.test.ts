import { expect, it } from 'vitest'
import { defineBlock } from '../../../../src/code/index.js'
import type { Json } from '../../../../src/core/index.js'
import { openMemoryStore, storeAround } from '../../../../src/ledger/index.js'
import { openOn } from '../../../support/lives.js'

it('D2: a run is reported only once it is on disk', async () => {
  const memory = openMemoryStore()
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let isHeld = false
  const store = storeAround(memory, {
    commit: async (items) => {
      if (isHeld) await held
      return memory.commit(items)
    }
  })
  const step = defineBlock({ name: 'step', version: '1.0.0', sideEffects: 'none', run: () => 1 })
  const tally = await openOn(store, { blocks: [step] })
  isHeld = true
  const document: Json = {
    schema: 'tally-composite/1',
    name: 'one',
    version: '1.0.0',
    entry_point: 'step',
    nodes: { step: { block: 'step' } }
  }
  const run = tally.begin(document, { id: 'told' })
  while (tally.ledger.run(run.id)?.status !== 'done') await new Promise(setImmediate)
  expect(tally.run('told')).toBeUndefined()
  const listed: string[] = []
  for await (const { runId } of tally.runs()) listed.push(runId)
  expect(listed).toEqual([])
  release()
  await run.result
  expect(tally.run('told')?.status).toBe('done')
  await tally.close()
})

import { nextTurn } from '../../src/core/index.js'
import { defineBlock, type Json } from '../../src/index.js'
import { createRuntime } from '../../src/runtime/index.js'
import { Scratch, settledHeapBytes } from '../measure.js'
import type { Group } from '../row.js'

const AT_ONCE = 500
/** A small index entry, and far less than one idle actor. */
const BYTES_MAX = 2_000

/**
 * Runs that wait for a person: they are in the ledger, and memory holds next to nothing of them.
 */
export const parked: Group = {
  rows: ['parked.bytes-per-run'],
  async measure({ full }) {
    const count = full ? 10_000 : 3_000
    const scratch = new Scratch()
    const pay = defineBlock<Json, Json>({
      name: 'bench.pay',
      version: '1.0.0',
      sideEffects: 'none',
      run: () => null
    })
    const tally = await createRuntime({
      location: scratch.directory(),
      create: 'if-absent',
      insecurePlaintextKey: true,
      blocks: [pay]
    })
    const document = JSON.stringify({
      schema: 'tally-composite/1',
      name: 'bench.parked',
      version: '1.0.0',
      entry_point: 'pay',
      nodes: { pay: { block: pay.name, confirm: true } }
    })
    const start = async (from: number, to: number) => {
      for (let index = from; index < to; index += 1) {
        tally.begin(document, { id: `parked-${index}`, inputs: { order: index } })
        if (index % AT_ONCE === AT_ONCE - 1) await quiet()
      }
      await quiet()
    }
    const quiet = async () => {
      do await nextTurn()
      while (tally.runsOf.liveCount > 0)
      await tally.ledger.note()
    }
    // The first ones fill caches and buffers that have a bound.
    await start(0, AT_ONCE * 2)
    const before = settledHeapBytes()
    await start(AT_ONCE * 2, AT_ONCE * 2 + count)
    const after = settledHeapBytes()
    await tally.close()
    scratch.remove()
    return [
      {
        name: 'parked.bytes-per-run',
        value: (after - before) / count,
        unit: 'bytes',
        floor: null,
        ratio: null,
        target: BYTES_MAX,
        better: 'lower'
      }
    ]
  }
}

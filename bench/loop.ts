import { defineBlock, type Json } from '../src/index.js'

/** A run of many steps: one node that goes round until it has counted enough. */
export function loopDocument(steps: number): Json {
  return {
    schema: 'tally-composite/1',
    name: 'bench.loop',
    version: '1.0.0',
    max_steps: steps + 1,
    entry_point: 'count',
    nodes: { count: { block: 'bench.count' }, end: { block: 'bench.end' } },
    transitions: {
      count: [
        { condition: 'goes-on', target: 'count' },
        { condition: 'default', target: 'end' }
      ]
    }
  }
}

/** Where the loop ends. */
export const endBlock = defineBlock<Json, Json>({
  name: 'bench.end',
  version: '1.0.0',
  sideEffects: 'none',
  run: ({ state }) => state.get('count') ?? null
})

/** The block that counts; `onStep` sees each execution of its code. */
export function countingBlock(onStep: () => void) {
  return defineBlock<Json, Json>({
    name: 'bench.count',
    version: '1.0.0',
    sideEffects: 'none',
    run: ({ state }) => {
      onStep()
      const count = (state.get<number>('count') ?? 0) + 1
      state.set('count', count)
      return count
    }
  })
}

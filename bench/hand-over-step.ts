import { defineBlock } from '../src/index.js'

/** What the runs of a service do that hands its ledger over. */
export const step = defineBlock({
  name: 'bench.handed-over',
  version: '1.0.0',
  sideEffects: 'none',
  run: () => null
})

export const document = {
  schema: 'tally-composite/1',
  name: 'bench.hand-over',
  version: '1.0.0',
  entry_point: 'step',
  nodes: { step: { block: step.name } }
}

import { AdapterRegistry, fakeAdapter } from '../../src/agent/index.js'
import { elapsedMs, type Json } from '../../src/core/index.js'
import { createRuntime, MEMORY_LOCATION } from '../../src/runtime/index.js'
import { median } from '../measure.js'
import type { Group } from '../row.js'

const TURNS = 1_000

/**
 * The plan loop of AgentsFlow, executing and evaluating for so many turns: doing it again from what
 * was sealed. Three receipts for each two turns.
 */
export const flows: Group = {
  rows: ['flow.replay'],
  async measure({ rounds }) {
    const adapters = new AdapterRegistry().registerAdapter('fake', () =>
      fakeAdapter({
        script: ({ turnMode }) =>
          turnMode === 'evaluate' ? { structured: notYet } : { text: 'an answer of a few words' }
      })
    )
    await using tally = await createRuntime({
      location: MEMORY_LOCATION,
      agents: { adapters, environment: {} }
    })
    const { status } = await tally.begin(roundFlow).result
    if (status !== 'done') throw new Error(`the run ended as ${status}`)
    const rates: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const begin = elapsedMs()
      const report = await tally.verify()
      if (!report.ok) throw new Error('the flow does not replay')
      rates.push((TURNS * 1_000) / (elapsedMs() - begin))
    }
    const value = median(rates)
    const row = { floor: null, ratio: null, unit: 'turns/s', better: 'higher' } as const
    return [{ ...row, name: 'flow.replay', value, target: 1_000 }]
  }
}

const notYet: Json = { score: 0.5, canComplete: false, reason: 'not all of it is there' }

const roundFlow: Json = {
  meta: { schemaVersion: '2.0', name: 'round', version: '1.0.0' },
  agents: {
    agentDefs: [
      { agentId: 'main', adapterKind: 'fake' },
      { agentId: 'sub', adapterKind: 'fake' }
    ]
  },
  graph: {
    startNodeId: 'loop',
    nodes: [
      { nodeId: 'loop', nodeKind: 'control.plan-loop', config: { maxIterations: TURNS / 2 + 1 } },
      { nodeId: 'execute', nodeKind: 'agent.sub', agentId: 'sub' },
      {
        nodeId: 'evaluate',
        nodeKind: 'agent.main',
        agentId: 'main',
        config: { turnMode: 'evaluate' }
      },
      { nodeId: 'finish', nodeKind: 'control.finish' }
    ],
    edges: [
      { source: 'loop', target: 'execute' },
      { source: 'execute', target: 'evaluate' },
      { source: 'evaluate', target: 'loop' },
      { source: 'loop', target: 'finish', sourceHandle: 'done' }
    ]
  },
  runtime: { maxSteps: 4 * TURNS }
}

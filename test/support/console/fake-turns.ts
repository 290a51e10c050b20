import { hashJson } from '../../../src/core/index.js'
import { START } from './fake-journals.js'
import { type FakeRun, madeRun } from './fake-runs.js'

const segment = (scope: string, label: string, sourcePath: string) => ({
  scope,
  label,
  sourcePath,
  hash: hashJson([scope, label])
})

/** A run of agents, with what the page shows of their turns. */
export function agentRun(): FakeRun {
  const node = (id: string) => ({
    path: `root/${id}`,
    id,
    does: `agent ${id}`,
    sideEffects: null,
    confirm: false
  })
  return madeRun({
    id: 'harbour',
    graph: {
      kind: 'flow',
      name: 'flow.starter',
      nodes: [node('plan'), node('write')],
      edges: [{ from: 'plan', to: 'write', order: null, when: null }]
    },
    startedAt: START - 60_000,
    write: (journal) => {
      journal.turn('plan', 'Two things are to be done: measure, then write.', turnOf('planner'))
      journal.turn('write', 'The harbour is 4.2 m deep at low water.', turnOf('writer'))
      return { status: 'done', response: { success: true, data: { depth: 4.2 }, metadata: {} } }
    }
  })
}

/** What a model was asked, and from where each part of it came. */
const turnOf = (agentId: string) => ({
  agentId,
  model: 'model-1',
  prompt: [
    segment('instruction', 'house rules', 'rules.md'),
    segment('agent', agentId, `agents/${agentId}.md`),
    segment('input', 'input', '')
  ],
  tools: ['depth.measure'],
  warnings: ['the answer was cut at its bound']
})

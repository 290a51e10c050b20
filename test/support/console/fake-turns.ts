import { hashJson, type Json, sha256Hex } from '../../../src/core/index.js'
import type { Calls } from '../../../src/runtime/index.js'
import { START } from './fake-journals.js'
import { type FakeRun, madeRun } from './fake-runs.js'

/** Blank lines stand in segments and between them. */
const texts = {
  rules: 'Say what you have measured.\n\nSay what you have not.',
  input: 'How deep is the harbour at low water?\n\nMind the tide.'
}
const agentText = (agentId: string) => `You are the ${agentId} of the harbour.`

const segment = (scope: string, label: string, sourcePath: string | null, text: string) => ({
  scope,
  label,
  sourcePath,
  hash: sha256Hex(text)
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
  const run = madeRun({
    id: 'harbour',
    graph: {
      kind: 'flow',
      name: 'flow.starter',
      nodes: [node('plan'), node('write')],
      edges: [{ from: 'plan', to: 'write', order: null, when: null }]
    },
    startedAt: START - 60_000,
    write: (journal) => {
      journal.turn('plan', 'Two things are to be done: measure, then write.', turnOf('planner', 1))
      journal.turn('write', 'The harbour is 4.2 m deep at low water.', turnOf('writer', 2))
      return { status: 'done', response: { success: true, data: { depth: 4.2 }, metadata: {} } }
    }
  })
  return { ...run, payloads: { 'root/plan': payload, 'root/write': payload } }
}

/** Input of a turn's step, as far as the page draws it. */
const payload: Json = {
  agent: { budgets: { maxTokens: 20_000, maxCostUsd: '0.5' } },
  node: { turnMode: 'plan', expectedOutput: { schemaRef: 'plan', schema: {} } }
}

/** What a model was asked, and from where each part of it came. */
const turnOf = (agentId: string, turns: number) => ({
  turn: {
    agentId,
    model: 'model-1',
    prompt: [
      segment('instruction', 'house rules', 'rules.md', texts.rules),
      segment('agent', agentId, `agents/${agentId}.md`, agentText(agentId)),
      segment('input', 'userPrompt', null, texts.input)
    ],
    tools: [{ tool: 'depth.measure', outcome: 'done' }],
    warnings: ['the answer was cut at its bound']
  },
  walk: { spent: { [agentId]: { totalTokens: 876 * turns, costUsd: `${0.0021 * turns}` } } }
})

/** The requests of a turn, as executing it again makes them. */
export function callsOfTurn(path: string): Calls {
  const agentId = path.endsWith('plan') ? 'planner' : 'writer'
  const systemPrompt = [texts.rules, agentText(agentId)].join('\n\n')
  const request = { systemPrompt, turn: { prompt: texts.input } }
  const call = { seq: 1, effect: 'agent.turn', request, requestHash: hashJson(request) }
  const [salt, response] = [hashJson('salt'), {}]
  const responseHash = hashJson({ body: response, salt })
  const calls = [{ ...call, response, responseHash, salt, ok: true }]
  return { calls, input: payload, output: null, notChecked: [] }
}

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { anyFlowHost, compileFlow } from '../../../../src/agent/index.js'
import type { RunStarted } from '../../../../src/block/index.js'
import type { Json } from '../../../../src/core/index.js'
import { graphOf } from '../../../../src/runtime/queries/document-graph.js'
import { definitionOf } from '../../../../src/workflow/engine/compile.js'
import { goodPlan } from '../../../support/ais.js'
import { balance, flow, transfer } from '../../../support/ais-flows.js'

const nothing = { composite: () => undefined, sideEffects: () => null }

function graph(definition: unknown) {
  // As the journal gives it back.
  const read = JSON.parse(JSON.stringify(definition)) as RunStarted['definition']
  return graphOf({ definition: read, name: 'shown' }, nothing)
}

describe('the graph of a document', () => {
  it('names the agents of a flow', () => {
    const url = new URL('../../../../examples/04-agents/starter.flow.json', import.meta.url)
    const compiled = compileFlow(JSON.parse(readFileSync(url, 'utf8')) as Json, anyFlowHost)
    if (!compiled.ok) throw new Error('it does not compile')
    const { kind, nodes, edges } = graph(compiled.definition)
    expect(kind).toBe('flow')
    expect(nodes.map(({ does }) => does)).toEqual([
      'flow.loader',
      'main-agent',
      'sub-agent',
      'main-agent',
      'flow.finish'
    ])
    expect(edges[0]).toEqual({ from: 'workspace', to: 'main-prompt', order: 1, when: null })
  })

  it('names the actions of a workflow and the conditions under which they are done', async () => {
    const condition = { cel: 'nodes.look.outputs.balance != "0"' }
    const { plan } = await goodPlan(flow([balance('look'), transfer('send', { condition })]))
    const mode = { writes: 'broadcast', yes: false } as const
    const { kind, nodes, edges } = graph(
      definitionOf(plan, { policy: { packs: [] } as never, mode })
    )
    expect(kind).toBe('workflow')
    const done = new Map(nodes.map(({ path, does }) => [path, does]))
    expect(done.get('root/look')).toBe('erc20@0.0.2 balance')
    expect(done.get('root/send')).toBe('erc20@0.0.2 transfer')
    expect(edges).toContainEqual({ from: 'look', to: 'send', order: null, when: condition.cel })
  })
})

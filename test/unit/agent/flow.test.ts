import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  anyFlowHost,
  compileFlow,
  flowJsonSchema,
  isFlowDocument
} from '../../../src/agent/index.js'
import type { Json, JsonObject } from '../../../src/core/index.js'
import { agentOf, dataOf, flowOf, nodeOf, oneTurn, runFlow } from '../../support/flows.js'

function codesOf(document: Json): readonly string[] {
  const compiled = compileFlow(document, anyFlowHost)
  return (compiled.ok ? compiled.warnings : compiled.findings).map(({ code }) => code)
}

function errorsOf(document: Json): readonly string[] {
  const compiled = compileFlow(document, anyFlowHost)
  return compiled.ok ? [] : compiled.findings.map(({ code }) => code)
}

const ask = nodeOf('ask', 'agent.main', { agentId: 'main' })
const finish = nodeOf('finish', 'control.finish')

describe('flow documents', () => {
  it('are distinguished from other documents', () => {
    expect(isFlowDocument(oneTurn())).toBe(true)
    expect(isFlowDocument({ ...oneTurn(), schema: 'tally-composite/1' })).toBe(false)
    expect(isFlowDocument({ meta: { schemaVersion: '2.0' } })).toBe(false)
    expect(isFlowDocument(null)).toBe(false)
  })

  it('keep out what they do not know, and refuse versions that they do not know', () => {
    expect(errorsOf({ ...oneTurn(), agentsflow: '1', somethingElse: 1 })).toEqual([])
    const meta = { schemaVersion: '3.0', name: 'x', version: '1' }
    expect(errorsOf({ ...oneTurn(), meta })).toEqual(['unsupported_version'])
    expect(errorsOf([])).toEqual(['invalid_document'])
    expect(errorsOf({ ...oneTurn(), graph: {} })).toContain('invalid_document')
  })

  it('of version 1.0 get node kinds for their node types', () => {
    const old = {
      ...flowOf({
        nodes: [
          { nodeId: 'in', nodeType: 'input' },
          { nodeId: 'ask', nodeType: 'agent', agentId: 'main' },
          { nodeId: 'out', nodeType: 'output' }
        ],
        edges: ['in -> ask', 'ask -> out']
      }),
      meta: { schemaVersion: '1.0', name: 'old', version: '1.0.0' }
    }
    const compiled = compileFlow(old, anyFlowHost)
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.findings))
    expect(compiled.flow.graph.nodes.map(({ nodeKind }) => nodeKind)).toEqual([
      'input.prompt',
      'agent.main',
      'control.finish'
    ])
    expect(compiled.flow.meta.schemaVersion).toBe('2.0')
  })
})

describe('validation', () => {
  const broken: readonly (readonly [string, JsonObject])[] = [
    ['start_node_not_found', flowOf({ nodes: [ask, finish], start: 'nowhere' })],
    ['edge_source_not_found', flowOf({ nodes: [ask, finish], edges: ['none -> finish'] })],
    ['edge_target_not_found', flowOf({ nodes: [ask, finish], edges: ['ask -> none'] })],
    ['edge_port_not_found', flowOf({ nodes: [ask, finish], edges: ['ask:none -> finish'] })],
    ['port_type_mismatch', flowOf({ nodes: [ask, finish], edges: ['ask:result -> finish:in'] })],
    ['duplicate_node_id', flowOf({ nodes: [ask, ask, finish] })],
    [
      'duplicate_port_id',
      flowOf({
        nodes: [
          {
            ...ask,
            inputPorts: [
              { portId: 'a', dataType: 'any' },
              { portId: 'a', dataType: 'any' }
            ]
          },
          finish
        ]
      })
    ],
    ['duplicate_agent_id', flowOf({ agents: [agentOf('main'), agentOf('main')], nodes: [ask] })],
    ['self_edge', flowOf({ nodes: [ask, finish], edges: ['ask -> ask'] })],
    ['duplicate_edge', flowOf({ nodes: [ask, finish], edges: ['ask -> finish', 'ask -> finish'] })],
    [
      'input_has_many_sources',
      flowOf({
        nodes: [ask, { ...ask, nodeId: 'two' }, finish],
        edges: ['ask:result -> finish:result', 'two:result -> finish:result']
      })
    ],
    ['unknown_node_kind', flowOf({ nodes: [nodeOf('odd', 'Not A Kind')] })],
    ['unknown_node_kind', flowOf({ nodes: [nodeOf('odd', 'loader.nothing')] })],
    ['agent_not_bound', flowOf({ nodes: [nodeOf('ask', 'agent.main')] })],
    ['agent_not_found', flowOf({ nodes: [nodeOf('ask', 'agent.main', { agentId: 'who' })] })],
    ['agent_not_found', flowOf({ nodes: [nodeOf('ask', 'agent.main', { agentRef: 'who' })] })],
    ['secret_not_reference', oneTurn({}, { adapterConfig: { apiKey: 'sk-123' } })],
    ['reserved_key', oneTurn({ outputSchema: { $ref: '#' } })],
    ['invalid_document', oneTurn({ outputSchema: { type: 'nonsense' } })],
    ['agent_asset_invalid', { ...oneTurn(), extensions: { promptAssets: { schema: 'x' } } }]
  ]
  for (const [index, [code, document]] of broken.entries()) {
    it(`finds ${code} (${index})`, () => expect(errorsOf(document)).toContain(code))
  }

  const doubtful: readonly (readonly [string, JsonObject])[] = [
    ['unreachable_node', flowOf({ nodes: [ask, finish] })],
    ['no_finish', flowOf({ nodes: [ask] })],
    ['loop_without_end', flowOf({ nodes: [nodeOf('loop', 'control.plan-loop'), finish] })],
    [
      'required_input_disconnected',
      flowOf({
        nodes: [{ ...ask, inputPorts: [{ portId: 'data', dataType: 'any' }] }, finish],
        edges: ['ask -> finish']
      })
    ],
    ['cost_not_measurable', oneTurn({}, { budgets: { maxCostUsd: '0.5' } })]
  ]
  for (const [code, document] of doubtful) {
    it(`doubts ${code}`, () => {
      expect(errorsOf(document)).toEqual([])
      expect(codesOf(document)).toContain(code)
    })
  }

  it('lets a cycle be: a plan loop is one', () => {
    const loop = nodeOf('loop', 'control.plan-loop')
    const document = flowOf({
      nodes: [loop, ask, finish],
      edges: ['loop:plan -> ask', 'ask -> loop', 'loop:done -> finish']
    })
    expect(codesOf(document)).toEqual([])
  })
})

describe('A2: the way of the token', () => {
  const branchesOf = (edges: readonly string[], nodeKind = 'agent.main') => {
    const ports = ['result', 'plan', 'out'].map((portId) => ({ portId, dataType: 'any' }))
    const inputs = ['prompt', 'in'].map((portId) => ({ portId, dataType: 'any', required: false }))
    const nodes = ['ask', 'b', 'c'].map((nodeId) => ({
      ...ask,
      nodeId,
      nodeKind: nodeId === 'ask' ? nodeKind : 'agent.main',
      inputPorts: inputs,
      outputPorts: ports
    }))
    const compiled = compileFlow(flowOf({ nodes, edges }), anyFlowHost)
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.findings))
    return (compiled.definition.transitions['ask'] ?? []).map(({ condition, target }) => [
      condition.kind === 'cel' ? (/"(.*)"$/.exec(condition.cel)?.[1] ?? '') : condition.kind,
      target
    ])
  }

  it('needs no condition where there is one way', () => {
    expect(branchesOf(['ask:result -> b:prompt'])).toEqual([['default', 'b']])
  })

  it('goes by the active handle, then by the edge without one, then by the first', () => {
    expect(branchesOf(['ask:plan -> b', 'ask -> c'], 'my.kind')).toEqual([
      ['plan', 'b'],
      ['default', 'c']
    ])
    expect(branchesOf(['ask:plan -> b', 'ask:result -> c:prompt'], 'my.kind')).toEqual([
      ['plan', 'b'],
      ['result', 'c'],
      ['default', 'b']
    ])
  })

  it('knows that an agent is always left by out', () => {
    const edges = ['ask:result -> b:prompt', 'ask:out -> c', 'ask -> b:in']
    expect(branchesOf(edges)).toEqual([['default', 'c']])
    expect(branchesOf(['ask:result -> b:prompt', 'ask -> c'])).toEqual([['default', 'c']])
  })

  it('keeps node names that a chart cannot have apart', () => {
    const odd = ['a.b', 'a/b', '1'].map((nodeId) => ({ ...ask, nodeId }))
    const compiled = compileFlow(flowOf({ nodes: odd }), anyFlowHost)
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.findings))
    expect(Object.keys(compiled.definition.nodes)).toEqual(['n-a_b', 'n-a_b-2', 'n-1'])
  })
})

describe('the published schema', () => {
  const file = new URL('../../../docs/schema/agents-flow-2.0.json', import.meta.url)

  it('is the one of the code', () => {
    const text = `${JSON.stringify(flowJsonSchema(), null, 2)}\n`
    if (process.env['UPDATE_VECTORS'] === '1') writeFileSync(file, text)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it('takes the starter flow, and not one without nodes', () => {
    const schema = z.fromJSONSchema(JSON.parse(readFileSync(file, 'utf8')))
    const starter = new URL('../../../examples/04-agents/starter.flow.json', import.meta.url)
    const flow = JSON.parse(readFileSync(starter, 'utf8'))
    expect(schema.safeParse(flow).error).toBeUndefined()
    expect(schema.safeParse({ ...flow, graph: { ...flow.graph, nodes: [] } }).success).toBe(false)
  })
})

describe('nodes with any name', () => {
  it.each(['loop', 'in', 'a-b', 'a b', 'x1'])(
    'a loop over %s asks whether it has run',
    async (nodeId) => {
      const flow = flowOf({
        nodes: [
          nodeOf('again', 'control.plan-loop', { config: { maxIterations: 2 } }),
          nodeOf(nodeId, 'agent.main', { agentId: 'main' }),
          finish
        ],
        edges: [`again -> ${nodeId}`, `${nodeId} -> again`, 'again:done -> finish']
      })
      const run = await runFlow(flow, { script: () => ({ text: 'said' }) })
      expect(dataOf(run)['result']).toBe('said')
    }
  )
})

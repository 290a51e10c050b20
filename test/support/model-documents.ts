import { compileComposite } from '../../src/block/document/compile.js'
import type { CompiledComposite } from '../../src/block/document/compiled.js'
import { parseComposite } from '../../src/block/document/parse.js'
import type { BlockRegistry } from '../../src/block/document/registry.js'
import type { Json, JsonObject } from '../../src/core/index.js'
import {
  type ModelBranch,
  type ModelGraph,
  type ModelNode,
  modelConditions
} from './composite-model.js'
import { fakeExpressions } from './fake-expressions.js'

const nested: ModelGraph = {
  max_steps: 2,
  entry_point: 'd',
  nodes: { d: { block: 'd' }, e: { block: 'e' } },
  transitions: {
    d: [
      { condition: { is: 2 }, target: 'd' },
      { condition: 'odd', target: 'e' }
    ]
  }
}

const recovering: Omit<ModelNode, 'composite'> = {
  retry: { attempts: 2, delay: 5 },
  repairs: true,
  asks: true,
  timeout: 60
}

/** Composites that between them have every transition that the template can make. */
export const modelDocuments: Readonly<Record<string, ModelGraph>> = {
  'branches, input and output': {
    max_steps: 2,
    entry_point: 'a',
    nodes: {
      a: { block: 'a' },
      b: { block: 'b', input: { ref: 'nodes.a.response.data.m' } },
      c: { block: 'c' }
    },
    transitions: {
      a: [
        { condition: 'throws', target: 'a' },
        { condition: 'big', target: 'b' },
        { condition: 'odd', target: 'c' }
      ],
      b: [{ target: 'a' }]
    },
    output: { ref: 'nodes.c.response.data.m' }
  },
  'a composite in a composite': {
    max_steps: 2,
    entry_point: 'a',
    nodes: { a: { block: 'a' }, b: { composite: nested, ...recovering } },
    transitions: {
      a: [{ target: 'b' }],
      b: [
        { condition: 'odd', target: 'a' },
        { condition: { is: 8 }, target: 'b' }
      ]
    }
  },
  'an atomic composite': {
    max_steps: 2,
    atomic: true,
    entry_point: 'a',
    nodes: {
      a: { block: 'a' },
      b: { block: 'b', input: { ref: 'nodes.a.response.data.m' } },
      c: { block: 'c' }
    },
    transitions: {
      a: [
        { condition: { is: 2 }, target: 'a' },
        { condition: { is: 8 }, target: 'b' },
        { condition: 'odd', target: 'c' }
      ],
      b: [{ target: 'a' }]
    },
    output: { ref: 'nodes.c.response.data.m' }
  },
  'a composite in an atomic composite': {
    max_steps: 2,
    atomic: true,
    entry_point: 'a',
    nodes: { a: { block: 'a' }, b: { composite: nested, ...recovering } },
    transitions: { a: [{ condition: { is: 2 }, target: 'a' }, { target: 'b' }] }
  }
}

const registry: BlockRegistry = {
  block: (name) => ({ name, version: '1', sideEffects: 'none' }),
  composite: () => undefined,
  condition: (name) => {
    const condition = modelConditions[name]
    return condition === undefined ? undefined : ({ data }) => condition(data)
  },
  repair: (name) =>
    name === 'fix' ? (request) => ({ ...request, payload: { fixed: true } }) : undefined
}

/** The same graph, compiled. */
export function compiledModel(graph: ModelGraph): CompiledComposite {
  const parsed = parseComposite({
    schema: 'tally-composite/1',
    name: 'model',
    version: '1',
    ...documentOf(graph)
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics))
  const options = { registry, expressions: fakeExpressions }
  const result = compileComposite(parsed.definition, options)
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result.compiled
}

function documentOf({ nodes, transitions, ...graph }: ModelGraph): JsonObject {
  return {
    ...(graph as unknown as JsonObject),
    nodes: mapped(nodes, nodeOf),
    transitions: mapped(transitions, (branches) => branches.map(branchOf))
  }
}

function nodeOf({ block, composite, input, retry, repairs, asks, timeout }: ModelNode): Json {
  const recovery: readonly Json[] = [
    ...(retry === undefined
      ? []
      : [{ retry: { max_attempts: retry.attempts, interval_ms: retry.delay } }]),
    ...(repairs === true ? [{ repair: 'fix' }] : [])
  ]
  return {
    ...(block === undefined ? {} : { block }),
    ...(composite === undefined ? {} : { composite: documentOf(composite) }),
    ...(input === undefined ? {} : { input }),
    ...(recovery.length === 0 ? {} : { recovery }),
    ...(asks === true ? { on_error: 'ask' } : {}),
    ...(timeout === undefined ? {} : { timeout_ms: timeout })
  }
}

function branchOf({ condition, target }: ModelBranch): Json {
  if (condition === undefined) return { condition: 'default', target }
  if (typeof condition === 'string') return { condition, target }
  return { condition: { cel: `response.data.n == ${condition.is}` }, target }
}

function mapped<Value>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Json
): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}

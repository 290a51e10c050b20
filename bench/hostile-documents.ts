/**
 * Documents that cost a reader as much as their bytes allow, by kind. Each maker fills about the
 * number of bytes that it is given. Used by the property test and by `bench/documents.ts`.
 */

import { limits } from '../src/core/index.js'

/** Kinds of documents; `text` is no kind: what every reader of text meets first. */
export type HostileKind =
  | 'text'
  | 'composite'
  | 'plan'
  | 'graph'
  | 'flow'
  | 'workflow'
  | 'bundle'
  | 'protocol'
  | 'pack'
  | 'manifest'

export interface HostileDocument {
  readonly kind: HostileKind
  /** What is too many, too deep or too long in it. */
  readonly name: string
  make(bytes: number): string
}

type Part = (index: number) => unknown

/** As many parts as fit, and at least two. */
function fill(bytes: number, part: Part): unknown[] {
  const parts: unknown[] = []
  let used = 0
  for (let index = 0; used < bytes || index < 2; index += 1) {
    const one = part(index)
    parts.push(one)
    used += JSON.stringify(one).length + 1
  }
  return parts
}

function named(parts: readonly unknown[], prefix = 'n'): Record<string, unknown> {
  return Object.fromEntries(parts.map((part, index) => [`${prefix}${index}`, part]))
}

function repeat(bytes: number, text: string): string {
  return text.repeat(Math.ceil(bytes / text.length))
}

/** Values that stand in a slot where a document may have any JSON. */
const values: Readonly<Record<string, (bytes: number) => unknown>> = {
  'many numbers': (bytes) => fill(bytes, () => 0),
  'many empty objects': (bytes) => fill(bytes, () => ({})),
  'many keys': (bytes) => named(fill(bytes - bytes / 2, () => 0)),
  'a long text': (bytes) => 'x'.repeat(bytes),
  'a long key': (bytes) => ({ ['k'.repeat(bytes)]: 0 }),
  'alternating nesting': (bytes) => fill(bytes, () => nested(40, 0))
}

function nested(depth: number, leaf: unknown): unknown {
  let value = leaf
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const texts: Readonly<Record<string, (bytes: number) => string>> = {
  'open brackets': (bytes) => repeat(bytes, '['),
  'brackets side by side': (bytes) => `[${repeat(bytes - 2, '[],')}0]`,
  'numbers in JSON': (bytes) => `[${repeat(bytes - 2, '0,')}0]`,
  'numbers in flow style': (bytes) => `# yaml\n[${repeat(bytes - 9, '0,')}0]`,
  'dashes below each other': (bytes) => repeat(bytes, '- 0\n'),
  'keys below each other': (bytes) => lines(bytes, (index) => `k${index}: 0`),
  'the same key again and again': (bytes) => repeat(bytes, 'a: 0\n'),
  'the same key again and again, late': (bytes) =>
    `${lines(bytes, (index) => `k${index}: 0`)}k0: 0\n`,
  'indentation, again and again': (bytes) =>
    lines(bytes, (index) => `k${index}: {a: [{b: [{c: [{d: [0]}]}]}]}`),
  'stairs of indentation': (bytes) => lines(bytes, (index) => `${' '.repeat(index % 50)}- a:`),
  'a long plain text over lines': (bytes) => `a: ${repeat(bytes, 'x\n  ')}`,
  'a long folded text': (bytes) => `a: >\n${repeat(bytes, '  x\n\n')}`,
  'a long quoted text over lines': (bytes) => `a: "${repeat(bytes, 'x\n  ')}"`,
  'escapes in YAML': (bytes) => `a: "${repeat(bytes, '\\u0041')}"`,
  'escapes in JSON': (bytes) => `{"a":"${repeat(bytes, '\\u0041')}"}`,
  'a quote without an end': (bytes) => `a: "${repeat(bytes, 'x ')}`,
  'single quotes': (bytes) => `a: '${repeat(bytes, "''")}`,
  comments: (bytes) => `${repeat(bytes, '# x\n')}a: 1`,
  'comments behind blanks': (bytes) => `a: 1 ${repeat(bytes, ' ')}# x\n`,
  'blank lines': (bytes) => `a:\n${repeat(bytes, '\n')}  1`,
  'blanks before a bracket': (bytes) => `${repeat(bytes, ' ')}[1]`,
  colons: (bytes) => repeat(bytes, ': '),
  'question marks': (bytes) => repeat(bytes, '? a\n'),
  'explicit keys in flow style': (bytes) => `{${repeat(bytes, '? a ,')}}`,
  'plain keys without values': (bytes) => `{${lines(bytes, (index) => `k${index},`)}}`,
  'pairs in a list': (bytes) => `[${repeat(bytes, 'a: 0,')}0]`,
  'digits of one number': (bytes) => `a: 1.${repeat(bytes, '1')}`,
  'digits of one number, and a letter': (bytes) => `a: 1.${repeat(bytes, '1')}x`,
  'digits of one number in JSON': (bytes) => `{"a":1.${repeat(bytes, '1')}}`,
  'markers of documents': (bytes) => repeat(bytes, '---\n'),
  directives: (bytes) => `${repeat(bytes, '%YAML 1.2\n')}---\na: 1`,
  anchors: (bytes) => lines(bytes, (index) => `k${index}: &a${index} 0`),
  tags: (bytes) => lines(bytes, (index) => `k${index}: !a 0`),
  'carriage returns': (bytes) => `a: 1${repeat(bytes, '\r\n')}b: [`,
  'one long line': (bytes) => `a: [${repeat(bytes, '{b: 0}, ')}0]`
}

function lines(bytes: number, line: (index: number) => string): string {
  return `${(fill(bytes, line) as string[]).join('\n')}\n`
}

const composite = (parts: Record<string, unknown>): string =>
  JSON.stringify({
    schema: 'tally-composite/1',
    name: 'hostile',
    version: '1',
    entry_point: 'n0',
    nodes: { n0: { block: 'task' } },
    ...parts
  })

const composites: Readonly<Record<string, (bytes: number) => string>> = {
  'unknown keys of the document': (bytes) => composite(named(fill(bytes / 2, () => 0))),
  'nodes with unknown keys': (bytes) =>
    composite({ nodes: named(fill(bytes, () => ({ block: 'task', oops: 1 }))) }),
  'empty nodes': (bytes) => composite({ nodes: named(fill(bytes / 3, () => ({}))) }),
  'nodes of the wrong type': (bytes) => composite({ nodes: named(fill(bytes / 4, () => 0)) }),
  'names that are refused': (bytes) =>
    composite({
      nodes: named(
        fill(bytes / 2, () => ({ block: 'task' })),
        '!'
      )
    }),
  'unknown blocks': (bytes) =>
    composite({ nodes: named(fill(bytes, () => ({ block: 'task.missing' }))) }),
  'unknown targets': (bytes) =>
    composite({
      nodes: named(fill(bytes / 2, () => ({ block: 'task' }))),
      transitions: named(fill(bytes / 2, (index) => `m${index}`))
    }),
  'branches without a default': (bytes) =>
    composite({
      transitions: {
        n0: fill(bytes, () => ({ condition: 'never', target: 'n0' })).slice(0, 256)
      },
      nodes: named(fill(bytes, () => ({ block: 'task' })))
    }),
  'recovery lists': (bytes) =>
    composite({
      nodes: named(
        fill(bytes, () => ({ block: 'task', recovery: Array(64).fill({ repair: 'missing' }) }))
      )
    }),
  'fallbacks to missing providers': (bytes) =>
    composite({
      nodes: named(
        fill(bytes, () => ({
          block: 'task',
          recovery: [{ fallback: Array(64).fill('missing.provider') }]
        }))
      )
    }),
  'the longest fallbacks': (bytes) =>
    composite({
      nodes: named(
        fill(bytes, () => ({
          block: 'task',
          recovery: Array(64).fill({ fallback: Array(64).fill('p') })
        }))
      )
    }),
  'inputs that are no values': (bytes) =>
    composite({ nodes: named(fill(bytes, () => ({ block: 'task', input: 1 }))) }),
  'one input with many bad values': (bytes) =>
    composite({
      nodes: { n0: { block: 'task', input: { array: fill(bytes, () => ({ ref: '..' })) } } }
    }),
  'one input with many references': (bytes) =>
    composite({
      nodes: {
        n0: {
          block: 'task',
          input: { array: fill(bytes, (index) => ({ ref: `request.a${index}` })) }
        }
      }
    }),
  'references below deep nesting': (bytes) =>
    composite({
      nodes: {
        n0: {
          block: 'task',
          input: deepValue(fill(bytes, (index) => ({ ref: `request.a${index}` })))
        }
      }
    }),
  'references that nearly match': (bytes) =>
    composite({
      nodes: {
        n0: {
          block: 'task',
          input: { array: fill(bytes, (index) => ({ ref: `nodes.n${index}x.response.data` })) }
        }
      }
    }),
  'deferred nodes that all read': (bytes) =>
    composite({
      atomic: true,
      nodes: named(
        fill(bytes, (index) => ({
          block: 'task',
          deferred: true,
          input: { ref: `nodes.n${index}.response` }
        }))
      )
    }),
  'computed indexes': (bytes) =>
    composite({
      nodes: named(
        fill(bytes, (index) => ({ block: 'task', input: { cel: `nodes[request.a${index}]` } }))
      )
    }),
  'many expressions': (bytes) =>
    composite({
      nodes: named(fill(bytes, (index) => ({ block: 'task', input: { cel: `${index}+1` } })))
    }),
  'one input with many expressions': (bytes) =>
    composite({
      nodes: {
        n0: { block: 'task', input: { array: fill(bytes, (index) => ({ cel: `${index}` })) } }
      }
    }),
  'many wrong expressions': (bytes) =>
    composite({
      nodes: named(fill(bytes, (index) => ({ block: 'task', input: { cel: `${index}+` } })))
    }),
  ...expressions(
    'expressions of brackets',
    (index) => `${'('.repeat(100)}${index}${')'.repeat(100)}`
  ),
  ...expressions('expressions of open brackets', (index) => `${index}${'('.repeat(100)}`),
  ...expressions('expressions of choices', (index) => `${'true?1:'.repeat(99)}${index}`),
  ...expressions('expressions of lists', (index) => `${'['.repeat(99)}${index}${']'.repeat(99)}`),
  ...expressions('expressions of maps', (index) => `${'{1:'.repeat(99)}${index}${'}'.repeat(99)}`),
  ...expressions('expressions of sums', (index) => `${'1+'.repeat(2_000)}${index}`),
  ...expressions('expressions of signs', (index) => `${'-'.repeat(4_000)}${index}`),
  ...expressions('expressions of negations', (index) => `${'!'.repeat(4_000)}${index}`),
  ...expressions('expressions of members', (index) => `request${'.a'.repeat(100)}.b${index}`),
  ...expressions(
    'expressions of calls',
    (index) => `${'size('.repeat(90)}${index}${')'.repeat(90)}`
  ),
  ...expressions('expressions of texts', (index) => `"${'x'.repeat(4_000)}${index}"`),
  ...expressions('expressions of escapes', (index) => `"${'\\n'.repeat(2_000)}${index}"`),
  ...expressions('expressions of quotes', (index) => `${'"" + '.repeat(800)}${index}`),
  ...expressions('expressions of names', (index) => `${'a'.repeat(4_000)}${index}`),
  ...expressions('expressions of comparisons', (index) => `${'1 == '.repeat(800)}${index}`),
  ...expressions('expressions of ands', (index) => `${'true && '.repeat(500)}${index} == 1`),
  ...expressions(
    'expressions of loops',
    (index) => `[1].map(a, [1].map(b, [1].map(c, ${'a+b+c+'.repeat(600)}${index})))`
  ),
  ...expressions('expressions of blanks', (index) => `${' '.repeat(4_000)}${index}`),
  ...expressions('expressions of comments', (index) => `${'//\n'.repeat(1_300)}${index}`),
  'nodes that lead to each other': (bytes) => {
    const count = Math.min(limits.GRAPH_NODES_MAX, Math.ceil(bytes / 36))
    const nodes = Array.from({ length: count }, () => ({ block: 'task' }))
    const targets = nodes.map((_, index) => `n${(index + 1) % count}`)
    return composite({ nodes: named(nodes), transitions: named(targets) })
  },
  'graphs inside graphs': (bytes) => composite({ nodes: { n0: inside(bytes / 2, 14) } }),
  'graphs inside graphs, too deep': (bytes) => composite({ nodes: { n0: inside(bytes / 2, 18) } })
}

function expressions(
  name: string,
  cel: (index: number) => string
): Readonly<Record<string, (bytes: number) => string>> {
  return {
    [name]: (bytes) =>
      composite({
        nodes: named(fill(bytes, (index) => ({ block: 'task', input: { cel: cel(index) } })))
      })
  }
}

function deepValue(leaves: unknown[]): unknown {
  let value: unknown = { array: leaves }
  for (let level = 0; level < 20; level += 1) {
    value = { object: { a: value, b: { ref: `request.level${level}` } } }
  }
  return value
}

function inside(bytes: number, depth: number): unknown {
  let node: unknown = {
    composite: { entry_point: 'n0', nodes: named(fill(bytes, () => ({ block: 'task' }))) }
  }
  for (let level = 0; level < depth; level += 1) {
    node = { composite: { entry_point: 'n0', nodes: { n0: node } } }
  }
  return node
}

const graph = (steps: unknown[], parts: object = {}): string =>
  JSON.stringify({ schema: 'tally-graph/1', name: 'hostile', version: '1', steps, ...parts })

const step = (index: number, parts: object = {}) => ({ id: `s${index}`, block: 'task', ...parts })

const graphs: Readonly<Record<string, (bytes: number) => string>> = {
  'steps with unknown keys': (bytes) => graph(fill(bytes, (index) => step(index, { oops: 1 }))),
  'empty steps': (bytes) => graph(fill(bytes, () => ({}))),
  'steps of the wrong type': (bytes) => graph(fill(bytes, () => 0)),
  'the same id': (bytes) => graph(fill(bytes, () => step(0))),
  'a chain': (bytes) =>
    graph(
      fill(bytes, (index) => step(index, { depends_on: index === 0 ? [] : [`s${index - 1}`] }))
    ),
  'a cycle': (bytes) =>
    graph(fill(bytes, (index) => step(index, { depends_on: [`s${index + 1}`] }))),
  'unknown dependencies': (bytes) =>
    graph([step(0, { depends_on: fill(bytes, (index) => `m${index}`) })]),
  'the same dependency': (bytes) =>
    graph([step(1), step(0, { depends_on: fill(bytes, () => 's1') })]),
  'many edges': (bytes) => {
    const count = Math.floor(Math.sqrt(bytes / 4))
    return graph(
      Array.from({ length: count }, (_, index) =>
        step(index, { depends_on: Array.from({ length: index }, (_, before) => `s${before}`) })
      )
    )
  },
  'one step that waits for all': (bytes) => {
    const steps = fill(bytes * 0.7, (index) => step(index))
    return graph([
      ...steps,
      step(-1, { id: 'z', depends_on: steps.map((_, index) => `s${index}`) })
    ])
  },
  'arguments that are reserved': (bytes) =>
    graph(fill(bytes, (index) => step(index, { args: { $a: 1 } }))),
  'missing actions and blocks': (bytes) => graph(fill(bytes, (index) => ({ id: `s${index}` }))),
  'providers of steps': (bytes) =>
    graph(fill(bytes, (index) => step(index, { providers: Array(64).fill('missing') }))),
  ...inSlots((value) => graph([step(0, { args: { a: value } })]))
}

function inSlots(
  make: (value: unknown) => string
): Readonly<Record<string, (bytes: number) => string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, (bytes: number) => make(value(bytes))])
  )
}

const plan = (nodes: unknown[], parts: object = {}): string =>
  JSON.stringify({ schema: 'tally-plan/1', name: 'hostile', version: '1', nodes, ...parts })

const planNode = (index: number, parts: object = {}) => ({
  id: `s${index}`,
  block: 'task',
  ...parts
})

const plans: Readonly<Record<string, (bytes: number) => string>> = {
  'nodes with unknown keys': (bytes) => plan(fill(bytes, (index) => planNode(index, { oops: 1 }))),
  'too many nodes': (bytes) => plan(fill(bytes, (index) => ({ id: `s${index}` }))),
  'unknown lanes': (bytes) => plan(fill(bytes, (index) => planNode(index, { lane: `l${index}` }))),
  'lanes without nodes': (bytes) => plan([planNode(0)], { lanes: named(fill(bytes / 4, () => 1)) }),
  'one node that reads what it does not wait for': (bytes) => {
    const nodes = fill(bytes / 4, (index) => planNode(index))
    const deps = nodes.map((_, index) => `s${index}`)
    const input = { array: fill(bytes / 2, (index) => ({ ref: `nodes.x${index}.response` })) }
    return plan([...nodes, { id: 'z', block: 'task', deps, input }])
  },
  'nodes that read what they do not wait for': (bytes) =>
    plan(
      fill(bytes, (index) => planNode(index, { input: { ref: `nodes.s${index + 1}.response` } }))
    ),
  'deferred nodes that all read': (bytes) =>
    plan(
      fill(bytes, (index) =>
        planNode(index, { deferred: true, input: { ref: `nodes.s${index}.response` } })
      ),
      { atomic: true, order: 'declared' }
    ),
  'computed indexes': (bytes) =>
    plan(
      fill(bytes, (index) =>
        planNode(index, { input: { cel: `nodes[request.a${index}].response` } })
      )
    ),
  ...inSlots((value) => plan([planNode(0, { input: { lit: value } })]))
}

const flow = (nodes: unknown[], edges: unknown[] = [], parts: object = {}): string =>
  JSON.stringify({
    meta: { schemaVersion: '2.0', name: 'hostile', version: '1' },
    graph: { nodes, edges, startNodeId: 'n0' },
    ...parts
  })

const flowNode = (index: number, parts: object = {}) => ({
  nodeId: `n${index}`,
  nodeKind: 'input.prompt',
  ...parts
})

/** With the settings that its adapter needs: without them it is refused before all else. */
const piAgent = {
  adapterKind: 'pi-mono',
  adapterConfig: { transport: 'http', baseUrl: 'https://pi.example' }
}

const agents = (bytes: number, parts: object = {}) => ({
  agents: {
    agentDefs: fill(bytes, (index) => ({ agentId: `a${index}`, ...piAgent, ...parts }))
  }
})

const flows: Readonly<Record<string, (bytes: number) => string>> = {
  'empty nodes': (bytes) => flow(fill(bytes, () => ({}))),
  'nodes of the wrong type': (bytes) => flow(fill(bytes, () => 0)),
  'the same id': (bytes) => flow(fill(bytes, () => flowNode(0))),
  'nodes that nothing leads to': (bytes) => flow(fill(bytes, (index) => flowNode(index))),
  'edges from nowhere': (bytes) =>
    flow(
      [flowNode(0)],
      fill(bytes, (index) => ({ source: `x${index}`, target: `y${index}` }))
    ),
  'edges from one node': (bytes) =>
    flow(
      fill(bytes / 2, (index) => flowNode(index)),
      fill(bytes / 2, (index) => ({
        source: 'n0',
        target: `n${index + 1}`,
        sourceHandle: `h${index}`
      }))
    ),
  'edges from one node of a custom kind': (bytes) => {
    const edges = fill(bytes, (index) => ({
      source: 'n0',
      target: 'n1',
      sourceHandle: `h${index}`
    }))
    const ports = edges.map((_, index) => ({ portId: `h${index}`, dataType: 'flow' }))
    return flow([flowNode(0, { nodeKind: 'custom.kind', outputPorts: ports }), flowNode(1)], edges)
  },
  'the same edge': (bytes) =>
    flow(
      [flowNode(0), flowNode(1)],
      fill(bytes, () => ({ source: 'n0', target: 'n1' }))
    ),
  'a chain': (bytes) => flow(...chain(bytes)),
  'a chain that persons may skip': (bytes) => flow(...chain(bytes, { config: { onError: 'ask' } })),
  'data edges': (bytes) =>
    flow(
      fill(bytes / 2, (index) => flowNode(index)),
      fill(bytes / 2, (index) => ({ source: `n${index}`, target: `n${index + 1}`, dataEdge: true }))
    ),
  'custom kinds': (bytes) =>
    flow(
      fill(bytes / 2, (index) => flowNode(index, { nodeKind: 'custom.last' })),
      [],
      {
        extensions: {
          customNodeSpecs: fill(bytes / 2, (index) => ({ nodeKind: `custom.k${index}` }))
        }
      }
    ),
  'ids that make one name': (bytes) =>
    flow(
      fill(bytes, (index) =>
        flowNode(index, {
          nodeId: `${'!'.repeat((index % 60) + 1)}${'?'.repeat(Math.floor(index / 60) % 60)}`
        })
      )
    ),
  'ids that are cut to one name': (bytes) =>
    flow(fill(bytes, (index) => flowNode(index, { nodeId: `!${'x'.repeat(60)}${index}` }))),
  'many agents': (bytes) => flow([flowNode(0)], [], agents(bytes)),
  'agents that may call each other': (bytes) => {
    const { agents: defs } = agents(bytes / 2, {
      subagentPolicy: { switchModes: ['agent-suggested'], maxDelegations: 1 }
    })
    return flow(
      fill(bytes / 2, (index) => flowNode(index, { nodeKind: 'agent.main', agentId: 'a0' })),
      [],
      { agents: defs }
    )
  },
  'secrets that stand in the text': (bytes) =>
    flow(fill(bytes, (index) => flowNode(index, { config: { credential: 'x' } }))),
  'prompts shared by many nodes': (bytes) =>
    flow(
      fill(bytes / 2, (index) => flowNode(index, { nodeKind: 'agent.main', agentId: 'a0' })),
      [],
      {
        agents: {
          agentDefs: [
            {
              agentId: 'a0',
              ...piAgent,
              modelProfile: { systemPrompt: 'x'.repeat(bytes / 2) }
            }
          ]
        }
      }
    ),
  ...inSlots((value) => flow([flowNode(0, { config: { outputSchema: { a: value } } })])),
  'keys that editors keep': (bytes) =>
    flow([flowNode(0)], [], { layout: values['many keys']?.(bytes) })
}

function chain(bytes: number, parts: object = {}): [unknown[], unknown[]] {
  const nodes = fill(bytes / 2, (index) => flowNode(index, parts))
  const edges = nodes.slice(1).map((_, index) => ({ source: `n${index}`, target: `n${index + 1}` }))
  return [nodes, edges]
}

const workflow = (nodes: unknown[], parts: object = {}): unknown => ({
  schema: 'ais-flow/0.0.3',
  meta: { name: 'hostile', version: '1.0.0' },
  default_chain: 'eip155:1',
  nodes,
  ...parts
})

const query = (index: number, parts: object = {}) => ({
  id: `q${index}`,
  type: 'query_ref',
  protocol: 'p@1.0.0',
  query: 'q',
  ...parts
})

const workflows: Readonly<Record<string, (bytes: number) => unknown>> = {
  'empty nodes': (bytes) => workflow(fill(bytes, () => ({}))),
  'nodes of the wrong type': (bytes) => workflow(fill(bytes, () => 0)),
  'nodes with unknown keys': (bytes) => workflow(fill(bytes, (index) => query(index, { oops: 1 }))),
  'unknown keys of the document': (bytes) => workflow([query(0)], named(fill(bytes / 2, () => 0))),
  'many bad values': (bytes) =>
    workflow([query(0, { args: { a: { array: fill(bytes, () => 0) } } })]),
  'bad values below a long key': (bytes) =>
    workflow([
      query(0, {
        args: { a: { object: { ['k'.repeat(bytes / 2)]: { array: fill(bytes / 2, () => 0) } } } }
      })
    ]),
  'bad values below deep nesting': (bytes) =>
    workflow([query(0, { args: { a: { array: fill(bytes, () => deepAis({})) } } })]),
  'many inputs': (bytes) =>
    workflow([query(0)], {
      inputs: named(fill(bytes, () => ({ type: 'uint256' }))),
      outputs: { o: { ref: 'nodes.q0.outputs.r' } }
    }),
  'unknown protocols': (bytes) =>
    workflow(fill(bytes, (index) => query(index, { protocol: `p${index}@1.0.0` })))
}

function deepAis(leaf: unknown): unknown {
  let value = leaf
  for (let level = 0; level < 10; level += 1) value = { array: [value] }
  return value
}

const execution = {
  '*': {
    type: 'evm_read',
    to: { lit: '0x' },
    abi: { name: 'f', outputs: [{ name: 'r', type: 'uint256' }] }
  }
}

const protocol = (parts: object = {}): unknown => ({
  schema: 'ais/0.0.2',
  meta: { protocol: 'p', version: '1.0.0' },
  actions: {},
  queries: {
    q: { params: [{ name: 'a', type: 'uint256', required: false }], returns: [], execution }
  },
  ...parts
})

const testOf = (params: object) => ({
  ...{ query: 'q', chain: 'eip155:1', params },
  expect: { params }
})

const bundle = (nodes: unknown[], parts: object = {}, given: object = {}): string =>
  JSON.stringify({
    schema: 'ais-bundle/1',
    flow: workflow(nodes, parts),
    protocols: [protocol(given)]
  })

const heavy = (bytes: number) => ({
  queries: {
    q: {
      params: [],
      returns: [],
      execution: {
        '*': {
          ...execution['*'],
          args: named(fill(bytes, (index) => ({ cel: `inputs.a + ${index}` })))
        }
      }
    }
  }
})

const bundles: Readonly<Record<string, (bytes: number) => string>> = {
  'many queries': (bytes) => bundle(fill(bytes, (index) => query(index))),
  'a chain': (bytes) =>
    bundle(fill(bytes, (index) => query(index, { deps: index === 0 ? [] : [`q${index - 1}`] }))),
  'a chain of reads': (bytes) =>
    bundle(
      fill(bytes, (index) =>
        query(index, index === 0 ? {} : { args: { a: { ref: `nodes.q${index - 1}.outputs.r` } } })
      )
    ),
  'a cycle': (bytes) => bundle(fill(bytes, (index) => query(index, { deps: [`q${index + 1}`] }))),
  'the same id': (bytes) => bundle(fill(bytes, () => query(0))),
  'unknown dependencies': (bytes) =>
    bundle(fill(bytes, (index) => query(index, { deps: [`x${index}`] }))),
  'one value with references that lead nowhere': (bytes) =>
    bundle([
      query(0, {
        args: { a: { array: fill(bytes, (index) => ({ ref: `nodes.x${index}.outputs` })) } }
      })
    ]),
  'one value with guarded references': (bytes) =>
    bundle(
      [
        query(0, { condition: { cel: 'inputs.x' } }),
        query(1, {
          args: { a: { array: fill(bytes, (index) => ({ ref: `nodes.q0.outputs.r${index}` })) } }
        })
      ],
      { inputs: { x: { type: 'bool' } } }
    ),
  'one value that reads an optional input': (bytes) =>
    bundle(
      [
        query(0, {
          args: { a: { array: fill(bytes, (index) => ({ ref: `inputs.x.m${index}` })) } }
        })
      ],
      { inputs: { x: { type: 'string' } } }
    ),
  'the same long condition': (bytes) => {
    const condition = { cel: `${' '.repeat(4_000)}inputs.x` }
    return bundle(
      fill(bytes, (index) =>
        query(index, {
          condition,
          args: index === 0 ? {} : { a: { ref: `nodes.q${index - 1}.outputs.r` } }
        })
      ),
      { inputs: { x: { type: 'bool', required: true } } }
    )
  },
  'many inputs that are read': (bytes) =>
    bundle(
      fill(bytes / 2, (index) => query(index, { args: { a: { ref: `inputs.n${index}` } } })),
      { inputs: named(fill(bytes / 2, () => ({ type: 'uint256' }))) }
    ),
  'outputs of many nodes': (bytes) =>
    bundle(
      fill(bytes / 2, (index) => query(index)),
      { outputs: named(fill(bytes / 2, (index) => ({ ref: `nodes.q${index}.outputs` }))) }
    ),
  'many nodes of one heavy query': (bytes) =>
    bundle(
      fill(bytes / 2, (index) => query(index)),
      { inputs: { a: { type: 'uint256' } } },
      heavy(bytes / 2)
    ),
  'many expressions': (bytes) =>
    bundle(fill(bytes, (index) => query(index, { args: { a: { cel: `${index}+1` } } }))),
  'many protocols': (bytes) =>
    JSON.stringify({
      schema: 'ais-bundle/1',
      flow: workflow([query(0)]),
      protocols: fill(bytes, () => protocol()).slice(0, 1_024)
    }),
  ...inSlots((value) => bundle([query(0, { args: { a: { lit: value } } })]))
}

const protocols: Readonly<Record<string, (bytes: number) => unknown>> = {
  'empty actions': (bytes) => protocol({ actions: named(fill(bytes / 2, () => ({}))) }),
  'actions of the wrong type': (bytes) => protocol({ actions: named(fill(bytes / 4, () => 0)) }),
  'executions that fit no type': (bytes) =>
    protocol({
      queries: named(
        fill(bytes, () => ({ execution: { '*': { type: 'composite', steps: [{}] } } }))
      )
    }),
  'steps that are wrong': (bytes) =>
    protocol({
      actions: {
        a: { execution: { '*': { type: 'composite', steps: fill(bytes, () => ({})) } } }
      }
    }),
  'a test with many arguments': (bytes) =>
    protocol({ tests: [testOf(named(fill(bytes / 2, (index) => index)))] }),
  'a test of a long list': (bytes) =>
    protocol({
      queries: { q: { params: [{ name: 'a', type: 'array<uint256>' }], returns: [], execution } },
      tests: [testOf({ a: fill(bytes, String) })]
    }),
  'many tests': (bytes) =>
    protocol({ tests: fill(bytes, (index) => testOf({ a: `${index}` })).slice(0, 4_096) }),
  'arguments that no ABI has': (bytes) =>
    protocol({
      queries: {
        q: {
          params: [],
          execution: { '*': { ...execution['*'], args: named(fill(bytes, () => ({ lit: 1 }))) } }
        }
      }
    }),
  'types in types': (bytes) =>
    protocol({
      queries: {
        q: {
          params: fill(bytes, (index) => ({
            name: `a${index}`,
            type: `${'array<'.repeat(30)}bool${'>'.repeat(30)}`
          })),
          execution
        }
      }
    }),
  'ABI types with many dimensions': (bytes) =>
    protocol({
      queries: named(
        fill(bytes, () => ({
          execution: {
            '*': {
              ...execution['*'],
              abi: { name: 'f', outputs: [{ name: 'r', type: `uint8${'[]'.repeat(60)}` }] }
            }
          }
        }))
      )
    }),
  'patterns of parameters': (bytes) =>
    protocol({
      queries: {
        q: {
          params: [
            { name: 'a', type: 'string', constraints: { pattern: repeat(bytes, '[a-z]{1,2}') } }
          ],
          execution
        }
      }
    }),
  'components in components': (bytes) =>
    protocol({
      queries: {
        q: {
          execution: {
            '*': {
              ...execution['*'],
              abi: { name: 'f', outputs: fill(bytes, () => components(8)).slice(0, 64) }
            }
          }
        }
      }
    })
}

function components(depth: number): unknown {
  return depth === 0
    ? { name: 'a', type: 'uint8' }
    : { name: 'a', type: 'tuple', components: [components(depth - 1), components(0)] }
}

const pack = (parts: object): unknown => ({
  schema: 'ais-pack/0.0.2',
  meta: { name: 'hostile', version: '1.0.0' },
  includes: [],
  ...parts
})

const packs: Readonly<Record<string, (bytes: number) => unknown>> = {
  'unknown keys': (bytes) => pack(named(fill(bytes / 2, () => 0))),
  'empty includes': (bytes) => pack({ includes: fill(bytes, () => ({})) }),
  'includes of the wrong type': (bytes) => pack({ includes: fill(bytes, () => 0) }),
  'wrong chains': (bytes) =>
    pack({
      includes: [{ protocol: 'p', version: '1.0.0', chain_scope: fill(bytes, () => 'x') }]
    }),
  'providers that fit neither form': (bytes) =>
    pack({ providers: { quote: { enabled: fill(bytes, () => 0) } } }),
  'tokens of the list': (bytes) =>
    pack({
      token_policy: {
        allowlist: fill(bytes, (index) => ({ chain: 'eip155:1', address: `0x${index}` }))
      }
    }),
  'overrides with refused names': (bytes) =>
    pack({ overrides: { actions: named(fill(bytes / 2, () => ({}))) } }),
  'versions that nearly match': (bytes) =>
    pack({ includes: fill(bytes, () => ({ protocol: 'p', version: `1.0.0-${'a'.repeat(50)}!` })) })
}

const manifest = (parts: object): unknown => ({
  name: 'hostile',
  id: 'hostile',
  intents: ['a.b'],
  capabilities: [],
  ...parts
})

const manifests: Readonly<Record<string, (bytes: number) => unknown>> = {
  'unknown keys': (bytes) => manifest(named(fill(bytes / 2, () => 0))),
  'names that nearly match': (bytes) =>
    manifest({ intents: fill(bytes, () => `${'a.'.repeat(60)}!`) }),
  'intents of the wrong type': (bytes) => manifest({ intents: fill(bytes, () => 0) }),
  'capabilities that fit neither form': (bytes) =>
    manifest({ capabilities: fill(bytes, () => ({})) }),
  'offers that are wrong': (bytes) => manifest({ capabilitySchemas: fill(bytes, () => ({})) }),
  'many widgets': (bytes) => manifest({ widgets: fill(bytes, () => 0) }),
  'an id that nearly matches': (bytes) => manifest({ id: `${'a'.repeat(bytes)}!` })
}

function table(
  kind: HostileKind,
  makers: Readonly<Record<string, (bytes: number) => unknown>>
): readonly HostileDocument[] {
  return Object.entries(makers).map(([name, make]) => ({
    kind,
    name,
    make: (bytes) => {
      const made = make(bytes)
      return typeof made === 'string' ? made : JSON.stringify(made)
    }
  }))
}

/** One document for each way in which a reader can be made to work. */
export const hostileDocuments: readonly HostileDocument[] = [
  ...table('text', texts),
  ...table('composite', composites),
  ...table('plan', plans),
  ...table('graph', graphs),
  ...table('flow', flows),
  ...table('workflow', workflows),
  ...table('bundle', bundles),
  ...table('protocol', protocols),
  ...table('pack', packs),
  ...table('manifest', manifests)
]

import type { CompositeDefinition } from '../../block/index.js'
import { type Json, type JsonObject, spendWork } from '../../core/index.js'
import { carriesData, isBuiltInKind, portsOf } from '../flow/ports.js'
import type { FlowDocument, FlowEdge, FlowNode } from '../flow/schema.js'
import type { IncomingEdge } from '../position/flow-position.js'

type Branch = CompositeDefinition['transitions'][string][number]

/** The edges of a flow, by their ends. */
export class FlowEdges {
  readonly #flow: FlowDocument
  readonly #names: ReadonlyMap<string, string>
  readonly #outgoing = new Map<string, FlowEdge[]>()
  readonly #incoming = new Map<string, FlowEdge[]>()
  /** Nodes that a person may skip. */
  readonly #skippable: ReadonlySet<string>

  constructor(flow: FlowDocument, names: ReadonlyMap<string, string>) {
    this.#flow = flow
    this.#names = names
    const asking = flow.graph.nodes.filter(({ config }) => config.onError === 'ask')
    this.#skippable = new Set(asking.map(({ nodeId }) => nodeId))
    for (const edge of flow.graph.edges) {
      listIn(this.#outgoing, edge.source).push(edge)
      listIn(this.#incoming, edge.target).push(edge)
    }
  }

  name(nodeId: string): string {
    return this.#names.get(nodeId) ?? nodeId
  }

  /**
   * First the edge that begins at the active output handle, else the first without a handle, else
   * the first (semantics.md A2). One way out needs no condition.
   */
  branches({ nodeId, nodeKind }: FlowNode): readonly Branch[] {
    const edges = this.#outgoing.get(nodeId) ?? []
    const otherwise = edges.find((edge) => handleOf(edge) === '') ?? edges[0]
    if (otherwise === undefined) return []
    const handles = activeHandles(nodeKind)
    const seen = new Set<string>()
    const labelled = edges.filter((edge) => {
      const handle = handleOf(edge)
      if (handle === '' || handles?.includes(handle) === false || seen.has(handle)) return false
      seen.add(handle)
      return true
    })
    // What is always left by one handle needs no condition.
    const only = handles?.length === 1 ? (labelled[0] ?? otherwise) : otherwise
    const last: Branch = { condition: { kind: 'default' }, target: this.name(only.target) }
    if (labelled.every(({ target }) => target === only.target)) return [last]
    const maySkip = this.#maySkip(nodeId)
    return [
      ...labelled.map((edge) => ({
        condition: { kind: 'cel' as const, cel: isActive(handleOf(edge), maySkip) },
        target: this.name(edge.target)
      })),
      last
    ]
  }

  /** The edges that end at a node, as its block sees them. */
  incoming(node: FlowNode): readonly IncomingEdge[] {
    const ports = portsOf(node, this.#flow.extensions.customNodeSpecs)
    return (this.#incoming.get(node.nodeId) ?? []).map((edge) => ({
      source: this.name(edge.source),
      sourcePort: handleOf(edge) === '' ? 'out' : handleOf(edge),
      targetPort: carriesData(edge, ports) ? (edge.targetHandle ?? 'data') : null
    }))
  }

  /** Values of inputs that no edge feeds. */
  defaults(node: FlowNode): JsonObject {
    const fed = new Set(this.incoming(node).map(({ targetPort }) => targetPort))
    const { inputs } = portsOf(node, this.#flow.extensions.customNodeSpecs)
    const values = inputs.flatMap(({ portId, defaultValue }): [string, Json][] =>
      defaultValue === undefined || fed.has(portId) ? [] : [[portId, defaultValue]]
    )
    return Object.fromEntries(values)
  }

  /**
   * Values that give the outputs of the nodes before, null where one has not run. Where a person
   * may skip the node before, those before it count too: the walk continues from them.
   */
  sources(node: FlowNode): JsonObject {
    const before = this.#before(node.nodeId)
    const isCertain = before.size === 1 && node.nodeId !== this.#flow.graph.startNodeId
    const values = [...before].map((source): [string, Json] => {
      const name = this.name(source)
      return [name, isCertain ? { ref: `nodes.${name}.response.data` } : { cel: ifRun(name) }]
    })
    return Object.fromEntries(values)
  }

  #before(nodeId: string): ReadonlySet<string> {
    const found = new Set(this.#sourcesOf(nodeId))
    // A set grows while it is walked.
    for (const source of found) {
      spendWork(STEPS_OF_SOURCE)
      if (!this.#maySkip(source)) continue
      for (const earlier of this.#sourcesOf(source)) if (earlier !== nodeId) found.add(earlier)
    }
    return found
  }

  #sourcesOf(nodeId: string): readonly string[] {
    return (this.#incoming.get(nodeId) ?? []).map(({ source }) => source)
  }

  #maySkip(nodeId: string): boolean {
    return this.#skippable.has(nodeId)
  }
}

/** Work of one value that a node may read: nodes that persons may skip bring all before them. */
const STEPS_OF_SOURCE = 100

/** Handles by which a node can be left; undefined when its kind is the host's own. */
function activeHandles(nodeKind: string): readonly string[] | undefined {
  if (nodeKind === 'control.plan-loop') return ['plan', 'execute', 'done']
  return isBuiltInKind(nodeKind) ? ['out'] : undefined
}

function handleOf(edge: FlowEdge): string {
  return edge.sourceHandle ?? ''
}

// Reads as little as it can: whatever an expression names is converted each time. A node that a
// person has skipped has no data.
function isActive(handle: string, maySkip: boolean): string {
  const isIt = `response.data.handle == ${JSON.stringify(handle)}`
  return maySkip ? `response.data != null && ${isIt}` : isIt
}

const selectable = /^[A-Za-z][A-Za-z0-9_]*$/

// `has` asks for one node, `in` reads them all; it takes no name that is not a plain word.
function ifRun(name: string): string {
  const node = JSON.stringify(name)
  const data = `nodes[${node}].response.data`
  if (selectable.test(name) && !reserved.has(name)) return `has(nodes.${name}) ? ${data} : null`
  return `${node} in nodes ? ${data} : null`
}

/** Words of CEL that are no names. */
const reserved: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'false', 'for', 'function', 'if', 'import'],
  ...['in', 'let', 'loop', 'namespace', 'null', 'package', 'return', 'true', 'var', 'void'],
  'while'
])

function listIn<Key, Item>(map: Map<Key, Item[]>, key: Key): Item[] {
  const known = map.get(key)
  if (known !== undefined) return known
  const made: Item[] = []
  map.set(key, made)
  return made
}

import {
  AdapterRegistry,
  type AgentHost,
  type FakeScript,
  fakeAdapter,
  type TurnRequest
} from '../../src/agent/index.js'
import type { Clock, Json, JsonObject } from '../../src/core/index.js'
import type { Registrations, RunHandle, RunResult } from '../../src/runtime/index.js'
import { Machine, openOn } from './lives.js'

/** Small flow documents, and runs of them with a scripted agent in place of a model. */

export function agentOf(agentId: string, rest: JsonObject = {}): JsonObject {
  return { agentId, adapterKind: 'fake', ...rest }
}

export function nodeOf(nodeId: string, nodeKind: string, rest: JsonObject = {}): JsonObject {
  return { nodeId, nodeKind, ...rest }
}

/** An edge as `from[:port] -> to[:port]`. */
export function edgeOf(text: string): JsonObject {
  const [from = '', to = ''] = text.split(' -> ')
  const [source = '', sourceHandle] = from.split(':')
  const [target = '', targetHandle] = to.split(':')
  return {
    source,
    target,
    ...(sourceHandle === undefined ? {} : { sourceHandle }),
    ...(targetHandle === undefined ? {} : { targetHandle })
  }
}

export interface FlowParts {
  readonly agents?: readonly JsonObject[]
  readonly nodes: readonly JsonObject[]
  readonly edges?: readonly string[]
  readonly start?: string
  readonly runtime?: JsonObject
  readonly extensions?: JsonObject
}

export function flowOf(parts: FlowParts): JsonObject {
  const { agents = [agentOf('main')], nodes, edges = [], runtime = {}, extensions = {} } = parts
  return {
    meta: { schemaVersion: '2.0', name: 'test', version: '1.0.0' },
    agents: { agentDefs: agents },
    graph: {
      nodes,
      edges: edges.map(edgeOf),
      startNodeId: parts.start ?? String(nodes[0]?.['nodeId'])
    },
    runtime,
    extensions
  }
}

/** One agent node, and the finish that gives its result. */
export function oneTurn(config: JsonObject = {}, agent: JsonObject = {}): JsonObject {
  return flowOf({
    agents: [agentOf('main', agent), agentOf('helper')],
    nodes: [
      nodeOf('ask', 'agent.main', { agentId: 'main', config }),
      nodeOf('finish', 'control.finish')
    ],
    edges: ['ask -> finish']
  })
}

export function scripted(script: FakeScript, kinds: readonly string[] = ['fake']): AdapterRegistry {
  const registry = new AdapterRegistry()
  for (const kind of kinds) {
    registry.registerAdapter(kind, () => ({ ...fakeAdapter({ script }), kind }))
  }
  return registry
}

export interface FlowRun {
  readonly result: RunResult
  readonly requests: readonly TurnRequest[]
  readonly receipts: readonly string[]
}

/** Runs a flow to its end in memory, verifies it, and closes. */
export async function runFlow(
  document: Json,
  options: {
    readonly script: FakeScript
    readonly inputs?: Json
    readonly host?: Omit<AgentHost, 'adapters'>
    readonly registrations?: Registrations
    readonly follow?: (run: RunHandle) => Promise<void>
    readonly clock?: Clock
    /** In place of the scripted agent. */
    readonly adapters?: AdapterRegistry
  }
): Promise<FlowRun> {
  const requests: TurnRequest[] = []
  const script: FakeScript = (request) => {
    requests.push(request)
    return options.script(request)
  }
  const { store } = new Machine(1).begin(undefined)
  const tally = await openOn(store, {
    ...options.registrations,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    agents: { environment: {}, ...options.host, adapters: options.adapters ?? scripted(script) }
  })
  const run = tally.begin(document, { id: 'flow', inputs: options.inputs ?? {} })
  const following = options.follow?.(run)
  const result = await run.result
  await following
  const asked = requests.length
  const report = await tally.verify()
  if (!report.ok) throw new Error(`verify: ${JSON.stringify(report.failure)}`)
  if (requests.length !== asked) throw new Error('verification asked an agent')
  const receipts: string[] = []
  for await (const { receipt } of tally.receipts()) receipts.push(JSON.stringify(receipt))
  await tally.close()
  return { result, requests, receipts }
}

/** Data of the flow's result. */
export function dataOf({ result }: FlowRun): JsonObject {
  return result.response.data as JsonObject
}

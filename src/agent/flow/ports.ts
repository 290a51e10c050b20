import { spendWork } from '../../core/index.js'
import type { CustomNodeSpec, FlowNode, FlowPort, PortType } from './schema.js'

/** The ports of one node, its own before those of its kind. */
export interface NodePorts {
  readonly inputs: readonly FlowPort[]
  readonly outputs: readonly FlowPort[]
}

const flow = (portId: string): FlowPort => ({ portId, dataType: 'flow', required: false })
const data = (portId: string, dataType: PortType): FlowPort => ({
  portId,
  dataType,
  required: false
})

const agentPorts: NodePorts = {
  inputs: [flow('in'), data('prompt', 'prompt'), data('data', 'any')],
  outputs: [flow('out'), data('result', 'string'), data('plan', 'plan'), data('score', 'score')]
}
const loaderPorts: NodePorts = { inputs: [], outputs: [flow('out'), data('data', 'documents')] }

const builtIn: ReadonlyMap<string, NodePorts> = new Map([
  ['loader.local-dir', loaderPorts],
  ['loader.work-dir', loaderPorts],
  ['loader.http-auth', { inputs: [], outputs: [flow('out'), data('data', 'object')] }],
  ['input.prompt', { inputs: [], outputs: [flow('out'), data('prompt', 'prompt')] }],
  ['agent.main', agentPorts],
  ['agent.sub', agentPorts],
  [
    'control.plan-loop',
    {
      inputs: [flow('in'), data('score', 'score')],
      outputs: [flow('plan'), flow('execute'), flow('done')]
    }
  ],
  ['control.finish', { inputs: [flow('in'), data('result', 'any')], outputs: [] }]
])

/** Kinds that need no registration. */
export function isBuiltInKind(kind: string): boolean {
  return builtIn.has(kind)
}

export function portsOf(node: FlowNode, specs: readonly CustomNodeSpec[]): NodePorts {
  spendWork(1 + (specs.length >> 3))
  const spec = specs.find(({ nodeKind }) => nodeKind === node.nodeKind)
  const kind: NodePorts =
    builtIn.get(node.nodeKind) ??
    (spec === undefined
      ? { inputs: [flow('in')], outputs: [flow('out')] }
      : { inputs: spec.inputPorts, outputs: spec.outputPorts })
  return { inputs: node.inputPorts ?? kind.inputs, outputs: node.outputPorts ?? kind.outputs }
}

const alike: readonly (readonly [PortType, PortType])[] = [
  ['string', 'prompt'],
  ['object', 'documents'],
  ['array', 'documents'],
  ['array', 'plan'],
  ['object', 'score'],
  ['object', 'artifact']
]

/** Whether a value of one type may go where the other is wanted. */
export function areCompatible(from: PortType, to: PortType): boolean {
  if (from === to || from === 'any' || to === 'any') return true
  return alike.some(([a, b]) => (a === from && b === to) || (a === to && b === from))
}

/** Whether an edge carries a value: it says so, or it ends at a port that is not control only. */
export function carriesData(
  edge: { readonly dataEdge: boolean; readonly targetHandle?: string | null | undefined },
  target: NodePorts
): boolean {
  if (edge.dataEdge) return true
  spendWork(1 + (target.inputs.length >> 4))
  const port = target.inputs.find(({ portId }) => portId === edge.targetHandle)
  return port !== undefined && port.dataType !== 'flow'
}

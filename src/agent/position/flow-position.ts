import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'

/**
 * What goes along with the token of a flow from node to node: how far it is and what was spent. It
 * is part of every node's result, so it is sealed, replayed and resumed with it (semantics.md A2).
 */
export interface FlowPosition {
  /** Node executions so far; the source with the highest ran last. */
  readonly step: number
  /** Logical time of the first turn, milliseconds. */
  readonly startedAtMs: number | null
  /** By agent. */
  readonly spent: Readonly<Record<string, Spent>>
  /** Visits of plan loops, by node. */
  readonly visits: Readonly<Record<string, number>>
  /** The last evaluation that no plan loop has looked at yet. */
  readonly score: Score | null
  /**
   * Sessions that the other side keeps, by agent: a process that resumes the run uses them (A4).
   */
  readonly sessions?: Readonly<Record<string, string>>
}

/** What an agent has used in this run. */
export interface Spent {
  readonly turns: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** Decimal text. */
  readonly costUsd: string
  readonly delegations: number
  /** Logical time of its first turn, milliseconds: when its session began. */
  readonly startedAtMs: number
  /** Milliseconds that its turns and tools took, where a time budget bounds it (A7). */
  readonly workMs?: number
}

export interface Score {
  readonly nodeId: string
  readonly score: number
  readonly canComplete: boolean
}

/** What every node of a flow gives. */
export interface NodeOutput {
  /** The active output handle: it chooses the edge. */
  readonly handle: string
  readonly ports: JsonObject
  readonly walk: FlowPosition
}

/** An edge as the node at its end sees it. */
export interface IncomingEdge {
  readonly source: string
  readonly sourcePort: string
  /** The input that gets the value; null for a control edge. */
  readonly targetPort: string | null
}

/** What every node of a flow is given beside its own configuration. */
export interface NodeEntry {
  readonly flowName: string
  readonly nodeId: string
  readonly incoming: readonly IncomingEdge[]
  /** Values of inputs that no edge feeds. */
  readonly defaults: JsonObject
  /** Payload of the run. */
  readonly run: Json
  /** Outputs of the nodes before, by node; null for one that has not run. */
  readonly sources: Readonly<Record<string, Json>>
}

export interface Entered {
  readonly walk: FlowPosition
  /** The run's input, then what the edges carry. */
  readonly input: JsonObject
}

export const firstPosition: FlowPosition = {
  step: 0,
  startedAtMs: null,
  spent: {},
  visits: {},
  score: null
}

/** The node's place in the walk, and its input. */
export function enter(entry: NodeEntry): Entered {
  const outputs = new Map<string, NodeOutput>()
  for (const [node, data] of Object.entries(entry.sources)) {
    if (isNodeOutput(data)) outputs.set(node, data)
  }
  const last = [...outputs.values()].reduce(later, undefined)
  const position = last?.walk ?? firstPosition
  const input: Record<string, Json> = { ...entry.defaults, ...inputOf(entry.run) }
  for (const { source, sourcePort, targetPort } of inFlowOrder(entry.incoming, outputs)) {
    const ports = outputs.get(source)?.ports ?? {}
    const value = portValue(ports, sourcePort)
    if (targetPort !== null) {
      if (value !== undefined) input[targetPort] = value
    } else if (outputs.has(source)) input['previousResult'] = ports['result'] ?? null
  }
  return { walk: { ...position, step: position.step + 1 }, input }
}

// `out` is what a node gives in general: its result.
function portValue(ports: JsonObject, port: string): Json | undefined {
  if (Object.hasOwn(ports, port)) return ports[port]
  return port === 'out' ? ports['result'] : undefined
}

// Of several control edges, the one that the token came along counts.
function inFlowOrder(
  incoming: readonly IncomingEdge[],
  outputs: ReadonlyMap<string, NodeOutput>
): readonly IncomingEdge[] {
  const step = ({ source }: IncomingEdge) => outputs.get(source)?.walk.step ?? 0
  return [...incoming].sort((a, b) => step(a) - step(b))
}

function later(known: NodeOutput | undefined, next: NodeOutput): NodeOutput {
  return known === undefined || next.walk.step > known.walk.step ? next : known
}

function inputOf(run: Json): JsonObject {
  if (isJsonObject(run)) return run
  return run === null ? {} : { data: run }
}

function isNodeOutput(data: Json): data is Json & NodeOutput {
  return isJsonObject(data) && 'walk' in data && 'ports' in data
}

export const noSpending: Spent = {
  turns: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: '0',
  delegations: 0,
  startedAtMs: 0
}

/** The session of an agent that the other side keeps, if it told of one. */
export function sessionOf({ sessions = {} }: FlowPosition, agentId: string): string | undefined {
  return Object.hasOwn(sessions, agentId) ? sessions[agentId] : undefined
}

export function withSession(
  position: FlowPosition,
  agentId: string,
  session: string | undefined
): FlowPosition {
  if (session === undefined) return position
  return { ...position, sessions: { ...position.sessions, [agentId]: session } }
}

export function spentBy(position: FlowPosition, agentId: string): Spent | undefined {
  return Object.hasOwn(position.spent, agentId) ? position.spent[agentId] : undefined
}

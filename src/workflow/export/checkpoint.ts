import { isJsonObject, type Json, type JsonObject, rfc3339 } from '../../core/index.js'
import { givenOf } from '../engine/spec.js'
import { definedNodes, planOfDefinition } from './defined-plan.js'
import { type EngineEventRecord, engineEvents } from './events.js'
import { withoutSecrets } from './without-secrets.js'

/** The `schema` member of exported checkpoints. */
export const engineCheckpointSchema = 'ais-engine-checkpoint/0.0.2'

interface PollState {
  readonly attempts: number
  readonly started_at_ms: number
  readonly next_attempt_at_ms?: number
}

/**
 * A run at the end of its journal as AIS's engines keep it. It is for people and other programs:
 * what a run continues from is its journal, and no checkpoint is read in again.
 */
export function engineCheckpoint(
  entries: readonly Json[],
  { events = false }: { readonly events?: boolean } = {}
): JsonObject {
  const [first = null] = entries
  const started = isJsonObject(first) ? first : {}
  const planned = definedNodes(started['definition'] ?? null)
  const completed = new Set<string>()
  const nodes: { [node: string]: Json } = {}
  const polls = new Map<string, PollState>()
  const paused = new Map<string, JsonObject>()
  let lastAtMs = 0
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue
    const { k, path, at, reason = null, due, token = null, action = null } = entry
    const atMs = typeof at === 'number' ? at : lastAtMs
    lastAtMs = atMs
    if (k === 'run.finished') {
      polls.clear()
      paused.clear()
    }
    const node = typeof path === 'string' ? path.slice('root/'.length) : ''
    // Steps of the run that the plan does not name are none of its nodes.
    if (!planned.has(node)) continue
    if (k === 'wait' && (reason === 'poll' || reason === 'retry')) {
      const before = polls.get(node)
      polls.set(node, {
        attempts: (before?.attempts ?? 0) + 1,
        started_at_ms: before?.started_at_ms ?? atMs,
        ...(typeof due === 'number' ? { next_attempt_at_ms: due } : {})
      })
    } else if (k === 'wait') {
      paused.set(node, { reason, details: { token }, paused_at_ms: atMs })
    } else if (endsWait(entry)) {
      paused.delete(node)
      if (action !== 'skip') continue
      completed.add(node)
      polls.delete(node)
    } else if (k === 'settled') {
      paused.delete(node)
      const data = doneData(entry)
      if (data === undefined) continue
      completed.add(node)
      polls.delete(node)
      nodes[node] = { outputs: data['outputs'] ?? {}, calculated: data['calculated'] ?? {} }
    }
  }
  const given = givenOf(started['input'] ?? null)
  const found: readonly EngineEventRecord[] = events ? engineEvents(entries) : []
  const checkpoint = {
    schema: engineCheckpointSchema,
    created_at: rfc3339(lastAtMs),
    plan: planOfDefinition(started['definition'] ?? null),
    runtime: { ...given, nodes },
    completed_node_ids: [...completed].sort(),
    poll_state_by_node_id: Object.fromEntries(polls),
    paused_by_node_id: Object.fromEntries(paused),
    ...(events ? { events: found.map(({ event }) => event) } : {})
  }
  return withoutSecrets(checkpoint as unknown as Json) as JsonObject
}

/** Whether an entry ends a wait of its place: an answer to it, or its time. */
function endsWait({ k, effect }: JsonObject): boolean {
  if (k === 'sealed') return effect === 'wait'
  return k === 'answered' || k === 'decision' || k === 'timer'
}

function doneData({ response = null }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(response) || response['success'] !== true) return undefined
  const { data = null } = response
  return isJsonObject(data) ? data : undefined
}

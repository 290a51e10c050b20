import type { BoundTool, TurnNode } from '../../agent/index.js'
import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { turnEffectName } from './agent-world.js'
import type { EffectOptionsOfWorld } from './options.js'

type Effects = Readonly<Record<string, EffectOptionsOfWorld>>

/**
 * What agents may say at the nodes of flows in a definition: what each is asked for, calls of its
 * tools, and answers of no use.
 */
export function flowEffects(definition: Json): Effects {
  return Object.fromEntries(
    turnsIn(definition).map(({ nodeId, node, tools }) => {
      const answer = { anyOf: [...saidWell(node), ...tools.map(called), said('no such answer')] }
      return [turnEffectName(nodeId), { answer }]
    })
  )
}

interface Turn {
  readonly nodeId: string
  readonly node: TurnNode
  readonly tools: readonly BoundTool[]
}

function turnsIn(value: Json): readonly Turn[] {
  if (Array.isArray(value)) return value.flatMap(turnsIn)
  if (!isJsonObject(value)) return []
  const node = literal(value['node'])
  const agent = literal(value['agent'])
  const entry = isJsonObject(value['entry']) ? value['entry']['object'] : undefined
  const nodeId = isJsonObject(entry) ? literal(entry['nodeId']) : undefined
  if (!isJsonObject(node) || !isJsonObject(agent) || typeof nodeId !== 'string') {
    return Object.values(value).flatMap(turnsIn)
  }
  // What the agent room has put there.
  const { tools } = agent as unknown as Pick<Turn, 'tools'>
  return [{ nodeId, node: node as unknown as TurnNode, tools }]
}

function literal(value: Json | undefined): Json | undefined {
  return isJsonObject(value) ? value['lit'] : undefined
}

/** Most answers are of use. */
function saidWell({ expectedOutput }: TurnNode): readonly JsonObject[] {
  if (expectedOutput === undefined) return [said('done'), said('another answer')]
  const { schema } = expectedOutput
  const answer = turnOf({ text: { const: '' }, structured: schema })
  return [answer, answer, answer]
}

function said(text: string): JsonObject {
  return turnOf({ text: { const: text } })
}

function called({ name, parameters }: BoundTool): JsonObject {
  const call = {
    type: 'object',
    properties: { id: { const: 'call-1' }, name: { const: name }, arguments: parameters },
    required: ['id', 'name', 'arguments']
  }
  return turnOf({ toolCalls: { type: 'array', prefixItems: [call] } })
}

function turnOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) }
}

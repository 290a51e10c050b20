import {
  type FakeTurn,
  fakeAdapter,
  TURN_EFFECT,
  type TurnEffectRequest
} from '../../agent/index.js'
import type { EffectCall } from '../../code/index.js'
import { isJsonObject, type Json } from '../../core/index.js'

/** Name under which a case and the options script what an agent says at one node of a flow. */
export function turnEffectName(nodeId: string): string {
  return `${TURN_EFFECT} ${nodeId}`
}

/** {@link turnEffectName} of the node that asks; undefined: the effect is no turn. */
export function turnNameOf(effect: string, request: Json): string | undefined {
  return effect === TURN_EFFECT ? turnEffectName(askedIn(request).turn.nodeId) : undefined
}

/** What an agent says as the result of its turn: a text, or a turn of `fakeAdapter`. */
export async function turnResult({ request, key, signal }: EffectCall, said: Json): Promise<Json> {
  const { turn, flowName, countsWork } = askedIn(request)
  const scripted = isJsonObject(said) ? (said as unknown as FakeTurn) : { text: String(said) }
  const { agentId, runId } = turn
  const session = await fakeAdapter({ script: () => scripted }).open({
    ...{ runId, agentId, flowName },
    settings: {}
  })
  const result = await session.turn({ ...turn, invocationId: key }, { signal, invocationId: key })
  // Plain JSON, as adapters promise; no turn takes time.
  const plain = result as unknown as Json & object
  return countsWork === true ? { ...plain, workMs: 0 } : plain
}

/** The request of the effect, which the block of agents makes. */
function askedIn(request: Json): TurnEffectRequest {
  return request as unknown as TurnEffectRequest
}

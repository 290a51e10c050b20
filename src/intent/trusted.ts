import { attributionOf, type Block, type KernelPort } from '../block/index.js'
import type { Json } from '../core/index.js'
import type { Intent } from './intent.js'
import { payloadTextOf } from './payload-text.js'
import { reservedKeyOf } from './reply.js'
import { uiProblemOf } from './ui.js'

/** Runs a trusted block for an intent; the receipt is the block's, under the intent's action. */
export function runTrusted(port: KernelPort, block: Block, intent: Intent): unknown {
  const { action, payload, raw } = intent
  port.attribute({
    ...attributionOf(block, payloadTextOf(port, intent)),
    action,
    ...(raw === undefined ? {} : { raw }),
    refusal: refusalOf
  })
  return port.act(block, payload)
}

/** Why a result cannot stand in a reply (K1, K12). */
export function refusalOf(
  result: unknown
): { readonly reason: string; readonly details: Json } | undefined {
  const key = reservedKeyOf(result)
  if (key !== undefined) return { reason: 'result_reserved_key', details: { key } }
  const problem = uiProblemOf(result)
  return problem === undefined ? undefined : { reason: 'result_invalid_ui', details: { problem } }
}

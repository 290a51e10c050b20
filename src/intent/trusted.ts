import { attributionOf } from '../block/index.js'
import type { Block, IntentPort } from '../code/index.js'
import { type IdentityId, type Json, referenceTo } from '../core/index.js'
import { authorise } from './authorise.js'
import type { Intent } from './intent.js'
import { beforeDoing, obligationOf } from './obligation.js'
import { payloadTextOf } from './payload-text.js'
import { reservedKeyOf } from './reply.js'
import type { Tell } from './stages.js'
import { uiProblemOf } from './ui.js'

/** Runs a trusted block for an intent; the receipt is the block's, under the intent's action. */
export function runTrusted(port: IntentPort, block: Block, intent: Intent): unknown {
  attribute(port, block, intent)
  return actAsked(port, block, intent)
}

/** Asks first where that is an obligation. */
function actAsked(port: IntentPort, block: Block, { payload }: Intent): unknown {
  const { name, version } = block
  const doing = { kind: 'blocks', name: referenceTo(name, version), payload } as const
  const asking = beforeDoing(port, obligationOf(port, doing), doing)
  if (asking === undefined) return port.act(block, payload)
  return asking.then(() => port.act(block, payload))
}

/**
 * Runs a block whose code is a stranger's, once its capabilities are granted to it: a grant
 * names its code hash, so that other code asks anew (K5).
 */
export async function runGranted(
  port: IntentPort,
  block: Block,
  asked: { readonly intent: Intent; readonly identity: IdentityId; readonly tell: Tell }
): Promise<unknown> {
  const { intent, identity, tell } = asked
  const { name: packageId, capabilities: declared } = block
  // A replay asks for what was asked for then; whether the code is still that is checked apart.
  const { codeHash } = port.recorded ?? block
  tell('stage.measured')
  attribute(port, block, intent)
  await authorise(port, { identity, packageId, codeHash, declared, action: intent.action, tell })
  tell('stage.granted')
  return actAsked(port, block, intent)
}

function attribute(port: IntentPort, block: Block, intent: Intent): void {
  const { action, raw } = intent
  const said = attributionOf(block, payloadTextOf(port, intent))
  const { dappId, provider, payloadText, capabilitiesDeclared } = said
  const { isInputPrivate, isOutputPrivate } = said
  port.attribute({
    action,
    dappId,
    provider,
    payloadText,
    capabilitiesDeclared,
    isInputPrivate,
    isOutputPrivate,
    refusal: refusalOf,
    ...(raw === undefined ? {} : { raw })
  })
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

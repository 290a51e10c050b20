import type { Hash, Json } from '../../core/index.js'
import type { Block } from '../define.js'
import type { AttemptAsk } from '../protocol.js'
import { builtInEffects, requestHashOf } from './calls.js'

/** The wait that a node asks for before an attempt: call number 0 (decisions/0008). */
export interface Confirmation {
  readonly request: Json
  readonly requestHash: Hash
}

/** What a person is asked before an attempt, when its node wants a confirmation. */
export function confirmationOf(ask: AttemptAsk, block: Block): Confirmation | undefined {
  const { confirm } = ask.options
  if (confirm === undefined) return undefined
  const request = {
    reason: 'confirmation',
    message: confirm.message ?? null,
    block: block.name,
    payload: ask.request.payload
  }
  return { request, requestHash: requestHashOf(builtInEffects.wait, request) }
}

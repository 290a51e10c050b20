import { isJsonObject, type Json, ledgerError, runtimeError } from '../../core/index.js'
import type { IntentReply } from '../../intent/index.js'
import { agentNamed } from '../gate/agents.js'
import type { PlannedText } from '../intent/conversation.js'
import type { IntentRequest } from '../intent/intents.js'
import { ownerNamed } from '../run/messages.js'
import type { Params } from './params.js'

/** What the service's methods about intents are made of. */
export interface Asking {
  intent(request: IntentRequest, principal: Json): Promise<IntentReply>
  planText(text: string, options: { readonly provider?: string }): Promise<PlannedText>
  install(packed: string): Promise<IntentReply>
}

/** The service's methods about intents, texts and packages; the principal is set here (K13). */
export function intentRequestsOf(asking: Asking | undefined): {
  readonly intent: (params: Params) => Promise<IntentReply>
  readonly resolve: (params: Params) => Promise<PlannedText>
  readonly install: (params: Params) => Promise<IntentReply>
} {
  return {
    intent: async (params) => {
      const agent = params.optionalText('agent')
      const [id, raw, provider] = [
        params.optionalText('id'),
        params.optionalText('raw'),
        params.optionalText('provider')
      ]
      const action = params.text('action')
      const payload = params.value('payload') ?? {}
      const context = params.optionalObject('context')
      const trace = params.optionalText('trace')
      // Whose data it is about is the owner's to say.
      const subject = agent === undefined ? params.optionalText('subject') : undefined
      params.end()
      if (!isJsonObject(payload)) {
        const problem = 'payload is no object'
        throw runtimeError('service.invalid_params', { method: 'intent', problem })
      }
      const request = {
        action,
        payload,
        ...(id === undefined ? {} : { id }),
        ...(raw === undefined ? {} : { raw }),
        ...(context === undefined ? {} : { context }),
        ...(trace === undefined ? {} : { trace }),
        ...(subject === undefined ? {} : { subject }),
        ...(provider === undefined ? {} : { provider })
      }
      return present(asking).intent(request, agent === undefined ? ownerNamed() : agentNamed(agent))
    },
    resolve: async (params) => {
      const text = params.text('text')
      const provider = params.optionalText('provider')
      params.end()
      return present(asking).planText(text, provider === undefined ? {} : { provider })
    },
    install: async (params) => {
      const packed = params.text('package')
      params.end()
      return present(asking).install(packed)
    }
  }
}

function present(asking: Asking | undefined): Asking {
  if (asking === undefined) throw ledgerError('ledger.read_only', {})
  return asking
}

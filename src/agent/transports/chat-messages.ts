import type { JSONValue, ModelMessage } from 'ai'
import { unreachable } from '../../core/index.js'
import type { TurnMessage, TurnRequest } from '../adapters/adapter.js'

/** A turn as a chat: the prompt, then what was said since. */
export function chatMessages({ prompt, messages }: TurnRequest): ModelMessage[] {
  return [{ role: 'user', content: prompt }, ...messages.map(chatMessage)]
}

function chatMessage(message: TurnMessage): ModelMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.text }
    case 'assistant':
      return assistantMessage(message)
    case 'tool': {
      const { toolCallId, name: toolName, result } = message
      const output =
        typeof result === 'string'
          ? ({ type: 'text', value: result } as const)
          : // The AI SDK's own JSON type is not read-only.
            ({ type: 'json', value: result as JSONValue } as const)
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] }
    }
    default:
      return unreachable(message)
  }
}

function assistantMessage(
  message: Extract<TurnMessage, { readonly role: 'assistant' }>
): ModelMessage {
  const { text, reasoningText, toolCalls = [] } = message
  return {
    role: 'assistant',
    content: [
      ...(reasoningText === undefined ? [] : [{ type: 'reasoning', text: reasoningText } as const]),
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...toolCalls.map(({ id, name, arguments: input }) => {
        return { type: 'tool-call', toolCallId: id, toolName: name, input } as const
      })
    ]
  }
}

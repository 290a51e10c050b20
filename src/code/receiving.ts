import { isJsonObject, type Json, type JsonObject, limits } from '../core/index.js'
import type { Call, SignalRequest } from './calls.js'
import { BlockFailure, type ReceiveSignal } from './context.js'
import { type Parsed, readerOf, type StandardSchema } from './value-schema.js'

/** Makes a call of the code: its request, and what the pump is given. */
type AskSignal = (
  request: JsonObject,
  build: (call: Omit<Call, 'kind'>) => SignalRequest
) => Promise<Json>

/** What stands in a wait for a signal: nothing but its name. */
export function signalRequest(name: string): { readonly signal: string } {
  return { signal: name }
}

/** The name of the signal that a request asks for. */
export function signalNamed(request: Json): string | undefined {
  const name = isJsonObject(request) ? request['signal'] : undefined
  return typeof name === 'string' ? name : undefined
}

/** A schema that throws refuses nothing: the code gets its error in its own turn. */
function refusalBy(read: (value: Json) => Parsed, value: Json): string | undefined {
  try {
    const parsed = read(value)
    return parsed.ok ? undefined : parsed.problem
  } catch {
    return undefined
  }
}

/**
 * `ctx.signal` of code whose calls are made by `ask`. Rejects with `invalid_signal_name`, and with
 * `invalid_signal` for one that came before its schema was known and does not fit: it is taken, and
 * the next call is given the next.
 */
export function signalReceiver(ask: AskSignal): ReceiveSignal {
  const receive = async (
    name: string,
    schema?: StandardSchema<unknown> | JsonObject,
    { timeoutMs }: { readonly timeoutMs?: number } = {}
  ): Promise<unknown> => {
    const { length } = name
    if (length === 0 || length > limits.SIGNAL_NAME_LENGTH_MAX) {
      throw new BlockFailure('invalid_signal_name', { length })
    }
    const read = readerOf(schema)
    const refuses = (value: Json) => refusalBy(read, value)
    const given = await ask(signalRequest(name), (call) => {
      return { kind: 'signal', name, timeoutMs, refuses, ...call }
    })
    const { action, id = null, value = null } = isJsonObject(given) ? given : {}
    if (action === 'timeout') return undefined
    const parsed = read(value)
    if (parsed.ok) return parsed.value
    throw new BlockFailure('invalid_signal', { signal: name, id, problem: parsed.problem })
  }
  return receive as ReceiveSignal
}

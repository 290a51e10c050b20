import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { MalformedAnswer } from '../rpc/malformed.js'
import type { Settled } from '../rpc/rpc.js'
import { RpcError } from '../rpc/rpc-error.js'

/** What the node has answered to one of several calls; throws its refusal. */
export function answered(settled: Settled | undefined): Json {
  if (settled instanceof RpcError) throw settled
  return settled ?? null
}

export function object(value: Json | undefined, method: string): JsonObject {
  if (value !== undefined && isJsonObject(value)) return value
  throw new MalformedAnswer(method, value)
}

/** The value of an answer, and the slot of the state in which the node has looked. */
export function withContext(
  answer: Json,
  method: string
): { readonly slot: number; readonly value: Json } {
  const { context, value } = object(answer, method)
  if (value === undefined) throw new MalformedAnswer(method, answer)
  return { slot: count(object(context, method)['slot'], method), value }
}

/** A slot or a height. */
export function count(value: Json | undefined, method: string): number {
  const number = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(number) && Number(number) >= 0) return Number(number)
  throw new MalformedAnswer(method, value)
}

/** A whole number of any size, as a decimal string. */
export function whole(value: Json | undefined, method: string): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text === 'string' && /^[0-9]{1,20}$/.test(text)) return text
  throw new MalformedAnswer(method, value)
}

export function text(value: Json | undefined, method: string): string {
  if (typeof value === 'string') return value
  throw new MalformedAnswer(method, value)
}

export function list(value: Json | undefined, method: string): readonly Json[] {
  if (Array.isArray(value)) return value
  throw new MalformedAnswer(method, value)
}

/** Account data as `[letters, "base64"]`. */
export function base64Data(value: Json | undefined, method: string): string {
  const [letters, encoding] = list(value, method)
  if (encoding !== 'base64') throw new MalformedAnswer(method, value)
  return text(letters, method)
}

import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { MalformedAnswer } from '../rpc/malformed.js'

export function quantity(value: Json | undefined, method: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value)
  throw new MalformedAnswer(method, value)
}

export function count(value: Json | undefined, method: string): number {
  const number = Number(quantity(value, method))
  if (Number.isSafeInteger(number)) return number
  throw new MalformedAnswer(method, value)
}

export function bytes(value: Json | undefined, method: string): `0x${string}` {
  if (typeof value === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(value)) {
    return value as `0x${string}`
  }
  throw new MalformedAnswer(method, value)
}

export function hash(value: Json | undefined, method: string): `0x${string}` {
  const found = bytes(value, method)
  if (found.length === 66) return found
  throw new MalformedAnswer(method, value)
}

export function address(value: Json | undefined, method: string): `0x${string}` {
  const found = bytes(value, method)
  if (found.length === 42) return found
  throw new MalformedAnswer(method, value)
}

export function object(value: Json | undefined, method: string): JsonObject {
  if (value !== undefined && isJsonObject(value)) return value
  throw new MalformedAnswer(method, value)
}

export function hexQuantity(value: bigint | number): `0x${string}` {
  return `0x${value.toString(16)}`
}

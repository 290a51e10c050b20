import type { CelValue } from '@bufbuild/cel'
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import type { Decimal } from '../decimal.js'
import { amountSchema } from './amount-type.js'

const decimals = new WeakMap<object, Decimal>()

/** A CEL value that holds a number which is text in JSON. */
export function decimalValue(decimal: Decimal): ReflectMessage {
  const message = reflect(amountSchema)
  decimals.set(message, decimal)
  return message
}

/** The number in a value of the profile of AIS, or undefined. */
export function numberOf(value: CelValue): Decimal | undefined {
  if (typeof value === 'bigint') return { int: value, scale: 0 }
  return typeof value === 'object' && value !== null ? decimals.get(value) : undefined
}

import type { CelValue } from '@bufbuild/cel'
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import type { Decimal } from '../decimal.js'
import { amountSchema } from './amount-type.js'

/**
 * A message of the library, all of which is a number: each has the same empty message as prototype,
 * since the library takes longer to make one than to evaluate an expression.
 */
class DecimalMessage {
  readonly decimal: Decimal

  constructor(decimal: Decimal) {
    this.decimal = decimal
  }
}

Object.setPrototypeOf(DecimalMessage.prototype, reflect(amountSchema))

/** A CEL value that holds a number which is text in JSON. */
export function decimalValue(decimal: Decimal): ReflectMessage {
  const message: unknown = new DecimalMessage(decimal)
  return message as ReflectMessage
}

/** The number in a value of the profile of AIS, or undefined. */
export function numberOf(value: CelValue): Decimal | undefined {
  if (typeof value === 'bigint') return { int: value, scale: 0 }
  return value instanceof DecimalMessage ? value.decimal : undefined
}

/**
 * Not public and not in `exports`: the names under which outside conformance suites drive the pure
 * parts. Bytes in, plain values out; nothing here keeps state.
 */
import type { Json, JsonObject } from './core/index.js'
import { loadExpressions } from './expression/index.js'
import { publicKeyBytes, getPublicKey as publicKeyOf } from './identity/index.js'

export { canonicalize, parse, readDocument } from './core/index.js'
export { sign, verify } from './identity/index.js'

const expressions = await loadExpressions()

/** The 32-byte public key of a 32-byte seed. */
export function getPublicKey(seed: Uint8Array): Uint8Array {
  return publicKeyBytes(publicKeyOf(seed))
}

/** A CEL expression on bindings; throws `expression.invalid` or `expression.failed`. */
export function evaluate(expression: string, bindings: JsonObject = {}): Json {
  return expressions.evaluate(expression, bindings)
}

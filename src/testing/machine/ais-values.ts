import type { Json } from '../../core/index.js'
import { type AisType, parseType } from '../../workflow/index.js'

/**
 * Values of an AIS type as a JSON Schema: few, the ends of what the type holds among them.
 * Undefined for a text that is no type.
 */
export function aisSchema(type: string, chain: string): Json | undefined {
  const parsed = parseType(type)
  return parsed === undefined ? undefined : schemaOf(parsed, chain)
}

function schemaOf(type: AisType, chain: string): Json {
  switch (type.kind) {
    case 'bool':
      return { type: 'boolean' }
    case 'string':
      return { enum: ['', 'a', 'text'] }
    case 'float':
      return { enum: ['0', '0.5', '1', '1000000'] }
    case 'address':
      return { enum: addresses }
    case 'bytes':
      return { enum: ['0x', '0x00', '0xdeadbeef'] }
    case 'fixed_bytes':
      return { enum: ['00', 'ab'].map((pair) => `0x${pair.repeat(type.size)}`) }
    case 'integer':
      return { enum: integers(type) }
    case 'token_amount':
      return { enum: ['0', '1', '1.5', '1000000'] }
    case 'asset':
      return { enum: addresses.map((address) => ({ chain_id: chain, address, decimals: 6 })) }
    case 'array':
      return { type: 'array', items: schemaOf(type.item, chain) }
    case 'tuple':
      return { type: 'array', prefixItems: type.members.map((one) => schemaOf(one, chain)) }
  }
}

const addresses = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`)
const COMMON = 1_000_000n

function integers({ signed, bits }: AisType & { readonly kind: 'integer' }): readonly string[] {
  const most = 2n ** BigInt(signed ? bits - 1 : bits) - 1n
  const usual = [0n, 1n, 5n, COMMON, most].filter((one) => one <= most)
  return (signed ? [...usual, -1n, -most - 1n] : usual).map(String)
}

import { limits } from '../../core/index.js'
import type { AbiParameter } from './abi-types.js'
import { keccak256 } from './keccak.js'

/** A function as its selector is made of: `transfer(address,uint256)`. */
export function signatureOf(name: string, inputs: readonly AbiParameter[]): string {
  return `${name}(${inputs.map(typeOf).join(',')})`
}

function typeOf({ type, components = [] }: AbiParameter): string {
  if (!type.startsWith('tuple')) return type
  return `(${components.map(typeOf).join(',')})${type.slice('tuple'.length)}`
}

/** By signature, as many as one execution may have calls. */
const kept = new Map<string, string>()

/** The first four bytes of what a call sends, as 0x-hex. */
export function selectorOf(signature: string): string {
  const known = kept.get(signature)
  if (known !== undefined) return known
  const digest = keccak256(new TextEncoder().encode(signature))
  const selector = `0x${Buffer.from(digest.subarray(0, 4)).toString('hex')}`
  if (kept.size >= limits.CHAIN_CALLS_MAX) kept.clear()
  kept.set(signature, selector)
  return selector
}

import type { Json, JsonObject } from '../../src/core/index.js'

/** Small workflows over the seed's token protocol, to put together in a test. */

export const asset = { lit: { chain_id: 'eip155:1', address: `0x${'a'.repeat(40)}`, decimals: 6 } }
export const owner = { lit: `0x${'b'.repeat(40)}` }

export function balance(id: string, more: JsonObject = {}): JsonObject {
  const args = { token: asset, owner }
  return { id, type: 'query_ref', protocol: 'erc20@0.0.2', query: 'balance', args, ...more }
}

export function transfer(id: string, more: JsonObject = {}): JsonObject {
  const args = { token: asset, to: owner, amount: { lit: '5' } }
  return { id, type: 'action_ref', protocol: 'erc20@0.0.2', action: 'transfer', args, ...more }
}

export function flow(nodes: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    schema: 'ais-flow/0.0.3',
    meta: { name: 'demo', version: '1.0.0' },
    default_chain: 'eip155:1',
    nodes: nodes as unknown as Json,
    ...more
  }
}

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

export function approve(id: string, more: JsonObject = {}): JsonObject {
  const args = { token: asset, spender: owner, amount: { lit: '5' } }
  return { id, type: 'action_ref', protocol: 'erc20@0.0.2', action: 'approve', args, ...more }
}

/** The nodes of a workflow as a skeleton of a plan. */
export function skeleton(nodes: readonly JsonObject[]): JsonObject {
  const { default_chain = null } = flow(nodes)
  const schema = 'ais-plan-skeleton/0.0.1'
  return { schema, meta: { name: 'demo' }, default_chain, nodes: nodes as unknown as Json }
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

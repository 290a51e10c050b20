import type { Json } from '../src/core/index.js'

const WIDTH = 10

/** A protocol with one query; what it gives is up to the provider of `chain.read`. */
export const protocol = {
  schema: 'ais/0.0.2',
  meta: { protocol: 'bench', version: '1.0.0' },
  actions: {},
  queries: {
    read: {
      params: [{ name: 'of', type: 'uint256' }],
      returns: [{ name: 'value', type: 'uint256' }],
      execution: { '*': { type: 'evm_rpc', method: 'eth_call', params: { ref: 'params.of' } } }
    }
  }
}

/** A node that asks that query. */
export function reading(id: string, of: Json, more: { readonly [key: string]: Json } = {}): Json {
  return { id, type: 'query_ref', protocol: 'bench@1.0.0', query: 'read', args: { of }, ...more }
}

export function flowOf(name: string, nodes: readonly Json[], inputs: Json = {}): Json {
  const meta = { name, version: '1.0.0' }
  return { schema: 'ais-flow/0.0.3', meta, default_chain: 'eip155:1', inputs, nodes: [...nodes] }
}

/** Nodes in rows of ten; each reads what one of the row before it gave. */
export function rowsOf(kind: 'refs' | 'cel', count: number): Json {
  const nodes = Array.from({ length: count }, (_, index) => {
    const before = `nodes.n${index - WIDTH}.outputs.value`
    const of =
      index < WIDTH
        ? { lit: String(index) }
        : kind === 'refs'
          ? { ref: before }
          : { cel: `${before} + ${index}` }
    return reading(`n${index}`, of)
  })
  return flowOf(`bench-${kind}`, nodes)
}

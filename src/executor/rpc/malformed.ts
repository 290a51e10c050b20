import type { Json } from '../../core/index.js'
import type { RpcExchange } from '../failure.js'

/** A node's answer that is not what the method gives; becomes `rpc_malformed`. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
  readonly exchange: RpcExchange

  constructor(method: string, response: Json | undefined) {
    super(`the answer to ${method} is not what the method gives`)
    this.exchange = { endpoint: null, method, request: null, response: response ?? null }
  }
}

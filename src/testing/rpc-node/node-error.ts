import type { RpcValue } from './rpc-value.js'

/** What a node answers instead of a result. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code: number
  readonly data: RpcValue | undefined

  constructor(code: number, message: string, data?: RpcValue) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Codes of JSON-RPC, which all nodes have. */
export const rpcErrors = {
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602
} as const

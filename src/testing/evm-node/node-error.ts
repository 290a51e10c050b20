import type { Json } from '../../core/index.js'

/** What a node answers instead of a result. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
  readonly code: number
  readonly data: Json | undefined

  constructor(code: number, message: string, data?: Json) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Codes of EIP-1474, and 3 for a call that a contract refuses, as Geth has it. */
export const nodeErrors = {
  invalidParams: -32602,
  unknownMethod: -32601,
  refused: -32000,
  reverted: 3
} as const

import { NodeError, rpcErrors } from '../rpc-node/index.js'

/** Codes of Agave's JSON-RPC. */
export const solanaErrors = {
  preflightFailed: -32_002,
  signatureRefused: -32_003,
  minContextSlot: -32_016,
  unsupportedVersion: -32_015
} as const

export function invalidParam(message: string): NodeError {
  return new NodeError(rpcErrors.invalidParams, message)
}

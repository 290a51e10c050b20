import { type ChainPhase, chainFailed } from '../failure.js'
import { InvalidArgument } from '../invalid-argument.js'
import { MalformedAnswer } from './malformed.js'
import { ofRpcError, RpcError } from './rpc-error.js'

/** What a stage of an execution is about, for its failures. */
export interface About {
  readonly phase: ChainPhase
  readonly executionType: string | null
  readonly sent?: boolean
}

/** What reading a chain throws, as a failure of that chain; other errors as they are. */
export function asChainFailure(error: unknown, chain: string, about: About): unknown {
  if (error instanceof RpcError) return ofRpcError(error, { ...about, chain })
  if (error instanceof MalformedAnswer) {
    const { message, exchange: rpc } = error
    return chainFailed('rpc_malformed', { ...about, chain, message, rpc })
  }
  if (error instanceof InvalidArgument) {
    return chainFailed('invalid_execution', { ...about, chain, message: error.message })
  }
  return error
}

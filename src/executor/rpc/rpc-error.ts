import type { EffectFailure } from '../../code/index.js'
import { type Json, shownText } from '../../core/index.js'
import {
  type ChainFailureCode,
  type ChainPhase,
  chainFailed,
  type RpcExchange
} from '../failure.js'

export type RpcProblem = Extract<
  ChainFailureCode,
  `rpc_${string}` | 'chain_mismatch' | 'missing_secret'
>

/**
 * A call to an endpoint that gave no result. `answered`: the node itself refused it, with `error`;
 * otherwise what it did is unknown. Never holds the address.
 */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcProblem
  readonly answered: boolean
  readonly exchange: RpcExchange
  /** The call itself did not leave: what failed came before it. */
  neverSent = false
  /** Milliseconds after which the endpoint wants to be asked again, where it says so. */
  pauseMs: number | undefined

  constructor(
    code: RpcProblem,
    message: string,
    options: { readonly answered?: boolean; readonly exchange: RpcExchange }
  ) {
    super(message)
    this.code = code
    this.answered = options.answered ?? false
    this.exchange = options.exchange
  }

  /** Data of the node's error: where a revert is. */
  get data(): string | undefined {
    return revertDataIn(this.exchange.response)
  }

  /** The node's own words; empty when it did not answer. */
  get nodeMessage(): string {
    const { response } = this.exchange
    return this.answered && isRecord(response) ? shownText(response['message'] ?? '') : ''
  }
}

/** As what an effect fails with. */
export function ofRpcError(
  error: RpcError,
  about: {
    readonly phase: ChainPhase
    readonly chain: string
    readonly executionType?: string | null
    readonly sent?: boolean
  }
): EffectFailure {
  return chainFailed(error.code, { ...about, message: error.message, rpc: error.exchange })
}

// Nodes put it at different depths.
function revertDataIn(response: Json): string | undefined {
  let place: Json | undefined = isRecord(response) ? response['data'] : undefined
  for (let depth = 0; depth < 3; depth += 1) {
    if (typeof place === 'string') {
      const found = /0x(?:[0-9a-fA-F]{2})*/.exec(place)
      return found === null ? undefined : found[0]
    }
    if (!isRecord(place)) return undefined
    place = place['data'] ?? place['originalError']
  }
  return undefined
}

function isRecord(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

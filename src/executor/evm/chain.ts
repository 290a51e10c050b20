import type { EffectFailure } from '../../code/index.js'
import type { Json } from '../../core/index.js'
import { type ChainFailureCode, chainFailed } from '../failure.js'
import { NonceOwner } from '../nonces/owner.js'
import type { Execution } from '../port.js'
import { type About, asChainFailure } from '../rpc/failures.js'
import { Rpc } from '../rpc/rpc.js'
import type { EvmChainSettings } from './config.js'
import { evmDialect } from './dialect.js'
import { type EvmExecution, parseExecution } from './execution.js'
import { KeyAddresses } from './signer.js'

/**
 * One configured EVM chain.
 *
 * Owns: its endpoints' standing, the owners of its accounts' nonces, and the addresses of its keys.
 * Does not own: transactions, keys.
 */
export class EvmChain {
  readonly settings: EvmChainSettings
  readonly rpc: Rpc
  readonly keyAddresses = new KeyAddresses()
  readonly #nonces = new Map<string, NonceOwner>()

  constructor(settings: EvmChainSettings) {
    this.settings = settings
    const { chainId, endpoints, transport, clock, redactor, rpcTimeoutMs: timeoutMs } = settings
    const dialect = evmDialect(chainId)
    this.rpc = new Rpc({ dialect, endpoints, transport, clock, redactor, timeoutMs })
  }

  get id(): string {
    return this.settings.chain
  }

  /** The one giver of an account's nonces. */
  nonces(address: string): NonceOwner {
    const known = this.#nonces.get(address.toLowerCase())
    if (known !== undefined) return known
    const owner = new NonceOwner(this.settings.clock)
    this.#nonces.set(address.toLowerCase(), owner)
    return owner
  }

  failed(code: ChainFailureCode, message: string, about: About): EffectFailure {
    return chainFailed(code, { ...about, chain: this.id, message })
  }

  /** Does something and turns what it throws into failures of the chain. */
  async guarded<Result>(about: About, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw this.asFailure(error, about)
    }
  }

  asFailure(error: unknown, about: About): unknown {
    return asChainFailure(error, this.id, about)
  }

  /** A checked execution of the kind wanted. */
  parse(execution: Execution, about: About): EvmExecution {
    const parsed = parseExecution(execution)
    if (parsed.ok) return parsed.value
    throw this.failed('invalid_execution', parsed.problem, about)
  }

  call(method: string, params: readonly Json[], signal: AbortSignal): Promise<Json> {
    return this.rpc.call(method, params, signal)
  }
}

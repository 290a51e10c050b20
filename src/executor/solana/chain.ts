import type { EffectFailure } from '../../code/index.js'
import { type Json, limits } from '../../core/index.js'
import { type ChainFailureCode, chainFailed } from '../failure.js'
import type { Execution } from '../port.js'
import { type About, asChainFailure } from '../rpc/failures.js'
import { Rpc } from '../rpc/rpc.js'
import type { SolanaChainSettings } from './config.js'
import { solanaDialect } from './dialect.js'
import type { DurableNonce } from './durable-nonce.js'
import { parseExecution, type SolanaExecution } from './execution.js'
import { KnownKeys } from './signer.js'

/**
 * One configured Solana chain.
 *
 * Owns: its endpoints' standing, the addresses of its keys, and which signatures it has made and
 * sent lately. Does not own: transactions, keys.
 */
export class SolanaChain {
  readonly settings: SolanaChainSettings
  readonly rpc: Rpc
  readonly keys = new KnownKeys()
  /** By signature, the call for which it was made. */
  readonly #made = new Map<string, string>()
  readonly #sent = new Set<string>()
  /** By the value of a durable nonce. */
  readonly #signedFor = new Map<string, number>()

  constructor(settings: SolanaChainSettings) {
    this.settings = settings
    const { genesis, endpoints, transport, clock, redactor, rpcTimeoutMs: timeoutMs } = settings
    const dialect = solanaDialect(genesis)
    this.rpc = new Rpc({ dialect, endpoints, transport, clock, redactor, timeoutMs })
  }

  get id(): string {
    return this.settings.chain
  }

  /** Keeps a signature for a call; false: another call has made the very same transaction. */
  claim(signature: string, key: string): boolean {
    const owner = this.#made.get(signature)
    if (owner !== undefined) return owner === key
    this.#made.set(signature, key)
    forgetOldest(this.#made)
    return true
  }

  /** Of nonces, the one whose value fewest transactions of this process were signed for. */
  takeNonce(nonces: readonly DurableNonce[]): DurableNonce | undefined {
    const usesOf = ({ value }: DurableNonce) => this.#signedFor.get(value) ?? 0
    const [best] = nonces.toSorted((one, other) => usesOf(one) - usesOf(other))
    if (best === undefined) return undefined
    this.#signedFor.set(best.value, usesOf(best) + 1)
    forgetOldest(this.#signedFor)
    return best
  }

  /** Whether this process has sent it before. */
  wasSent(signature: string): boolean {
    return this.#sent.has(signature)
  }

  noteSent(signature: string): void {
    this.#sent.add(signature)
    forgetOldest(this.#sent)
  }

  failed(code: ChainFailureCode, message: string, about: About): EffectFailure {
    return chainFailed(code, { ...about, chain: this.id, message })
  }

  /** Does something and turns what it throws into failures of the chain. */
  async guarded<Result>(about: About, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw asChainFailure(error, this.id, about)
    }
  }

  /** A checked execution. */
  parse(execution: Execution, about: About): SolanaExecution {
    const parsed = parseExecution(execution)
    if (parsed.ok) return parsed.value
    throw this.failed('invalid_execution', parsed.problem, about)
  }

  call(method: string, params: readonly Json[], signal: AbortSignal): Promise<Json> {
    return this.rpc.call(method, params, signal)
  }
}

function forgetOldest(memory: Map<string, unknown> | Set<string>): void {
  if (memory.size <= limits.NONCE_MEMORY_MAX) return
  const [oldest] = memory.keys()
  if (oldest !== undefined) memory.delete(oldest)
}

import { type Clock, type Environment, limits, Redactor, systemClock } from '../../core/index.js'
import { chainParts } from '../caip.js'
import type { Terms } from '../port.js'
import {
  type Endpoints,
  endpointsOf,
  invalidConfiguration,
  positive,
  signersOf,
  termsOf
} from '../rpc/settings.js'
import { httpTransport, type RpcTransport } from '../rpc/transport.js'

/** How far a transaction has to be agreed on before its step is done. */
export type SolanaCommitment = 'processed' | 'confirmed' | 'finalized'

/**
 * How one Solana chain is reached. Whatever holds a secret is a reference: `env:NAME`, `file:PATH`.
 */
export interface SolanaChainConfig {
  /**
   * Endpoints, in the order in which they are tried; they keep the history of transactions. An
   * address may be written out only when nothing in it can be a key.
   */
  readonly rpc: readonly string[]
  /**
   * The account that signs and pays when a node names none; none: unsigned mode. A key is the file
   * of the Solana CLI (64 numbers), or the same bytes in base58.
   */
  readonly signer?: string | SolanaSigner
  /** More accounts, by the names under which nodes ask for them. */
  readonly signers?: Readonly<Record<string, string | SolanaSigner>>
  /** Default `confirmed`. Below `finalized` a fork can take back what a run has as done. */
  readonly commitment?: SolanaCommitment
  readonly priorityFee?: SolanaPriorityFee
  /**
   * Nonce accounts of the accounts that pay. What is sent with one does not expire: it can be
   * included until another transaction has used its value. As many writes go at once as there are.
   */
  readonly durableNonces?: readonly string[]
  /** Between two looks. */
  readonly pollMs?: number
  /** How long to wait for a transaction to be included. */
  readonly timeoutMs?: number
  readonly rpcTimeoutMs?: number
}

/** What is paid above the base fee. */
export interface SolanaPriorityFee {
  /** Micro-lamports for a compute unit; `recent`: the median that the endpoint tells. */
  readonly microLamports: number | 'recent'
  /** The most that one transaction pays for it; the price is lowered to stay below. */
  readonly lamportsMax: number
}

/** Signs for one account; a key-management service fits. */
export interface SolanaSigner {
  readonly address: string
  /** The Ed25519 signature (64 bytes) of the bytes of a message. */
  signMessage(message: Uint8Array): Promise<Uint8Array>
}

/** Chains, endpoints and signers of the Solana executor. */
export interface SolanaOptions {
  /** By CAIP-2 id: `solana:` and the first 32 characters of the genesis hash. */
  readonly chains: Readonly<Record<string, SolanaChainConfig>>
  /** Where `env:` references are looked up, usually `process.env`. Default: nothing is there. */
  readonly environment?: Environment
  readonly transport?: RpcTransport
  readonly clock?: Clock
}

/** A configuration that was checked, with defaults filled in. */
export interface SolanaChainSettings {
  readonly chain: string
  /** What the genesis hash begins with. */
  readonly genesis: string
  readonly endpoints: Endpoints
  readonly signers: ReadonlyMap<string, string | SolanaSigner>
  readonly commitment: SolanaCommitment
  readonly priorityFee: SolanaPriorityFee
  readonly durableNonces: readonly string[]
  readonly terms: Terms
  readonly rpcTimeoutMs: number
  readonly environment: Environment
  /** Knows the keys and endpoints of all chains of the executor, as far as they were read. */
  readonly redactor: Redactor
  readonly transport: RpcTransport
  readonly clock: Clock
}

/** Confirmations of each commitment: a finalized block has 31 others that were voted on it. */
export const confirmationsOf: Readonly<Record<SolanaCommitment, number>> = {
  processed: 1,
  confirmed: 2,
  finalized: 32
}

const POLL_MS = 1_000
const TIMEOUT_MS = 180_000
const NO_PRIORITY: SolanaPriorityFee = { microLamports: 0, lamportsMax: 0 }

/** Checks a configuration without a network; throws `executor.invalid_configuration`. */
export function settingsOf(options: SolanaOptions): readonly SolanaChainSettings[] {
  const redactor = new Redactor()
  return Object.entries(options.chains).map(([chain, config]) => {
    const parts = chainParts(chain)
    if (parts?.namespace !== 'solana' || !/^[1-9A-HJ-NP-Za-km-z]{32}$/.test(parts.reference)) {
      const problem = 'it is not solana: and the first 32 characters of a genesis hash'
      throw invalidConfiguration(chain, problem)
    }
    const environment = options.environment ?? {}
    const { commitment = 'confirmed', priorityFee = NO_PRIORITY } = config
    if (!Object.hasOwn(confirmationsOf, commitment)) {
      throw invalidConfiguration(chain, 'its commitment is none of Solana')
    }
    const rpcTimeoutMs = config.rpcTimeoutMs ?? limits.RPC_TIMEOUT_MS
    const confirmations = confirmationsOf[commitment]
    const defaults = { confirmations, pollMs: POLL_MS, timeoutMs: TIMEOUT_MS }
    const { pollMs = POLL_MS, timeoutMs = TIMEOUT_MS } = config
    return {
      chain,
      genesis: parts.reference,
      endpoints: endpointsOf(chain, config.rpc, { environment, redactor }),
      signers: signersOf(chain, config),
      commitment,
      priorityFee: checkedFee(chain, priorityFee),
      durableNonces: checkedNonces(chain, config.durableNonces ?? []),
      terms: termsOf(chain, { pollMs, timeoutMs }, defaults),
      rpcTimeoutMs: positive(chain, 'rpcTimeoutMs', rpcTimeoutMs),
      environment,
      redactor,
      transport: options.transport ?? httpTransport,
      clock: options.clock ?? systemClock
    }
  })
}

function checkedNonces(chain: string, nonces: readonly string[]): readonly string[] {
  const areAddresses = nonces.every((one) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(one))
  if (areAddresses && nonces.length <= limits.CHAIN_CALLS_MAX) return nonces
  throw invalidConfiguration(chain, 'durableNonces are no addresses, or too many')
}

function checkedFee(chain: string, fee: SolanaPriorityFee): SolanaPriorityFee {
  const isWhole = (value: number) => Number.isSafeInteger(value) && value >= 0
  const { microLamports, lamportsMax } = fee
  const isPrice = microLamports === 'recent' || isWhole(microLamports)
  if (isPrice && isWhole(lamportsMax)) return fee
  throw invalidConfiguration(chain, 'priorityFee holds no whole numbers')
}

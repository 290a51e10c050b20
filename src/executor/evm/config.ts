import {
  type Clock,
  type Environment,
  isJsonObject,
  limits,
  Redactor,
  systemClock
} from '../../core/index.js'
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
import { type AbiError, abiError } from './abi-types.js'
import type { Hex } from './viem.js'

/**
 * How one EVM chain is reached. Whatever holds a secret is a reference: `env:NAME`, `file:PATH`.
 */
export interface EvmChainConfig extends Partial<Terms> {
  /**
   * Endpoints, in the order in which they are tried. An address may be written out only when
   * nothing in it can be a key.
   */
  readonly rpc: readonly string[]
  /** The account that signs when a node names none; none: unsigned mode. */
  readonly signer?: string | EvmSigner
  /** More accounts, by the names under which nodes ask for them. */
  readonly signers?: Readonly<Record<string, string | EvmSigner>>
  /** Address of Multicall3, when it is not at the usual place. */
  readonly multicall3?: string
  /** Errors of contracts that are decoded beside the ones that an execution names. */
  readonly errors?: readonly AbiError[]
  readonly rpcTimeoutMs?: number
}

/** Signs for one account; a key-management service fits. */
export interface EvmSigner {
  readonly address: string
  /** Signs the hash of an unsigned transaction; deterministic signatures are not required. */
  signTransaction(transaction: EvmTransaction): Promise<string>
}

/** An EIP-1559 transaction, or one from before it. */
export interface EvmTransaction {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
  readonly gas: bigint
  readonly fees:
    | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
    | { readonly gasPrice: bigint }
}

/** Chains, endpoints and signers of the EVM executor. */
export interface EvmOptions {
  /** By CAIP-2 id: `eip155:1`. */
  readonly chains: Readonly<Record<string, EvmChainConfig>>
  /** Where `env:` references are looked up, usually `process.env`. Default: nothing is there. */
  readonly environment?: Environment
  readonly transport?: RpcTransport
  readonly clock?: Clock
}

/** A configuration that was checked, with defaults filled in. */
export interface EvmChainSettings {
  readonly chain: string
  readonly chainId: number
  readonly endpoints: Endpoints
  readonly signers: ReadonlyMap<string, string | EvmSigner>
  readonly multicall3: Hex
  readonly errors: readonly AbiError[]
  readonly terms: Terms
  readonly rpcTimeoutMs: number
  readonly environment: Environment
  /** Knows the keys and endpoints of all chains of the executor, as far as they were read. */
  readonly redactor: Redactor
  readonly transport: RpcTransport
  readonly clock: Clock
}

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
const DEFAULTS: Terms = { confirmations: 1, pollMs: 1_000, timeoutMs: 600_000 }

/** Checks a configuration without a network; throws `executor.invalid_configuration`. */
export function settingsOf(options: EvmOptions): readonly EvmChainSettings[] {
  const redactor = new Redactor()
  return Object.entries(options.chains).map(([chain, config]) => {
    const parts = chainParts(chain)
    const chainId = Number(parts?.reference)
    if (parts?.namespace !== 'eip155' || !Number.isSafeInteger(chainId) || chainId <= 0) {
      throw invalidConfiguration(chain, 'it is not a CAIP-2 id like eip155:1')
    }
    const environment = options.environment ?? {}
    const multicall3 = config.multicall3 ?? MULTICALL3
    if (!/^0x[0-9a-fA-F]{40}$/.test(multicall3))
      throw invalidConfiguration(chain, 'multicall3 is no address')
    return {
      chain,
      chainId,
      endpoints: endpointsOf(chain, config.rpc, { environment, redactor }),
      signers: signersOf(chain, config),
      multicall3: multicall3 as Hex,
      errors: (config.errors ?? []).map((error) => checkedError(chain, error)),
      terms: termsOf(chain, config, DEFAULTS),
      rpcTimeoutMs: positive(chain, 'rpcTimeoutMs', config.rpcTimeoutMs ?? limits.RPC_TIMEOUT_MS),
      environment,
      redactor,
      transport: options.transport ?? httpTransport,
      clock: options.clock ?? systemClock
    }
  })
}

function checkedError(chain: string, error: AbiError): AbiError {
  const parsed = abiError.safeParse(error)
  if (parsed.success) return parsed.data
  const named = isJsonObject(error as never) ? error.name : ''
  throw invalidConfiguration(chain, `the error ${named} is no ABI fragment`)
}

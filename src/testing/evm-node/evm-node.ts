import type { FakeChain } from '../fake-chain.js'
import { type RpcCall, RpcNode, type RpcScript } from '../rpc-node/index.js'
import { EvmState } from './evm-state.js'
import type { EvmToken } from './evm-token.js'
import { NodeMethods } from './methods.js'
import { loadViem } from './viem.js'

/** How the EVM node of a test begins. */
export interface EvmNodeOptions {
  /** Default: 31337. */
  readonly chainId?: number
  /** Wei by address. */
  readonly balances?: Readonly<Record<string, bigint>>
  readonly tokens?: readonly EvmToken[]
  /**
   * What goes wrong with a call; undefined: it is answered. Of several calls in one request, the
   * first that breaks or has a status decides for all. It may be replaced while the node runs.
   */
  readonly script?: RpcScript
}

/**
 * An EVM node on loopback, with accounts and ERC-20 tokens in memory: executors and clients speak
 * JSON-RPC with it over HTTP, unchanged. Signed transactions are decoded and checked by viem; their
 * gas and fees are made up, and contracts cannot be deployed. Deterministic: the same calls give
 * the same hashes, blocks and times.
 *
 * @example
 * await using node = await startEvmNode({ balances: { [account.address]: 10n ** 18n } })
 * const evm = evmExecutor({ chains: { [node.id]: { rpc: [node.url], signer: 'env:KEY' } }, … })
 */
export interface EvmNode extends AsyncDisposable {
  readonly url: string
  /** CAIP-2. */
  readonly id: string
  /** Pool and blocks: `mining`, `mine`, `reorg`, `holds` for what is stuck, `forgetPool`. */
  readonly chain: FakeChain
  /** All that it was asked, in order. */
  readonly calls: readonly RpcCall[]
  script: RpcScript
  close(): Promise<void>
}

/** Rejects with `executor.missing_library` where viem, an optional peer, is not installed. */
export async function startEvmNode(options: EvmNodeOptions = {}): Promise<EvmNode> {
  const { chainId = 31_337, balances = {}, tokens = [], script } = options
  const viem = await loadViem()
  const state = new EvmState(viem, { chainId, balances, tokens })
  const node = new FakeEvmNode(new NodeMethods(viem, state, chainId), state.chain, script)
  await node.listen()
  return node
}

class FakeEvmNode extends RpcNode implements EvmNode {
  readonly chain: FakeChain

  constructor(methods: NodeMethods, chain: FakeChain, script: RpcScript | undefined) {
    super((method, params) => methods.answer(method, params), script)
    this.chain = chain
  }

  get id(): string {
    return this.chain.id
  }
}

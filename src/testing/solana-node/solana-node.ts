import { deserialize, serialize } from 'node:v8'
import { sha256Hex, testingError } from '../../core/index.js'
import { type RpcCall, RpcNode, type RpcScript } from '../rpc-node/index.js'
import { SolanaChain, type SolanaState } from './chain.js'
import { Faucet } from './faucet.js'
import { loadSolanaLibraries, type SolanaLibraries } from './libraries.js'
import { SolanaMethods } from './methods.js'
import type { SolanaMint } from './solana-mint.js'
import { TokenMaker } from './token-maker.js'

/** How the Solana node of a test begins. */
export interface SolanaNodeOptions {
  /** Base58. The chain's id has its first 32 characters. Default: one that no other chain has. */
  readonly genesisHash?: string
  /** Lamports by address. */
  readonly balances?: Readonly<Record<string, bigint>>
  readonly mints?: readonly SolanaMint[]
  /** What {@link SolanaNode.save} gave: the chain continues where it was; the above is in it. */
  readonly state?: Uint8Array
  /** What goes wrong with a call. It may be replaced while the node runs. */
  readonly script?: RpcScript
  /** Slots that begin before each call is answered, while it mines. Default 1. */
  readonly slotsPerRequest?: number
  /** Micro-lamports for a unit that recent blocks took. Default 0. */
  readonly prioritizationFee?: number
}

/**
 * A Solana node on loopback: clients speak JSON-RPC with it over HTTP, unchanged, and litesvm, an
 * optional peer with `@solana/kit`, carries out what they send. Deterministic: the same calls give
 * the same blockhashes, slots and times. There are no forks, no leaders and no market of fees, and
 * a read gives the newest state whatever commitment it asks for.
 *
 * @example
 * await using node = await startSolanaNode({ balances: { [payer.address]: 1_000_000_000n } })
 * const rpc = createSolanaRpc(node.url)
 */
export interface SolanaNode extends AsyncDisposable {
  readonly url: string
  /** CAIP-2. */
  readonly id: string
  readonly genesisHash: string
  /** All that it was asked, in order. */
  readonly calls: readonly RpcCall[]
  script: RpcScript
  slotsPerRequest: number
  /** Transactions are included as they arrive, and calls begin slots; false: `advance` does it. */
  mining: boolean
  /** Whether a transaction stays where it waits for a block, by its signature. */
  holds: (signature: string) => boolean
  readonly slot: number
  readonly blockHeight: number
  /** Signatures of what waits for a block. */
  readonly pool: readonly string[]
  /** What is in the chain, in order; `error` as the RPC has it. */
  readonly transactions: readonly SolanaNodeTransaction[]
  /** Begins slots, and carries out what waits in the first of them. */
  advance(slots?: number): void
  /** Forgets what waits for a block. */
  forgetPool(): void
  /** Gives an account lamports, in addition to what it has. */
  fund(address: string, lamports: bigint): void
  makeMint(mint: SolanaMint): Promise<void>
  /** Puts units into the associated token account of an owner, and gives its address. */
  giveTokens(mint: string, owner: string, units: bigint): Promise<string>
  /** Address of the associated token account of an owner. */
  tokenAccount(mint: string, owner: string): Promise<string>
  lamports(address: string): bigint
  /** Units in a token account; undefined: it is none. */
  tokens(address: string): bigint | undefined
  /** The whole chain, for another node with the same versions of Node and litesvm. */
  save(): Uint8Array
  /** Stops listening; the chain stands still until {@link start}. */
  stop(): Promise<void>
  /** Listens again where it did before. */
  start(): Promise<void>
  close(): Promise<void>
}

/** A transaction that the node of a test has taken. */
export interface SolanaNodeTransaction {
  readonly signature: string
  readonly slot: number
  /** Whether it succeeded. */
  readonly ok: boolean
}

/** Rejects with `executor.missing_library` where litesvm or `@solana/kit` is not installed. */
export async function startSolanaNode(options: SolanaNodeOptions = {}): Promise<SolanaNode> {
  const { balances = {}, mints = [], state, prioritizationFee = 0 } = options
  const libraries = await loadSolanaLibraries()
  const genesisHash = options.genesisHash ?? ownGenesis(libraries)
  const chain = new SolanaChain(libraries, state === undefined ? { genesisHash } : stateIn(state))
  const faucet = await Faucet.open(libraries, chain)
  const methods = new SolanaMethods(libraries, chain, { faucet, prioritizationFee })
  const node = new FakeSolanaNode(chain, methods, new TokenMaker(libraries, chain.machine), options)
  if (state === undefined) {
    for (const [address, lamports] of Object.entries(balances)) node.fund(address, lamports)
    for (const mint of mints) await node.makeMint(mint)
  }
  await node.start()
  return node
}

class FakeSolanaNode extends RpcNode implements SolanaNode {
  slotsPerRequest: number
  readonly #chain: SolanaChain
  readonly #tokens: TokenMaker

  constructor(
    chain: SolanaChain,
    methods: SolanaMethods,
    tokens: TokenMaker,
    { script, slotsPerRequest = 1 }: SolanaNodeOptions
  ) {
    super((method, params) => {
      if (chain.mining) chain.advance(this.slotsPerRequest)
      return methods.answer(method, params)
    }, script)
    this.#chain = chain
    this.#tokens = tokens
    this.slotsPerRequest = slotsPerRequest
  }

  get id(): string {
    return `solana:${this.genesisHash.slice(0, 32)}`
  }

  get genesisHash(): string {
    return this.#chain.genesisHash
  }

  get mining(): boolean {
    return this.#chain.mining
  }

  set mining(isOn: boolean) {
    this.#chain.mining = isOn
  }

  get holds(): SolanaNode['holds'] {
    return this.#chain.holds
  }

  set holds(holds: SolanaNode['holds']) {
    this.#chain.holds = holds
  }

  get slot(): number {
    return this.#chain.slot
  }

  get blockHeight(): number {
    return this.#chain.block('processed').height
  }

  get pool(): readonly string[] {
    return this.#chain.pool
  }

  get transactions(): readonly SolanaNodeTransaction[] {
    return this.#chain.records.map(({ sent, slot, error }) => {
      return { signature: sent.signature, slot, ok: error === null }
    })
  }

  advance(slots = 1): void {
    this.#chain.advance(slots)
  }

  forgetPool(): void {
    this.#chain.forgetPool()
  }

  fund(address: string, lamports: bigint): void {
    this.#tokens.fund(address, lamports)
  }

  makeMint(mint: SolanaMint): Promise<void> {
    return this.#tokens.makeMint(mint)
  }

  giveTokens(mint: string, owner: string, units: bigint): Promise<string> {
    return this.#tokens.give(mint, owner, units)
  }

  tokenAccount(mint: string, owner: string): Promise<string> {
    return this.#tokens.addressOf(mint, owner)
  }

  lamports(address: string): bigint {
    return this.#tokens.lamports(address)
  }

  tokens(address: string): bigint | undefined {
    return this.#tokens.units(address)
  }

  save(): Uint8Array {
    return Uint8Array.from(serialize(this.#chain.state()))
  }

  stop(): Promise<void> {
    return this.close()
  }

  start(): Promise<void> {
    return this.listen()
  }
}

function stateIn(bytes: Uint8Array): SolanaState {
  try {
    return deserialize(bytes) as SolanaState
  } catch (cause) {
    const problem = 'its state cannot be read'
    throw testingError('testing.chain_invalid', { problem }, { cause })
  }
}

function ownGenesis({ kit }: SolanaLibraries): string {
  return kit.getBase58Decoder().decode(Buffer.from(sha256Hex('a chain of tests'), 'hex'))
}

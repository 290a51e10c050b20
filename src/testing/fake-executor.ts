import {
  type Clock,
  canonicalize,
  type Json,
  type JsonObject,
  sha256Hex,
  systemClock
} from '../core/index.js'
import {
  type Account,
  type ChainFailureCode,
  type ChainPhase,
  chainFailed,
  type Execution,
  type Executor,
  type LookRequest,
  NonceOwner,
  type Prepared,
  type ReadyRequest,
  type ReadyState,
  type SignedTransaction,
  type Terms,
  type TransactionStatus,
  type WriteRequest
} from '../executor/index.js'
import type { FakeChain, FakeEffect, FakeTransaction } from './fake-chain.js'

/** The chains of a fake executor. */
export interface FakeExecutorOptions {
  /** Chains of one namespace. */
  readonly chains: readonly FakeChain[]
  /** It stands beside the chains' own executor. */
  readonly isBeside?: boolean
  /** Accounts that sign, by name; `default` signs when none is named. */
  readonly accounts?: Readonly<Record<string, string>>
  readonly executions?: Executor['executions']
  readonly terms?: Partial<Terms>
  readonly clock?: Clock
}

/** What a transaction pays that replaces none. */
const FEE = 100

const DEFAULT_EXECUTIONS: Executor['executions'] = {
  evm_read: 'read',
  evm_multiread: 'read',
  evm_rpc: 'read',
  solana_read: 'read',
  evm_call: 'write',
  evm_multicall: 'write',
  solana_instruction: 'write'
}

/**
 * An executor on chains in memory, with the same promises as the real ones: it passes
 * `executorConformance`. A documented fake: executions are not checked beyond their type.
 */
export function fakeExecutor(options: FakeExecutorOptions): Executor {
  return new FakeExecutor(options)
}

class FakeExecutor implements Executor {
  readonly namespace?: string
  readonly chains: readonly string[]
  readonly executions: Executor['executions']
  readonly #chains: ReadonlyMap<string, FakeChain>
  readonly #accounts: Readonly<Record<string, string>>
  readonly #terms: Terms
  readonly #owners = new Map<string, NonceOwner>()
  readonly #clock: Clock

  constructor({ chains, accounts, executions, terms, clock, isBeside }: FakeExecutorOptions) {
    this.#chains = new Map(chains.map((chain) => [chain.id, chain]))
    this.chains = [...this.#chains.keys()]
    const [first = ''] = this.chains
    if (isBeside !== true) this.namespace = first.slice(0, first.indexOf(':'))
    this.executions = executions ?? DEFAULT_EXECUTIONS
    this.#accounts = accounts ?? {}
    this.#terms = { confirmations: 1, pollMs: 1_000, timeoutMs: 60_000, ...terms }
    this.#clock = clock ?? systemClock
  }

  async check({ type }: Execution): Promise<string | undefined> {
    return Object.hasOwn(this.executions, type) ? undefined : `${type} is no execution type here`
  }

  async account(request: Omit<WriteRequest, 'execution'>): Promise<Account> {
    this.#chain(request.chain, 'prepare')
    const { account = 'default' } = request
    const named = Object.hasOwn(this.#accounts, account) ? this.#accounts[account] : undefined
    const canSign = named !== undefined || Object.values(this.#accounts).includes(account)
    const address = named ?? account
    if (address === 'default') throw failed('unknown_account', request.chain, 'prepare')
    return { address, canSign }
  }

  async read({ chain: id, execution }: { readonly chain: string; readonly execution: Execution }) {
    const chain = this.#chain(id, 'read')
    this.#checkKind(id, execution, 'read')
    chain.fault('read')
    return chain.read(execution)
  }

  async simulate({ chain: id, execution, account }: WriteRequest) {
    const chain = this.#chain(id, 'simulate')
    this.#checkKind(id, execution, 'write')
    chain.fault('read')
    const effect = chain.trial(execution, account ?? 'nobody')
    if (effect.ok) return { ok: true as const, outputs: effect.outputs }
    return { ok: false as const, revert: revertOf(effect) }
  }

  async ready({ chain: id, payer, contracts }: ReadyRequest): Promise<ReadyState> {
    const chain = this.#chain(id, 'check')
    chain.fault('ready')
    return {
      height: String(chain.height),
      canPayFees: payer === null ? null : chain.canPay(payer),
      withoutCode: contracts.filter((address) => !chain.hasCode(address))
    }
  }

  async prepare(
    request: WriteRequest,
    { signal, key }: Parameters<Executor['prepare']>[1]
  ): Promise<Prepared> {
    const { chain: id, execution } = request
    const chain = this.#chain(id, 'prepare')
    this.#checkKind(id, execution, 'write')
    chain.fault('prepare')
    const { address: from, canSign } = await this.account(request)
    const effect = chain.trial(execution, from)
    if (!effect.ok) {
      const revert = revertOf(effect)
      const fields = { phase: 'prepare', chain: id, message: effect.name } as const
      throw chainFailed('reverted', { ...fields, executionType: execution.type, revert })
    }
    const terms = this.#terms
    if (!canSign) {
      const payload = { from, execution }
      const { maxFee } = request
      const bound = maxFee === undefined ? {} : { maxFee }
      return { kind: 'unsigned', transaction: { chain: id, from, payload, ...bound }, terms }
    }
    const { validUntil } = chain
    if (validUntil !== null) {
      // The key stands for the recent block: without it, two equal writes would be one.
      const transaction = signed(chain, {
        from,
        nonce: null,
        validUntil,
        execution,
        salt: key
      })
      return { kind: 'signed', transaction, terms }
    }
    const counts = async () => chain.counts(from)
    const build = async (nonce: number, fee: number) =>
      signed(chain, { from, nonce, validUntil: null, execution, salt: null, fee })
    const { maxFee, replaces } = request
    if (replaces !== undefined) {
      const { transaction: replaced, raisePercent } = replaces
      const fee = Math.ceil((Number(replaced.fee) * (100 + raisePercent)) / 100)
      if (maxFee !== undefined && fee > Number(maxFee)) throw failed('fee_too_high', id, 'prepare')
      const made = await this.#owner(id, from).replace({ counts }, signal, {
        replaced,
        build: async (nonce) => ({ ...(await build(nonce, fee)), replaces: replaced.hash })
      })
      if (made === undefined) throw failed('nonce_conflict', id, 'prepare')
      return { kind: 'signed', transaction: made, terms }
    }
    const resend = async (transaction: SignedTransaction) => {
      const answer = chain.receive(opened(transaction))
      return answer === 'accepted' || answer === 'known' ? ('held' as const) : ('refused' as const)
    }
    const transaction = await this.#owner(id, from).prepare({ counts, resend }, signal, (nonce) =>
      build(nonce, FEE)
    )
    return { kind: 'signed', transaction, terms }
  }

  async broadcast(
    transaction: SignedTransaction,
    { signal }: Parameters<Executor['broadcast']>[1]
  ) {
    const { chain: id, from, hash } = transaction
    const chain = this.#chain(id, 'send')
    const owner = this.#owner(id, from)
    const claim = await owner.claim(transaction, signal)
    if (claim.kind === 'superseded') throw failed('nonce_superseded', id, 'send')
    if (claim.kind === 'taken') return { hash, answer: 'unanswered' as const }
    try {
      chain.fault('broadcast')
    } catch (error) {
      owner.sent(transaction)
      throw error
    }
    const answer = chain.receive(opened(transaction))
    if (answer === 'accepted' || answer === 'known') {
      owner.sent(transaction)
      return { hash, answer }
    }
    if (claim.kind === 'ours' && claim.fresh) {
      owner.refused(transaction)
      throw failed(answer === 'expired' ? 'expired' : 'nonce_conflict', id, 'send')
    }
    owner.sent(transaction)
    return { hash, answer: 'unanswered' as const }
  }

  async look(request: LookRequest): Promise<TransactionStatus> {
    const { chain: id, hash, from, nonce, validUntil } = request
    const chain = this.#chain(id, 'confirm')
    chain.fault('look')
    const found = chain.find(hash)
    const fields = request.expected === null ? [] : differences(request.expected, chain.sent(hash))
    if (fields.length > 0) return { status: 'mismatch', fields }
    if (found?.block === null) return { status: chain.showsPool ? 'pending' : 'unknown' }
    if (found !== undefined) return this.#included(chain, request, found)
    if (validUntil !== null && chain.height > validUntil) {
      return { status: 'displaced', cause: 'expired', by: null }
    }
    if (from === null || nonce === null || chain.counts(from).included <= nonce) {
      return { status: 'unknown' }
    }
    return { status: 'displaced', cause: 'nonce', by: chain.atNonce(from, nonce) ?? null }
  }

  recover(transactions: Parameters<Executor['recover']>[0]): void {
    for (const one of transactions) {
      this.#owner(one.transaction.chain, one.transaction.from).recover([one])
    }
  }

  #included(
    chain: FakeChain,
    { hash }: LookRequest,
    found: { readonly block: number; readonly blockHash: string; readonly effect: FakeEffect }
  ): TransactionStatus {
    const { block, blockHash, effect } = found
    const status = effect.ok ? 'success' : 'reverted'
    const done: JsonObject = effect.ok ? effect.outputs : {}
    const outputs: JsonObject = chain.hasNonces
      ? { ...done, tx_hash: hash, receipt: { status, block_number: String(block) } }
      : { ...done, signature: hash, confirmation: { status, slot: String(block) } }
    return {
      status: 'included',
      success: effect.ok,
      blockNumber: block,
      blockHash,
      confirmations: chain.height - block + 1,
      outputs,
      revert: effect.ok ? null : revertOf(effect)
    }
  }

  #chain(id: string, phase: ChainPhase): FakeChain {
    const chain = this.#chains.get(id)
    if (chain === undefined) throw failed('unknown_chain', id, phase)
    return chain
  }

  #checkKind(chain: string, { type }: Execution, kind: 'read' | 'write'): void {
    if (Object.hasOwn(this.executions, type) && this.executions[type] === kind) return
    throw failed('invalid_execution', chain, 'check')
  }

  #owner(chain: string, from: string): NonceOwner {
    const name = `${chain} ${from}`
    const owner = this.#owners.get(name) ?? new NonceOwner(this.#clock)
    this.#owners.set(name, owner)
    return owner
  }
}

function failed(code: ChainFailureCode, chain: string, phase: ChainPhase) {
  return chainFailed(code, { chain, phase, message: code })
}

/** In what a transaction is not what a wallet was asked to send. */
function differences(expected: JsonObject, sent: FakeTransaction | undefined): readonly string[] {
  if (sent === undefined) return []
  const own: JsonObject = { from: sent.from, execution: sent.execution }
  const textOf = (value: Json | undefined) => canonicalize(value ?? null)
  return Object.keys(own).filter((field) => textOf(own[field]) !== textOf(expected[field]))
}

function revertOf({ name, args }: Extract<FakeEffect, { readonly ok: false }>) {
  return { name, args: args ?? null, reason: null, data: null }
}

function signed(
  { id }: FakeChain,
  fields: {
    readonly from: string
    readonly nonce: number | null
    readonly validUntil: number | null
    readonly execution: Execution
    readonly salt: string | null
    readonly fee?: number
  }
): SignedTransaction {
  const { from, nonce, validUntil, fee } = fields
  const raw = canonicalize({ chain: id, ...fields } as unknown as Json)
  const cost = fee === undefined ? {} : { fee: String(fee) }
  return { chain: id, from, nonce, validUntil, hash: `0x${sha256Hex(raw)}`, raw, ...cost }
}

function opened({ raw, hash }: SignedTransaction): FakeTransaction {
  return { hash, ...(JSON.parse(raw) as Omit<FakeTransaction, 'hash'>) }
}

import type { EffectFailure } from '../../code/index.js'
import { canonicalize, executorError, type JsonObject, present } from '../../core/index.js'
import { type ChainPhase, chainFailed } from '../failure.js'
import type {
  CallOptions,
  ChainCall,
  Execution,
  Executor,
  LookRequest,
  ReadRequest,
  ReadyRequest,
  ReadyState,
  TransactionStatus,
  UnfinishedTransaction,
  WriteRequest,
  WrittenCall
} from '../port.js'
import { Routes } from '../routes.js'
import {
  type Bridge,
  type BridgeRead,
  type BridgeTransfer,
  type BridgeTypes,
  type BridgeWrite,
  usualBridgeTypes
} from './bridge.js'

/** A bridge, and the executors of the chains between which it leads. */
export interface BridgeOptions {
  readonly bridge: Bridge
  /**
   * The executors of its chains: the same objects as the runtime has, since each account has one
   * giver of nonces.
   */
  readonly executors: readonly Executor[]
}

/**
 * Executor of a bridge, which stands beside those of its chains: it sends and reads through them.
 * Gives `message_id` with what the source chain gives for a write; `message_id`, `sent` and
 * `arrived` for a status. Throws `executor.invalid_configuration` for a chain without executor.
 *
 * @example
 * const evm = evmExecutor({ chains, environment })
 * const solana = solanaExecutor({ chains: others, environment })
 * const over = bridgeExecutor({ bridge, executors: [evm, solana] })
 * const providers = chainProviders([evm, solana, over])
 */
export function bridgeExecutor(options: BridgeOptions): Executor {
  return new BridgeExecutor(options)
}

class BridgeExecutor implements Executor {
  readonly chains: readonly string[]
  readonly executions: Executor['executions']
  /** Absent: one of its chains cannot be asked. */
  readonly ready?: NonNullable<Executor['ready']>
  readonly #bridge: Bridge
  readonly #types: BridgeTypes
  readonly #routes: Routes

  constructor({ bridge, executors }: BridgeOptions) {
    this.#bridge = bridge
    this.#types = bridge.types ?? usualBridgeTypes
    this.#routes = new Routes(executors)
    this.chains = [...new Set([...bridge.from, ...bridge.to])]
    for (const chain of this.chains) {
      if (this.#routes.serves(chain)) continue
      const problem = 'the bridge needs its executor, and none is given'
      throw executorError('executor.invalid_configuration', { chain, problem })
    }
    const own = this.chains.map((chain) => this.#routes.of(chain))
    if (own.every(({ ready }) => ready !== undefined)) {
      this.ready = (request, options) => this.#ready(request, options)
    }
    const { send, status, quote } = this.#types
    this.executions = {
      [send]: 'write',
      [status]: 'read',
      ...(bridge.quote === undefined ? {} : { [quote]: 'read' })
    }
  }

  get redactor() {
    return this.#routes.redactor
  }

  async check(execution: Execution): Promise<string | undefined> {
    const { type } = execution
    if (!Object.hasOwn(this.executions, type)) return `${type} is no execution type of the bridge`
    if (type === this.#types.status) return messageIdIn(execution).problem
    const [chain = ''] = this.#bridge.from
    const write = this.#bridge.send({ chain, execution })
    if (!write.ok) return write.problem
    return this.#routes.of(chain, write.execution.type).check(write.execution)
  }

  async callOf(request: WrittenCall): Promise<ChainCall> {
    this.#checkRequest(request, 'check')
    const { execution, moves } = this.#writeOf(request, 'check')
    return { execution, ...(moves === undefined ? {} : { moves }) }
  }

  async account(...[request, options]: Parameters<Executor['account']>) {
    return this.#routes.of(request.chain).account(request, options)
  }

  async read(request: ReadRequest, options: CallOptions): Promise<JsonObject> {
    const { chain, execution } = request
    const read: BridgeRead = async (asked) =>
      this.#routes.of(asked.chain, asked.execution.type).read(asked, options)
    this.#checkRequest(request, 'read')
    if (execution.type === this.#types.status) {
      const found = messageIdIn(execution)
      if (found.problem !== undefined) throw invalid(request, found.problem, 'read')
      const { messageId } = found
      const question = { chain, execution, messageId }
      const { details, sent, arrived } = await this.#bridge.status(question, read)
      return { ...details, message_id: messageId, sent, arrived }
    }
    if (execution.type === this.#types.quote && this.#bridge.quote !== undefined) {
      this.#writeOf({ chain, execution }, 'read')
      return this.#bridge.quote({ chain, execution }, read)
    }
    throw invalid({ chain, execution }, `${execution.type} is not a read`, 'read')
  }

  async simulate(request: WriteRequest, options: CallOptions) {
    const write = this.#inner(request, 'simulate')
    return this.#routes.of(write.chain, write.execution.type).simulate(write, options)
  }

  async prepare(request: WriteRequest, options: CallOptions) {
    const write = this.#inner(request, 'prepare')
    return this.#routes.of(write.chain, write.execution.type).prepare(write, options)
  }

  async broadcast(...[transaction, options]: Parameters<Executor['broadcast']>) {
    return this.#routes.of(transaction.chain).broadcast(transaction, options)
  }

  async look(request: LookRequest, options: CallOptions): Promise<TransactionStatus> {
    const { chain, execution } = request
    // Another type only asks where a transaction is.
    if (execution.type !== this.#types.send) return this.#routes.of(chain).look(request, options)
    const write = this.#inner({ chain, execution }, 'confirm')
    const executor = this.#routes.of(chain, write.execution.type)
    const found = await executor.look({ ...request, execution: write.execution }, options)
    if (found.status !== 'included' || !found.success) return found
    const messageId = this.#bridge.messageId({ chain, execution }, found.outputs)
    if (messageId === undefined) {
      throw invalid({ chain, execution }, 'it was included, and has sent no message', 'confirm')
    }
    return { ...found, outputs: { ...found.outputs, message_id: messageId } }
  }

  recover(transactions: readonly UnfinishedTransaction[]): void {
    for (const one of transactions) this.#routes.of(one.transaction.chain).recover([one])
  }

  /** Asks all of its chains: what is sent from one arrives at another. */
  async #ready(request: ReadyRequest, options: CallOptions): Promise<ReadyState> {
    const { chain } = request
    const { contracts: own = {} } = this.#bridge
    if (!this.chains.includes(chain)) {
      const message = `the bridge does not serve the chain ${chain}`
      throw chainFailed('unknown_chain', { phase: 'check', chain, message })
    }
    const ask = async (one: string) => {
      const isOwn = one === chain
      const contracts = [...(own[one] ?? []), ...(isOwn ? request.contracts : [])]
      const payer = isOwn ? request.payer : null
      const asked = { chain: one, payer, contracts: [...new Set(contracts)] }
      const executor = this.#routes.of(one)
      return present(await executor.ready?.(asked, options), `the state of ${one}`)
    }
    const state = await ask(chain)
    const withoutCode = [...state.withoutCode]
    for (const other of this.chains) {
      if (other === chain) continue
      const found = await ask(other)
      withoutCode.push(...found.withoutCode.map((one) => `${one} on ${other}`))
    }
    return { ...state, withoutCode }
  }

  #inner(request: WriteRequest, phase: ChainPhase): WriteRequest {
    this.#checkRequest(request, phase)
    const { call, ...given } = request
    const { execution } = this.#writeOf(request, phase)
    if (call !== undefined && canonicalize(call) !== canonicalize(execution)) {
      throw invalid(request, 'the bridge would send another call than the one judged', phase)
    }
    return { ...given, execution }
  }

  #writeOf({ chain, execution }: BridgeTransfer, phase: ChainPhase): Written {
    if (!this.#bridge.from.includes(chain)) {
      throw invalid({ chain, execution }, 'the bridge sends nothing from this chain', phase)
    }
    const isStatus = execution.type === this.#types.status
    const write = isStatus ? undefined : this.#bridge.send({ chain, execution })
    if (write?.ok === true) return write
    throw invalid({ chain, execution }, write?.problem ?? `${execution.type} is not a write`, phase)
  }

  #checkRequest({ chain, execution }: BridgeTransfer, phase: ChainPhase): void {
    if (!this.chains.includes(chain)) {
      const message = `the bridge does not serve the chain ${chain}`
      throw chainFailed('unknown_chain', { phase, chain, message })
    }
    if (!Object.hasOwn(this.executions, execution.type)) {
      const problem = `${execution.type} is no execution type of the bridge`
      throw invalid({ chain, execution }, problem, phase)
    }
  }
}

type Written = BridgeWrite & { readonly ok: true }

type FoundId =
  | { readonly messageId: string; readonly problem?: undefined }
  | { readonly messageId?: undefined; readonly problem: string }

function messageIdIn({ message_id: messageId }: Execution): FoundId {
  return typeof messageId === 'string' && messageId !== ''
    ? { messageId }
    : { problem: 'message_id: is not the id of a message' }
}

function invalid(
  { chain, execution }: BridgeTransfer,
  message: string,
  phase: ChainPhase
): EffectFailure {
  const about = { chain, phase, executionType: execution.type, message }
  return chainFailed('invalid_execution', { ...about, sent: phase === 'confirm' })
}

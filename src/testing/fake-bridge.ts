import { canonicalize, type Json, type JsonObject, sha256Hex } from '../core/index.js'
import type {
  Bridge,
  BridgeStatus,
  BridgeTransfer,
  Execution,
  Executor
} from '../executor/index.js'
import type { BridgeHolder } from './conformance/bridge.js'
import { FakeChain, type FakeChainOptions, type FakeEffect } from './fake-chain.js'
import { fakeExecutor } from './fake-executor.js'

/** Between which chains a fake bridge leads, and what it does wrong. */
export interface FakeBridgeOptions {
  /** CAIP-2. Default `eip155:7` and `solana:fake`. */
  readonly from?: string
  readonly to?: string
  /** What else both chains answer, and do for writes that are no transfers. */
  readonly read?: NonNullable<FakeChainOptions['read']>
  readonly write?: NonNullable<FakeChainOptions['write']>
}

const RELAYER = 'relayer'
/** Address that takes what is sent. */
const VAULT = `0x${'b'.repeat(40)}`
const STATUS = 'message_status'
const ARRIVE = 'arrive'

/**
 * A bridge between two chains in memory: what is sent on the one arrives on the other when
 * {@link FakeBridge.relay} is called. A documented fake.
 *
 * Owns: both chains. Does not own: executors; `executors()` gives those of a new process.
 */
export class FakeBridge {
  readonly from: FakeChain
  readonly to: FakeChain
  readonly bridge: Bridge

  constructor(options: FakeBridgeOptions = {}) {
    const { from = 'eip155:7', to = 'solana:fake' } = options
    const read: FakeChainOptions['read'] = (execution, state) =>
      execution.type === STATUS
        ? statusIn(execution, state)
        : (options.read?.(execution, state) ?? {})
    const write: FakeChainOptions['write'] = (execution, state, sender) => {
      if (execution['transfer'] !== undefined) return sendIn(execution, state, sender)
      if (execution.type === ARRIVE) return arriveIn(execution, state)
      return options.write?.(execution, state, sender) ?? { ok: true, outputs: {} }
    }
    this.from = new FakeChain({ id: from, read, write })
    this.to = new FakeChain({ id: to, read, write })
    this.bridge = {
      from: [from],
      to: [to],
      send: (transfer) => sendOf(transfer, to),
      messageId: (_, { message_id: id }) => (typeof id === 'string' ? id : undefined),
      status: async ({ chain, messageId }, read) => {
        const execution = { type: STATUS, message: messageId }
        return (await read({ chain, execution })) as unknown as BridgeStatus
      },
      quote: async () => ({ fee: '0', seconds: 0 })
    }
  }

  /** Executors of both chains, and their account. */
  executors(account = '0xme'): readonly Executor[] {
    const accounts = { default: account }
    const executions = {
      [STATUS]: 'read',
      evm_read: 'read',
      solana_read: 'read',
      evm_call: 'write',
      solana_instruction: 'write'
    } as const
    return [this.from, this.to].map((chain) =>
      fakeExecutor({ chains: [chain], accounts, executions })
    )
  }

  /** Ids of the messages that were sent, in order. */
  sent(): readonly string[] {
    return idsOf(this.from, 'sent ')
  }

  /** Ids of the messages that have arrived, in order. */
  arrived(): readonly string[] {
    return idsOf(this.to, 'arrived ')
  }

  /**
   * What an address holds more than it began with: of a token on the one chain, or of what has
   * arrived for it on the other. Of transfers with `token`, `to` and `amount`.
   */
  balance({ chain, address, token }: BridgeHolder): bigint {
    const isSource = chain === this.from.id
    const ids = isSource ? this.sent() : this.arrived()
    let held = 0n
    for (const id of ids) {
      const sent = this.from.state.get(`sent ${id}`) ?? null
      const { transfer, from } = sent as { readonly transfer: JsonObject; readonly from: string }
      const amount = BigInt(String(transfer['amount']))
      const isOfToken = !isSource || transfer['token'] === token
      if (!isOfToken) continue
      if (address === (isSource ? VAULT : transfer['to'])) held += amount
      if (isSource && address === from) held -= amount
    }
    return held
  }

  /** Carries over what was sent and has not arrived; what was carried over again has no effect. */
  relay(messages: readonly string[] = this.sent()): void {
    for (const message of messages) {
      const nonce = this.to.hasNonces ? this.to.counts(RELAYER).pending : null
      const execution = { type: ARRIVE, message }
      const hash = `0x${sha256Hex(canonicalize([message, this.to.height]))}`
      this.to.receive({ hash, from: RELAYER, nonce, validUntil: null, execution })
    }
  }
}

function sendOf({ execution }: BridgeTransfer, arrivesAt: string): ReturnType<Bridge['send']> {
  const { type: _, ...transfer } = execution
  if (typeof transfer['amount'] !== 'string') {
    return { ok: false, problem: 'amount: is not a decimal string' }
  }
  const { token, to, amount } = transfer
  const write = { ok: true, execution: { type: 'evm_call', transfer } } as const
  if (typeof token !== 'string' || typeof to !== 'string') return write
  const spends = [{ token, amount, to: VAULT }]
  return { ...write, moves: { spends, receivers: [{ chain: arrivesAt, address: to }] } }
}

function sendIn({ transfer }: Execution, state: Map<string, Json>, from: string): FakeEffect {
  if ((transfer as JsonObject)['amount'] === '0') return { ok: false, name: 'ZeroAmount' }
  const id = `0x${sha256Hex(canonicalize({ transfer: transfer ?? null, from, at: state.size }))}`
  state.set(`sent ${id}`, { transfer: transfer ?? null, from })
  return { ok: true, outputs: { message_id: id } }
}

function arriveIn({ message }: Execution, state: Map<string, Json>): FakeEffect {
  const key = `arrived ${String(message)}`
  if (state.has(key)) return { ok: false, name: 'AlreadyArrived' }
  state.set(key, true)
  return { ok: true, outputs: {} }
}

function statusIn({ message }: Execution, state: ReadonlyMap<string, Json>): JsonObject {
  const has = (name: string) => state.has(`${name} ${String(message)}`)
  return { sent: has('sent'), arrived: has('arrived') }
}

function idsOf({ state }: FakeChain, prefix: string): readonly string[] {
  const keys = [...state.keys()].filter((key) => key.startsWith(prefix))
  return keys.map((key) => key.slice(prefix.length))
}

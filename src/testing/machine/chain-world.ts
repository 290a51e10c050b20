import type { OutsideCall } from '../../block/index.js'
import { type EffectCall, EffectFailure, type Located } from '../../code/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  sha256Hex
} from '../../core/index.js'
import {
  type ChainFailureCode,
  type ChainPhase,
  chainEffects,
  chainFailed,
  type Revert,
  type TransactionStatus
} from '../../executor/index.js'
import { EXECUTION_EFFECT, TIME_EFFECT } from '../../workflow/index.js'
import type { ScriptLine } from './case.js'

/** Name under which a case and the options script what chains answer to one function. */
export function chainEffectName(kind: 'read' | 'write', execution: object): string {
  const { abi, instruction, method, type } = execution as JsonObject
  const named = isJsonObject(abi) ? abi['name'] : (instruction ?? method ?? type)
  return `chain.${kind} ${String(named)}`
}

const known: ReadonlySet<string> = new Set(Object.values(chainEffects))

/** Effects of actions of workflows in which no chain takes part. */
export const insideEffects: ReadonlySet<string> = new Set([EXECUTION_EFFECT, TIME_EFFECT])

/** What a chain of a case asks its world. */
export interface ChainPort {
  now(): number
  /** What the case says; `slow` answers have taken their time. */
  line(name: string, asking: string): ScriptLine
  answer(name: string, line: ScriptLine, request: Json): Promise<Json>
  until(name: string, ms: number): Promise<void>
  /** A transaction has taken effect. */
  done(
    name: string,
    given: { readonly call: EffectCall; readonly asked: OutsideCall; readonly request: Json }
  ): void
}

interface SentTransaction {
  readonly includedAt: number
  readonly outputs: JsonObject
  readonly revert: Revert | null
}

/**
 * Chains around one machine, behind the effects by which leaves reach them. What is sent takes
 * effect once for its bytes, as on every chain; what a function answers and where it fails is the
 * case's to say.
 *
 * Owns: what was sent, over all lives. Does not own: nonces, fees, blocks and signatures: there are
 * none.
 */
export class ChainWorld {
  readonly #sent = new Map<string, SentTransaction>()
  readonly #read = new Map<string, Json>()
  readonly #port: ChainPort

  constructor(port: ChainPort) {
    this.#port = port
  }

  async perform(call: EffectCall, asked: OutsideCall): Promise<Json> {
    const request = call.request as unknown as ChainRequest
    switch (asked.call.effect) {
      case chainEffects.account:
        return { address: addressOf(request), canSign: true }
      case chainEffects.read:
        return this.#answered(call, asked, request)
      case chainEffects.call:
        return null
      case chainEffects.simulate:
        return this.#simulated(call, asked, request)
      case chainEffects.prepare:
        return prepared(call.key, request)
      case chainEffects.broadcast:
        return this.#broadcast(call, asked, request)
      default:
        return this.#standing(request) as unknown as Json
    }
  }

  /** Whether an effect is one of chains. */
  has(effect: string): boolean {
    return known.has(effect)
  }

  /** Whether it can be asked what became of an effect: of bytes that were sent alone. */
  canLocate(effect: string): boolean {
    return effect === chainEffects.broadcast
  }

  /** Whether the chain has a transaction. */
  locate({ request }: EffectCall): Located<Json> {
    const { hash } = (request as unknown as ChainRequest).transaction
    if (!this.#sent.has(hash)) return { found: false, definite: false }
    return { found: true, result: { hash, answer: 'known' } }
  }

  async #answered(call: EffectCall, asked: OutsideCall, request: ChainRequest): Promise<Json> {
    const { chain, execution } = request
    const asking = askingOf(call, asked)
    // A read that a dead process has asked for is answered as before.
    const before = this.#read.get(asking)
    if (before !== undefined) return before
    const name = chainEffectName('read', execution)
    const line = this.#port.line(name, asking)
    const { trouble } = line
    if (typeof trouble === 'number') await this.#port.until(asking, trouble)
    const code = failures[String(trouble)]
    if (code !== undefined) throw failed(code, 'read', request)
    const answer = await this.#port.answer(name, line, { chain, execution })
    this.#read.set(asking, answer)
    return answer
  }

  async #simulated(call: EffectCall, asked: OutsideCall, request: ChainRequest): Promise<Json> {
    const name = chainEffectName('write', request.execution)
    const line = this.#port.line(name, `simulate ${askingOf(call, asked)}`)
    const { outputs, revert } = await this.#outcome(name, line, request)
    return (revert === null ? { ok: true, outputs } : { ok: false, revert }) as unknown as Json
  }

  async #broadcast(call: EffectCall, asked: OutsideCall, request: ChainRequest): Promise<Json> {
    const { hash, raw } = request.transaction
    if (this.#sent.has(hash)) return { hash, answer: 'known' }
    const { chain, execution } = JSON.parse(raw) as ChainRequest
    const name = chainEffectName('write', execution)
    const line = this.#port.line(name, askingOf(call, asked))
    const { trouble } = line
    if (trouble === 'refuses') throw failed('rejected', 'send', { chain, execution })
    if (trouble === 'loses') return { hash, answer: 'unanswered' }
    const outcome = await this.#outcome(name, line, { chain, execution })
    const laterMs = typeof trouble === 'number' ? trouble : 0
    this.#sent.set(hash, { ...outcome, includedAt: this.#port.now() + laterMs })
    if (outcome.revert === null) {
      this.#port.done(name, { call, asked, request: { chain, execution } })
    }
    return { hash, answer: trouble === 'loses_done' ? 'unanswered' : 'accepted' }
  }

  async #outcome(
    name: string,
    line: ScriptLine,
    { chain, execution }: Pick<ChainRequest, 'chain' | 'execution'>
  ): Promise<Pick<SentTransaction, 'outputs' | 'revert'>> {
    if (line.trouble === 'reverts') return { outputs: {}, revert: refusal('Refused') }
    try {
      const outputs = await this.#port.answer(name, line, { chain, execution })
      return { outputs: isJsonObject(outputs) ? outputs : {}, revert: null }
    } catch (error) {
      if (!(error instanceof EffectFailure)) throw error
      return { outputs: {}, revert: refusal(error.reason) }
    }
  }

  #standing({ hash, chain }: ChainRequest): TransactionStatus {
    const found = this.#sent.get(hash)
    if (found === undefined) return { status: 'unknown' }
    const { includedAt, outputs, revert } = found
    if (includedAt > this.#port.now()) return { status: 'pending' }
    const status = revert === null ? 'success' : 'reverted'
    const proof = chain.startsWith('solana:')
      ? { signature: hash, confirmation: { status, slot: '1' } }
      : { tx_hash: hash, receipt: { status, block_number: '1' } }
    return {
      status: 'included',
      success: revert === null,
      blockNumber: 1,
      blockHash: `0x${'b'.repeat(64)}`,
      confirmations: CONFIRMATIONS,
      outputs: { ...outputs, ...proof },
      revert
    }
  }
}

/** More than any chain is configured to wait for. */
const CONFIRMATIONS = 1_000

/** The members that requests of the effects have between them. */
interface ChainRequest {
  readonly chain: string
  readonly account?: string
  readonly execution: JsonObject
  readonly hash: string
  readonly transaction: { readonly hash: string; readonly raw: string }
}

const failures: Readonly<Record<string, ChainFailureCode>> = {
  refuses: 'rpc_error',
  loses: 'rpc_down',
  loses_done: 'rpc_timeout'
}

function failed(
  code: ChainFailureCode,
  phase: ChainPhase,
  { chain, execution }: Pick<ChainRequest, 'chain' | 'execution'>
): EffectFailure {
  const executionType = String(execution['type'])
  return chainFailed(code, { phase, chain, executionType, message: 'as the case says' })
}

function refusal(name: string): Revert {
  return { name, args: null, reason: 'as the case says', data: null }
}

/** One account for all names: an address stands for itself. */
function addressOf({ account = '' }: ChainRequest): string {
  return account.startsWith('0x') ? account : `0x${'1'.repeat(40)}`
}

/** The key makes the bytes: equal writes of two steps are two transactions. */
function prepared(key: string, { chain, execution, ...request }: ChainRequest): Json {
  const raw = canonicalize({ key, chain, execution })
  const from = addressOf({ chain, execution, ...request })
  const hash = `0x${sha256Hex(raw)}`
  return {
    kind: 'signed',
    terms: { confirmations: 1, pollMs: 1_000, timeoutMs: 60_000 },
    transaction: { chain, from, hash, nonce: null, validUntil: null, raw }
  }
}

function askingOf({ key }: EffectCall, { attempt, isOrdered }: OutsideCall): string {
  return `${key} ${attempt} ${isOrdered}`
}

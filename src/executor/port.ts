import type { EffectCall } from '../code/index.js'
import type { Json, JsonObject, Redactor } from '../core/index.js'

/**
 * What carries out the steps of a workflow on one kind of chain. Plain JSON goes in and comes out:
 * whole numbers of a chain are decimal strings, bytes are 0x-hex (EVM) or base58/base64 (Solana).
 *
 * A read happens in one call. A write is taken apart, so that a leaf block can have each stage
 * sealed by `ctx.effect` (L7): {@link Executor.prepare} builds and signs, the
 * sealed bytes and their id are durable, {@link Executor.broadcast} sends exactly those bytes, and
 * {@link Executor.look} asks what became of them. Failures are `EffectFailure`s whose details are a
 * `ChainFailure`.
 */
export interface Executor {
  /**
   * First part of the CAIP-2 ids it serves, `eip155`: it is these chains' own executor, which knows
   * their accounts. Absent: it stands beside them, with execution types of its own.
   */
  readonly namespace?: string
  /** Chains it is configured for, as CAIP-2 ids. */
  readonly chains: readonly string[]
  /** Execution types it knows; on each of its chains it is the only one that does. */
  readonly executions: Readonly<Record<string, 'read' | 'write'>>
  /** Knows the keys and addresses that it has read. */
  readonly redactor?: Redactor
  /** What is wrong with an execution, found without a network; undefined when nothing is. */
  check(execution: Execution): Promise<string | undefined>
  /** The account that would sign: by its configured name, or an address that can only watch. */
  account(request: AccountRequest, options: CallOptions): Promise<Account>
  read(request: ReadRequest, options: CallOptions): Promise<JsonObject>
  /** Does the write on a copy of the chain's state, without signing anything. */
  simulate(request: WriteRequest, options: CallOptions): Promise<Simulation>
  prepare(request: WriteRequest, options: CallOptions): Promise<Prepared>
  /** Sends the bytes, or the same bytes again: at most one effect, because they have one nonce. */
  broadcast(transaction: SignedTransaction, options: CallOptions): Promise<Broadcast>
  /** What the chain says about a transaction now, whichever process has sent it. */
  look(request: LookRequest, options: CallOptions): Promise<TransactionStatus>
  /**
   * What a chain has for the writes to come, asked once before the first (W15). Fails
   * as a read does where no endpoint serves the chain. Absent: it cannot be asked beforehand.
   */
  ready?(request: ReadyRequest, options: CallOptions): Promise<ReadyState>
  /**
   * The write of the chain's own executor as which a write of another type is carried out, so that
   * it can be judged before. Pure; fails as {@link Executor.prepare} does. Absent: it is not known.
   */
  callOf?(request: WrittenCall): Promise<ChainCall>
  /** Whether a write of no configured account is built for a wallet outside, which signs it. */
  readonly signsOutside?: boolean
  /** Transactions of earlier processes that may not have been carried out (W11). */
  recover(transactions: readonly UnfinishedTransaction[]): void
}

export type CallOptions = Pick<EffectCall, 'key' | 'signal'>

/** What is to be done, with all references resolved: `{type: 'evm_call', to, abi, args, value}`. */
export interface Execution extends JsonObject {
  readonly type: string
}

/** Which state a read looks at; a number is a block, as a decimal string. */
export type BlockTag = 'latest' | 'safe' | 'finalized' | (string & {})

/** A read of a chain, at a block. */
export interface ReadRequest {
  /** CAIP-2. */
  readonly chain: string
  readonly execution: Execution
  /** Default `latest`. */
  readonly block?: BlockTag
  /** Tells one attempt from the next, so that each asks anew; executors do not read it. */
  readonly attempt?: number
}

/** Asks which account a chain would use. */
export interface AccountRequest {
  readonly chain: string
  /** Name of a configured signer, or an address. Default: the signer of the chain. */
  readonly account?: string
}

/** An account of a chain, and whether this process can sign for it. */
export interface Account {
  readonly address: string
  /** False: a wallet outside has to sign (unsigned mode). */
  readonly canSign: boolean
}

/** A write, as a document has it. */
export interface WrittenCall {
  /** CAIP-2. */
  readonly chain: string
  readonly execution: Execution
}

/** The write that is sent for one of another type. */
export interface ChainCall {
  /** Of the chain's own executor. */
  readonly execution: Execution
  /** What it does, where that is not plain from its bytes. */
  readonly moves?: CallMoves
}

/** What a call does with what its account owns, beside the native value that it sends. */
export interface CallMoves {
  readonly spends: readonly {
    /** Address of the token on the chain of the call. */
    readonly token: string
    /** Atomic units, as a decimal string. */
    readonly amount: string
    /** Address that takes it there. */
    readonly to: string
  }[]
  /** Who is given something for it, on whichever chain. */
  readonly receivers: readonly { readonly chain: string; readonly address: string }[]
}

/** A write to a chain: what is executed, by which account, and how far it may go. */
export interface WriteRequest extends AccountRequest {
  readonly execution: Execution
  /** What {@link Executor.callOf} gave, and was judged by: nothing else is sent. */
  readonly call?: Execution
  /** As of {@link ReadRequest}; of simulations alone. */
  readonly attempt?: number
  /** The most that it may cost, in atomic units of the native asset. */
  readonly maxFee?: string
  /** What it takes the place of; only where an executor has said what that can cost. */
  readonly replaces?: ReplacedTransaction
}

/**
 * A transaction that was sent and is not included. The one in its place has its account and nonce,
 * so that at most one of them takes effect; executors that cannot do that refuse.
 */
export interface ReplacedTransaction {
  readonly transaction: SignedTransaction
  /** What is paid more for each unit, at least. */
  readonly raisePercent: number
}

export type Prepared =
  | {
      readonly kind: 'signed'
      readonly transaction: SignedTransaction
      readonly terms: Terms
      /** Of the same account: what had been included and is not any more; absent: none is known. */
      readonly reorged?: readonly ReorgedTransaction[]
    }
  | { readonly kind: 'unsigned'; readonly transaction: UnsignedTransaction; readonly terms: Terms }

/** A transaction that the chain had in a block, and has not any more. */
export interface ReorgedTransaction extends BlockPlace {
  readonly hash: string
  readonly nonce: number
  /** `pending`: it waits for a block again; `refused`: its bytes are not taken any more. */
  readonly found: 'pending' | 'sent_again' | 'refused'
}

/** A block that holds, or held, a transaction. */
export interface BlockPlace {
  readonly blockNumber: number
  readonly blockHash: string
}

/** How the chain is configured to be waited for; sealed with what was prepared. */
export interface Terms {
  /** Blocks that have to stand on each other, the one with the transaction included. */
  readonly confirmations: number
  /** Between two looks. */
  readonly pollMs: number
  /** How long to wait for a transaction to be included. */
  readonly timeoutMs: number
}

/** Ready to be sent. The id is known before anything leaves the process. */
export interface SignedTransaction {
  readonly chain: string
  readonly from: string
  /** Transaction hash, or first signature. */
  readonly hash: string
  /** Null on chains without account nonces. */
  readonly nonce: number | null
  /** Block height after which it cannot be included any more; null: never. */
  readonly validUntil: number | null
  /** The signed bytes. */
  readonly raw: string
  /** Where another than the chain's own executor prepared it: the type by which it is found. */
  readonly executionType?: string
  /** What else its executor needs to tell whether it can still be included. */
  readonly lifetime?: JsonObject
  /** The most that it can cost, in atomic units of the native asset. */
  readonly fee?: string
  /** Hash of the transaction that it takes the place of. */
  readonly replaces?: string
}

/** For a wallet outside: it signs, sends, and gives the hash back. */
export interface UnsignedTransaction {
  readonly chain: string
  /** Null when any account may send it. */
  readonly from: string | null
  /** As wallets take it (EVM: `to`, `data`, `value`, `gas`, hex quantities). */
  readonly payload: JsonObject
  /** The most that it may cost, in atomic units of the native asset: the wallet sets the fees. */
  readonly maxFee?: string
}

export interface Broadcast {
  readonly hash: string
  /** `known`: the chain had it already. `unanswered`: no endpoint answered; ask by its hash. */
  readonly answer: 'accepted' | 'known' | 'unanswered'
}

export interface LookRequest {
  readonly chain: string
  readonly hash: string
  readonly from: string | null
  readonly nonce: number | null
  readonly validUntil: number | null
  readonly lifetime?: JsonObject
  /** What it does: events and errors are decoded by it. */
  readonly execution: Execution
  /** What a wallet outside was asked to send; null for a transaction that was prepared here. */
  readonly expected: JsonObject | null
  /** Hashes of all that were sent with its nonce, where there are others. */
  readonly among?: readonly string[]
  /** Type by which its executor is found, where `execution` does not name it. */
  readonly executionType?: string
  /** As of {@link ReadRequest}. */
  readonly attempt?: number
}

/** What the chain says about one transaction. */
export type TransactionStatus =
  /** The node has not heard of it, and it may still be included. */
  | { readonly status: 'unknown' }
  | { readonly status: 'pending' }
  | IncludedTransaction
  /** It can never be included: its nonce went to another transaction, or it has expired. */
  | {
      readonly status: 'displaced'
      readonly cause: 'nonce' | 'expired'
      /** The transaction in its place, when that was found. */
      readonly by: string | null
    }
  /** It is not what `expected` asks for. */
  | { readonly status: 'mismatch'; readonly fields: readonly string[] }

export interface IncludedTransaction extends BlockPlace {
  readonly status: 'included'
  readonly success: boolean
  /** Blocks from its own to the newest one: 1 when it is in the newest. */
  readonly confirmations: number
  /** What the node outputs: `tx_hash`, `receipt` with decoded events (EVM). */
  readonly outputs: JsonObject
  /** Why it did not succeed. */
  readonly revert: Revert | null
}

/** A contract's refusal, decoded as far as its ABI is known. */
export interface Revert {
  /** `ERC20InsufficientBalance`; `Error` for a `require` text, `Panic`; null: not decoded. */
  readonly name: string | null
  readonly args: JsonObject | null
  /** For people. */
  readonly reason: string | null
  /** Raw data, cut. */
  readonly data: string | null
  /** Of a chain whose programs fail by number (Solana). */
  readonly programError?: ProgramError
  /** What its programs have logged, cut. */
  readonly logs?: readonly string[]
}

/** How a program has failed. */
export interface ProgramError {
  /** The program that gave up first; null: none has, the transaction itself is refused. */
  readonly program: string | null
  /** Place of the instruction in the execution, from 0; null: it is none of its own. */
  readonly instruction: number | null
  /** `InsufficientFunds`; `Custom` when the number is not known. */
  readonly name: string
  /** The number of a custom error, as a decimal string. */
  readonly code: string | null
}

/** What a write would come to if it were sent now. */
export type Simulation =
  | { readonly ok: true; readonly outputs: Json }
  | { readonly ok: false; readonly revert: Revert }

/** Asks whether a chain can take a write. */
export interface ReadyRequest {
  readonly chain: string
  /** The account that will pay; null: none of this process does. */
  readonly payer: string | null
  /** Addresses that have to hold code. */
  readonly contracts: readonly string[]
}

/** What a chain said when it was asked whether it can take a write. */
export interface ReadyState {
  /** Number of the newest block, as text. */
  readonly height: string
  /** Whether the payer has anything for fees, where the chain asks any; null: not known. */
  readonly canPayFees: boolean | null
  /** Of the contracts those without code. */
  readonly withoutCode: readonly string[]
}

/** A transaction found in the journal of a run that has not ended. */
export interface UnfinishedTransaction {
  readonly transaction: SignedTransaction
  /** Sending it was durably asked for, so it may have happened. */
  readonly wasSent: boolean
}

import type { JsonObject } from '../../core/index.js'
import type { CallMoves, Execution, ReadRequest } from '../port.js'

/**
 * What a driver of one bridge implements. It says in terms of the chains' own executors what is
 * sent and asked, and carries out nothing itself: accounts, nonces, fees and confirmations stay
 * those of the chains. A message that was sent has an id, by which both chains know it.
 */
export interface Bridge {
  /**
   * Its execution types, default {@link usualBridgeTypes}; a second bridge on the same chain needs
   * names of its own.
   */
  readonly types?: BridgeTypes
  /** Chains from which it sends, as CAIP-2 ids. */
  readonly from: readonly string[]
  /** Chains at which messages arrive. */
  readonly to: readonly string[]
  /** The write on the chain that sends. Pure: the same transfer is always the same write. */
  send(transfer: BridgeTransfer): BridgeWrite
  /**
   * Id of the message that a write has sent, by what the chain's executor gives for it (`receipt`
   * with decoded events, `signature`); undefined: it has sent none.
   */
  messageId(transfer: BridgeTransfer, outputs: JsonObject): string | undefined
  /** What a chain says of a message now, as far as this chain can know. */
  status(question: BridgeQuestion, read: BridgeRead): Promise<BridgeStatus>
  /** Addresses of its contracts or programs on one of its chains, which have to be there. */
  readonly contracts?: Readonly<Record<string, readonly string[]>>
  /** What sending would cost and how long it would take. Without it there are no quotes. */
  quote?(transfer: BridgeTransfer, read: BridgeRead): Promise<JsonObject>
}

/** Execution types by which documents name the calls of a bridge. */
export interface BridgeTypes {
  readonly send: string
  readonly status: string
  readonly quote: string
}

/** The types of a bridge that names none. */
export const usualBridgeTypes: BridgeTypes = {
  send: 'bridge_send',
  status: 'bridge_status',
  quote: 'bridge_quote'
}

/** What is to be sent through a bridge. */
export interface BridgeTransfer {
  /** Where it is sent. */
  readonly chain: string
  /** The fields of the document: token, amount, where to; which ones is the bridge's own matter. */
  readonly execution: Execution
}

/** The call that a transfer becomes on the chain where it begins, or why there is none. */
export type BridgeWrite =
  | {
      readonly ok: true
      readonly execution: Execution
      /**
       * What the write takes and who is given it where it arrives. Policies decode calls that they
       * know, and take this for what they do not; without it such a call is undecoded.
       */
      readonly moves?: CallMoves
    }
  | { readonly ok: false; readonly problem: string }

/** Asks for a message that was sent through a bridge. */
export interface BridgeQuestion extends BridgeTransfer {
  /** `message_id` of the execution. */
  readonly messageId: string
}

/** How far a message is on its way. */
export interface BridgeStatus {
  /** Whether the message was sent from this chain. */
  readonly sent: boolean
  /** Whether it has arrived at this chain. */
  readonly arrived: boolean
  /** What else a node may use. */
  readonly details?: JsonObject
}

/** Reads from one of the bridge's chains, through its executor. */
export type BridgeRead = (request: ReadRequest) => Promise<JsonObject>

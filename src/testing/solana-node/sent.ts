import type {
  Address,
  CompiledTransactionMessage,
  CompiledTransactionMessageWithLifetime,
  Transaction
} from '@solana/kit'
import { NodeError, rpcErrors } from '../rpc-node/index.js'
import type { SolanaLibraries } from './libraries.js'
import { invalidParam } from './solana-error.js'

/** A message of one of the versions that nodes take. */
export type SolanaMessage = Exclude<CompiledTransactionMessage, { readonly version: 1 }> &
  CompiledTransactionMessageWithLifetime

/** A transaction as it was sent, decoded. */
export interface SolanaSent {
  /** The first, which is its id; base58. */
  readonly signature: string
  readonly signatures: readonly string[]
  /** Whether each signer has signed; not whether the signatures are right. */
  readonly isSigned: boolean
  readonly transaction: Transaction
  readonly message: SolanaMessage
  /** The recent blockhash, or the value of a nonce account. */
  readonly blockhash: string
  readonly wire: Uint8Array
}

/** Bytes of a packet of the network, into which a transaction has to fit. */
const WIRE_BYTES_MAX = 1_232
/** Characters that so many bytes can have at most. */
const textMax = { base58: 1_683, base64: 1_644 } as const
const kind = 'solana_transaction::versioned::VersionedTransaction'

/** Decodes a transaction in base58 or base64. Throws what a node answers to bytes that are none. */
export function decodeSent(
  { kit }: SolanaLibraries,
  text: string,
  encoding: 'base58' | 'base64'
): SolanaSent {
  if (text.length > textMax[encoding]) {
    const limit = `max: encoded/raw ${textMax[encoding]}/${WIRE_BYTES_MAX}`
    throw invalidParam(`${encoding} encoded ${kind} too large: ${text.length} bytes (${limit})`)
  }
  const wire = bytesOf(kit, text, encoding)
  if (wire.length > WIRE_BYTES_MAX) {
    const limit = `max: ${WIRE_BYTES_MAX} bytes`
    throw invalidParam(`decoded ${kind} too large: ${wire.length} bytes (${limit})`)
  }
  try {
    return sentOf(kit, wire)
  } catch {
    throw invalidParam(`failed to deserialize ${kind}: io error: failed to fill whole buffer`)
  }
}

/** Of bytes that are known to be a transaction. */
export function sentOf(kit: SolanaLibraries['kit'], wire: Uint8Array): SolanaSent {
  const transaction = kit.getTransactionDecoder().decode(wire)
  const message = decodeMessage(kit, transaction.messageBytes)
  const given = Object.values(transaction.signatures)
  const text = kit.getBase58Decoder()
  const none = new Uint8Array(64)
  const signatures = given.map((one) => text.decode(one ?? none))
  return {
    signature: signatures[0] ?? text.decode(none),
    signatures,
    isSigned: given.every((one) => one !== null),
    transaction,
    message,
    blockhash: message.lifetimeToken,
    wire
  }
}

export function decodeMessage(
  kit: SolanaLibraries['kit'],
  bytes: ArrayLike<number>
): SolanaMessage {
  const message = kit.getCompiledTransactionMessageDecoder().decode(Uint8Array.from(bytes))
  if (message.version === 1) throw invalidParam('unsupported transaction version')
  return message
}

export function bytesOf(
  kit: SolanaLibraries['kit'],
  text: string,
  encoding: 'base58' | 'base64'
): Uint8Array {
  try {
    const encoder = encoding === 'base58' ? kit.getBase58Encoder() : kit.getBase64Encoder()
    return Uint8Array.from(encoder.encode(text))
  } catch {
    throw new NodeError(rpcErrors.invalidParams, `invalid ${encoding} encoding`)
  }
}

/** An address as a parameter gives it. Throws what a node answers to text that is none. */
export function addressOf(kit: SolanaLibraries['kit'], text: string): Address {
  if (kit.isAddress(text)) return text
  throw invalidParam(`Invalid param: ${isBase58.test(text) ? 'WrongSize' : 'Invalid'}`)
}

export function signatureOf(kit: SolanaLibraries['kit'], text: string): string {
  if (kit.isSignature(text)) return text
  throw invalidParam(`Invalid param: ${isBase58.test(text) ? 'WrongSize' : 'Invalid'}`)
}

const isBase58 = /^[1-9A-HJ-NP-Za-km-z]*$/

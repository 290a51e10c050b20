import { isJsonObject, type Json } from '../../core/index.js'
import { MalformedAnswer } from '../rpc/malformed.js'
import { list, object, text } from './answers.js'
import type { SolanaChain } from './chain.js'
import type { Kit } from './kit.js'

/** A transaction as a block has it. */
export interface LandedTransaction {
  readonly instructions: readonly {
    readonly program: string
    readonly accounts: readonly string[]
    /** Base58. */
    readonly data: string
  }[]
  readonly logs: readonly string[]
}

const METHOD = 'getTransaction'

/** Reads a transaction by its signature; undefined while no confirmed block has it. */
export async function landedTransaction(
  kit: Kit,
  chain: SolanaChain,
  signature: string,
  signal: AbortSignal
): Promise<LandedTransaction | undefined> {
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
  const answer = await chain.call(METHOD, [signature, options], signal)
  if (answer === null) return undefined
  const { transaction, meta = null } = object(answer, METHOD)
  const [wire] = list(transaction, METHOD)
  const { logMessages = null, loadedAddresses = null } = isJsonObject(meta) ? meta : {}
  const logs = Array.isArray(logMessages) ? logMessages.map((line) => text(line, METHOD)) : []
  try {
    return { logs, ...decodeLanded(kit, text(wire, METHOD), { signature, loadedAddresses }) }
  } catch {
    throw new MalformedAnswer(METHOD, null)
  }
}

function decodeLanded(
  kit: Kit,
  wire: string,
  { signature, loadedAddresses }: { readonly signature: string; readonly loadedAddresses: Json }
): Pick<LandedTransaction, 'instructions'> {
  const bytes = Uint8Array.from(kit.getBase64Encoder().encode(wire))
  const decoded = kit.getTransactionDecoder().decode(bytes)
  // A node may be asked for one transaction and answer with another.
  if (kit.getSignatureFromTransaction(decoded) !== signature) throw new Error('another one')
  const message = kit.getCompiledTransactionMessageDecoder().decode(decoded.messageBytes)
  if (!('instructions' in message)) throw new Error('an unknown version')
  const { writable = [], readonly = [] } = isJsonObject(loadedAddresses)
    ? (loadedAddresses as { readonly [kind in 'writable' | 'readonly']?: Json })
    : {}
  const addresses = [
    ...message.staticAccounts,
    ...list(writable, METHOD).map((one) => text(one, METHOD)),
    ...list(readonly, METHOD).map((one) => text(one, METHOD))
  ]
  const at = (index: number): string => text(addresses[index], METHOD)
  return {
    instructions: message.instructions.map((one) => ({
      program: at(one.programAddressIndex),
      accounts: (one.accountIndices ?? []).map(at),
      data: kit.getBase58Decoder().decode(one.data ?? new Uint8Array())
    }))
  }
}

import { isJsonObject, type Json } from '../../core/index.js'
import type { RpcCall } from '../rpc/rpc.js'
import { base64Data, list, withContext } from './answers.js'
import type { Kit } from './kit.js'

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'

/**
 * What a nonce account holds: a value that stands in the place of a blockhash. A transaction with
 * it begins with giving the account its next value, so one transaction takes effect for a value,
 * and does not expire before that.
 */
export interface DurableNonce {
  readonly account: string
  /** Has to sign the transaction. */
  readonly authority: string
  /** Base58. */
  readonly value: string
}

const METHOD = 'getMultipleAccounts'
/** Of version 1, initialized; those of version 0 are taken for no transaction any more. */
const VERSION = 1
const INITIALIZED = 1
const AUTHORITY_AT = 8
const VALUE_AT = 40
const ACCOUNT_BYTES = 80
const ADDRESS_BYTES = 32

/** What is asked to know nonce accounts, for a batch. */
export function noncesCall(accounts: readonly string[], commitment: string): RpcCall {
  return { method: METHOD, params: [[...accounts], { encoding: 'base64', commitment }] }
}

/** The nonces in the node's answer, and the slot of the state; what is no nonce account is none. */
export function noncesIn(
  kit: Kit,
  accounts: readonly string[],
  answer: Json
): { readonly slot: number; readonly nonces: readonly DurableNonce[] } {
  const { slot, value } = withContext(answer, METHOD)
  const found = list(value, METHOD)
  const nonces = accounts.flatMap((account, index) => {
    const nonce = nonceIn(kit, account, found[index] ?? null)
    return nonce === undefined ? [] : [nonce]
  })
  return { slot, nonces }
}

function nonceIn(kit: Kit, account: string, held: Json): DurableNonce | undefined {
  if (!isJsonObject(held) || held['owner'] !== SYSTEM_PROGRAM) return undefined
  const data = Buffer.from(base64Data(held['data'], METHOD), 'base64')
  if (data.length !== ACCOUNT_BYTES) return undefined
  if (data.readUInt32LE(0) !== VERSION || data.readUInt32LE(4) !== INITIALIZED) return undefined
  const addressAt = (at: number) =>
    kit.getAddressDecoder().decode(Uint8Array.from(data.subarray(at, at + ADDRESS_BYTES)))
  return { account, authority: addressAt(AUTHORITY_AT), value: addressAt(VALUE_AT) }
}

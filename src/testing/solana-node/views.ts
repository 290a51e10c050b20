import { type Json, type JsonObject, shownText } from '../../core/index.js'
import { NodeError, type RpcValue, rpcErrors } from '../rpc-node/index.js'
import { type SolanaChain, type SolanaRecord, secondOf } from './chain.js'
import type { SolanaLibraries } from './libraries.js'
import type { SolanaAccount } from './machine.js'
import { optionsIn, wholeIn } from './params.js'
import { invalidParam, solanaErrors } from './solana-error.js'

type Kit = SolanaLibraries['kit']

/** What nodes write where an account pays no rent: the greatest u64. */
const NO_RENT_EPOCH = 2n ** 64n - 1n
const BASE58_BYTES_MAX = 128

/** An account as `getAccountInfo` shows it; of parsed forms nodes fall back to base64. */
export function accountView(
  kit: Kit,
  account: SolanaAccount | undefined,
  options: JsonObject
): RpcValue {
  if (account === undefined) return null
  const { lamports, owner, data, executable } = account
  return {
    lamports,
    owner,
    data: dataView(kit, sliceOf(data, options['dataSlice']), options['encoding']),
    executable,
    rentEpoch: NO_RENT_EPOCH,
    space: data.length
  }
}

function sliceOf(data: Uint8Array, given: Json | undefined): Uint8Array {
  if (given === undefined || given === null) return data
  const slice = optionsIn(given)
  const offset = wholeIn(slice['offset'])
  return data.slice(offset, offset + wholeIn(slice['length']))
}

function dataView(kit: Kit, data: Uint8Array, encoding: Json | undefined): RpcValue {
  switch (encoding) {
    case undefined:
    case null:
    case 'base58': {
      if (data.length > BASE58_BYTES_MAX) {
        const message =
          `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, ` +
          'please use Base64 encoding.'
        throw new NodeError(rpcErrors.invalidRequest, message)
      }
      const text = kit.getBase58Decoder().decode(data)
      return encoding === 'base58' ? [text, 'base58'] : text
    }
    case 'base64':
    case 'jsonParsed':
      return [kit.getBase64Decoder().decode(data), 'base64']
    default:
      throw invalidParam(`this node does not encode accounts as ${shownText(encoding)}`)
  }
}

/** What a transaction says by the memo program, as `getSignaturesForAddress` shows it. */
export function memoOf({ sent, accounts }: SolanaRecord): RpcValue {
  const memos = sent.message.instructions.flatMap(({ programAddressIndex, data = [] }) => {
    if (!memoPrograms.has(accounts[programAddressIndex] ?? '')) return []
    return [`[${data.length}] ${new TextDecoder().decode(Uint8Array.from(data))}`]
  })
  return memos.length === 0 ? null : memos.join('; ')
}

const memoPrograms: ReadonlySet<string> = new Set([
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
])

/** A status as `getSignatureStatuses` shows it. */
export function statusView(chain: SolanaChain, record: SolanaRecord): RpcValue {
  const { slot, error } = record
  const confirmationStatus = chain.commitmentOf(record)
  return {
    slot,
    confirmations: confirmationStatus === 'finalized' ? null : chain.slot - slot,
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    confirmationStatus
  }
}

/** A transaction as `getTransaction` shows it. */
export function transactionView(kit: Kit, record: SolanaRecord, options: JsonObject): RpcValue {
  const { sent, slot, meta } = record
  const { version } = sent.message
  const newest = options['maxSupportedTransactionVersion']
  if (version !== 'legacy' && (newest === undefined || newest === null)) {
    const advice =
      'Please try the request again with the following configuration parameter: ' +
      `"maxSupportedTransactionVersion": ${version}`
    const message = `Transaction version (${version}) is not supported by the requesting client. `
    throw new NodeError(solanaErrors.unsupportedVersion, message + advice)
  }
  const transaction = wireView(kit, record, options['encoding'] ?? 'json')
  const asked = newest === undefined || newest === null ? {} : { version }
  return { slot, blockTime: secondOf(slot), transaction, meta, ...asked }
}

function wireView(kit: Kit, { sent }: SolanaRecord, encoding: Json): RpcValue {
  switch (encoding) {
    case 'base58':
      return [kit.getBase58Decoder().decode(sent.wire), encoding]
    case 'base64':
      return [kit.getBase64Decoder().decode(sent.wire), encoding]
    case 'json':
      return { signatures: sent.signatures, message: messageView(kit, sent.message) }
    default:
      throw invalidParam(`this node does not encode transactions as ${shownText(encoding)}`)
  }
}

function messageView(kit: Kit, message: SolanaRecord['sent']['message']): RpcValue {
  const { header, staticAccounts, instructions, lifetimeToken } = message
  const text = kit.getBase58Decoder()
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : undefined
  return {
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts
    },
    accountKeys: staticAccounts,
    recentBlockhash: lifetimeToken,
    instructions: instructions.map(({ programAddressIndex, accountIndices = [], data = [] }) => ({
      programIdIndex: programAddressIndex,
      accounts: accountIndices,
      data: text.decode(Uint8Array.from(data)),
      stackHeight: 1
    })),
    addressTableLookups: lookups?.map((one) => ({
      accountKey: one.lookupTableAddress,
      writableIndexes: one.writableIndexes,
      readonlyIndexes: one.readonlyIndexes
    }))
  }
}

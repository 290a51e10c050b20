import { isJsonObject, type Json, type JsonObject } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import type { CallOptions, ReadRequest } from '../port.js'
import { deriveAta, derivePda } from './addresses.js'
import { base64Data, list, object, text, whole, withContext } from './answers.js'
import type { SolanaChain } from './chain.js'
import type { SolanaRead } from './execution.js'

/** Carries out a read: outputs by the names that AIS gives them, others as `result`. */
export async function readSolana(
  chain: SolanaChain,
  request: ReadRequest,
  { signal }: CallOptions
): Promise<JsonObject> {
  const about = { phase: 'read', executionType: request.execution.type } as const
  return chain.guarded(about, async () => {
    const execution = chain.parse(request.execution, about)
    if (execution.type !== 'solana_read') {
      throw chain.failed('invalid_execution', `${execution.type} is not a read`, about)
    }
    const { method, params } = execution
    if (method === 'derive_ata') return { ...deriveAta(params, 'params') }
    if (method === 'derive_pda') return { ...derivePda(params, 'params') }
    const { commitment: usual } = chain.settings
    const commitment = commitmentOf(request.block, usual)
    const asked = paramsOf(execution, commitment)
    return outputsOf(method, await chain.call(method, asked, signal))
  })
}

/** What is wrong with the parameters of a read, without a network. Throws `InvalidArgument`. */
export function checkRead(execution: SolanaRead): void {
  const { method, params } = execution
  if (method === 'derive_ata') deriveAta(params, 'params')
  else if (method === 'derive_pda') derivePda(params, 'params')
  else paramsOf(execution, 'confirmed')
}

function commitmentOf(block: string | undefined, usual: string): string {
  if (block === undefined || block === 'latest') return usual
  if (block === 'safe') return 'confirmed'
  if (block === 'finalized') return block
  throw new InvalidArgument('block', 'is no commitment; a node keeps no older states')
}

/** What stands first in the list of parameters, by the names that documents give it. */
const firstParameter: Readonly<Record<string, readonly string[]>> = {
  getAccountInfo: ['address', 'pubkey', 'account'],
  getBalance: ['address', 'pubkey', 'account'],
  getTokenAccountBalance: ['address', 'pubkey', 'account', 'token_account'],
  getTokenSupply: ['mint', 'address'],
  getTokenLargestAccounts: ['mint', 'address'],
  getSignaturesForAddress: ['address', 'pubkey', 'account'],
  getProgramAccounts: ['program', 'address'],
  getMultipleAccounts: ['addresses', 'pubkeys', 'accounts'],
  getSignatureStatuses: ['signatures'],
  getTransaction: ['signature'],
  getMinimumBalanceForRentExemption: ['data_len', 'size'],
  getFeeForMessage: ['message'],
  isBlockhashValid: ['blockhash'],
  getBlockTime: ['slot'],
  getRecentPrioritizationFees: ['addresses']
}

/** Of these the last parameter is no object with a commitment. */
const withoutCommitment: ReadonlySet<string> = new Set([
  'getBlockTime',
  'getGenesisHash',
  'getRecentPrioritizationFees',
  'getSignatureStatuses'
])

const withData: ReadonlySet<string> = new Set([
  'getAccountInfo',
  'getMultipleAccounts',
  'getProgramAccounts'
])

/** A list is taken as JSON-RPC has it; named parameters are put in their places. */
function paramsOf({ method, params }: SolanaRead, commitment: string): readonly Json[] {
  if (Array.isArray(params)) return withOptions(method, params as readonly Json[], commitment)
  const { config = {}, ...named } = params as JsonObject
  if (!isJsonObject(config)) throw new InvalidArgument('params.config', 'is not an object')
  const names = firstParameter[method] ?? []
  const given = Object.keys(named)
  const extra = given.find((name) => !names.includes(name))
  if (extra !== undefined) throw new InvalidArgument(`params.${extra}`, 'is not known')
  if (names.length > 0 && given.length !== 1 && method !== 'getRecentPrioritizationFees') {
    throw new InvalidArgument(`params.${names[0]}`, 'is missing, or given twice')
  }
  const first = given.map((name) => numberIn(method, named[name] ?? null))
  return withOptions(method, [...first, config], commitment)
}

function numberIn(method: string, value: Json): Json {
  const isNumber = method === 'getMinimumBalanceForRentExemption' || method === 'getBlockTime'
  if (!isNumber || typeof value !== 'string') return value
  if (!/^[0-9]{1,15}$/.test(value)) throw new InvalidArgument('params', 'holds no whole number')
  return Number(value)
}

function withOptions(method: string, params: readonly Json[], commitment: string): readonly Json[] {
  const last = params.at(-1)
  const given = last !== undefined && isJsonObject(last) ? last : {}
  const before = last !== undefined && isJsonObject(last) ? params.slice(0, -1) : params
  const usual = {
    ...(withoutCommitment.has(method) ? {} : { commitment }),
    ...(withData.has(method) ? { encoding: 'base64' } : {}),
    ...(method === 'getTransaction' ? { encoding: 'json', maxSupportedTransactionVersion: 0 } : {})
  }
  const options = { ...usual, ...given }
  return Object.keys(options).length === 0 ? before : [...before, options]
}

function outputsOf(method: SolanaRead['method'], answer: Json): JsonObject {
  switch (method) {
    case 'getBalance':
      return { lamports: whole(withContext(answer, method).value, method) }
    case 'getSignatureStatuses':
      return { statuses: list(withContext(answer, method).value, method).map(ledgerJson) }
    case 'getAccountInfo':
      return accountOutputs(withContext(answer, method).value)
    default: {
      const isWrapped = isJsonObject(answer) && isJsonObject(answer['context'] ?? null)
      return { result: ledgerJson(isWrapped ? (answer['value'] ?? null) : answer) }
    }
  }
}

function accountOutputs(account: Json): JsonObject {
  const method = 'getAccountInfo'
  if (account === null) {
    return {
      exists: false,
      lamports: '0',
      owner: null,
      executable: false,
      rentEpoch: null,
      data_base64: '',
      data_len: 0
    }
  }
  const { lamports, owner, executable, rentEpoch = 0, data } = object(account, method)
  const letters = base64Data(data, method)
  return {
    exists: true,
    lamports: whole(lamports, method),
    owner: text(owner, method),
    executable: executable === true,
    rentEpoch: whole(rentEpoch, method),
    data_base64: letters,
    data_len: Buffer.byteLength(letters, 'base64')
  }
}

/** Fractions as their text: values of a ledger hold none. */
function ledgerJson(value: Json): Json {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : String(value)
  if (Array.isArray(value)) return value.map(ledgerJson)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, ledgerJson(one)]))
}

import type { Json } from '../../core/index.js'
import { InvalidArgument } from '../invalid-argument.js'
import { base64Data, list, object, withContext } from './answers.js'
import type { Kit } from './kit.js'

/** The addresses of lookup tables, by the tables' own. */
export type LookupTables = Readonly<Record<string, readonly string[]>>

const METHOD = 'getMultipleAccounts'
const OWNER = 'AddressLookupTab1e1111111111111111111111111'
/** Bytes of a table before its addresses. */
const HEADER_BYTES = 56
const ADDRESS_BYTES = 32
const NEVER_CLOSED = 2n ** 64n - 1n

/** What is asked to know lookup tables, for a batch. */
export function tablesCall(tables: readonly string[], commitment: string) {
  return { method: METHOD, params: [[...tables], { encoding: 'base64', commitment }] }
}

/** The tables in the node's answer. Throws `InvalidArgument` for what is no open table. */
export function tablesIn(kit: Kit, tables: readonly string[], answer: Json): LookupTables {
  const accounts = list(withContext(answer, METHOD).value, METHOD)
  const entries = tables.map((table, index) => {
    const path = `lookup_tables.${index}`
    const account = accounts[index] ?? null
    if (account === null) throw new InvalidArgument(path, 'is no account')
    const { owner, data } = object(account, METHOD)
    if (owner !== OWNER) throw new InvalidArgument(path, 'is no lookup table')
    return [table, addressesIn(kit, Buffer.from(base64Data(data, METHOD), 'base64'), path)] as const
  })
  return Object.fromEntries(entries)
}

function addressesIn(kit: Kit, data: Buffer, path: string): readonly string[] {
  if (data.length < HEADER_BYTES || (data.length - HEADER_BYTES) % ADDRESS_BYTES !== 0) {
    throw new InvalidArgument(path, 'is no lookup table')
  }
  if (data.readBigUInt64LE(4) !== NEVER_CLOSED) {
    throw new InvalidArgument(path, 'is a lookup table that is being closed')
  }
  const decoder = kit.getAddressDecoder()
  const count = (data.length - HEADER_BYTES) / ADDRESS_BYTES
  return Array.from({ length: count }, (_, index) => {
    const from = HEADER_BYTES + index * ADDRESS_BYTES
    return decoder.decode(Uint8Array.from(data.subarray(from, from + ADDRESS_BYTES)))
  })
}

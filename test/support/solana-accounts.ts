import {
  AccountRole,
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  type KeyPairSigner
} from '@solana/kit'
import { littleEndian } from '../../src/executor/solana/layout.js'
import type { SolanaNode } from '../../src/testing/solana-node/index.js'
import { clientOf, createAccountOf, SYSTEM_PROGRAM, signerOf } from './solana-node-under-test.js'

/** Accounts that programs of litesvm make, by their own instructions. */

const BLOCKHASHES = 'SysvarRecentB1ockHashes11111111111111111111' as Address
const RENT = 'SysvarRent111111111111111111111111111111111' as Address
const SLOT_HASHES = 'SysvarS1otHashes111111111111111111111111111' as Address
const TABLES = 'AddressLookupTab1e1111111111111111111111111' as Address
const NONCE_BYTES = 80n

/** Nonce accounts with an authority, which pays for them; each has a value of its own. */
export async function nonceAccounts(
  node: SolanaNode,
  authority: KeyPairSigner,
  count: number
): Promise<readonly string[]> {
  const { signed, send, rpc } = clientOf(node)
  const lamports = await rpc.getMinimumBalanceForRentExemption(NONCE_BYTES).send()
  const addresses: string[] = []
  for (let number = 0; number < count; number += 1) {
    const account = await signerOf(200 + number)
    const fields = { lamports, space: NONCE_BYTES, owner: SYSTEM_PROGRAM }
    const begin = {
      programAddress: SYSTEM_PROGRAM,
      accounts: [
        { address: account.address, role: AccountRole.WRITABLE },
        { address: BLOCKHASHES, role: AccountRole.READONLY },
        { address: RENT, role: AccountRole.READONLY }
      ],
      data: new Uint8Array([6, 0, 0, 0, ...getAddressEncoder().encode(authority.address)])
    }
    const create = createAccountOf(authority, account, fields)
    await send(await signed(authority, [create, begin]))
    node.advance()
    addresses.push(account.address)
  }
  return addresses
}

/** A lookup table of the lookup table program, with these addresses. */
export async function lookupTable(
  node: SolanaNode,
  authority: KeyPairSigner,
  addresses: readonly Address[]
): Promise<Address> {
  const { signed, send, rpc } = clientOf(node)
  const { value } = await rpc.getAccountInfo(SLOT_HASHES, { encoding: 'base64' }).send()
  const slot = Buffer.from(value?.data[0] ?? '', 'base64').readBigUInt64LE(8)
  const encoder = getAddressEncoder()
  const seeds = [encoder.encode(authority.address), littleEndian(slot, 8)]
  const [table, bump] = await getProgramDerivedAddress({ programAddress: TABLES, seeds })
  const paying = {
    address: authority.address,
    role: AccountRole.WRITABLE_SIGNER,
    signer: authority
  }
  const accounts = [
    { address: table, role: AccountRole.WRITABLE },
    { address: authority.address, role: AccountRole.READONLY_SIGNER, signer: authority },
    paying,
    { address: SYSTEM_PROGRAM, role: AccountRole.READONLY }
  ]
  const create = Uint8Array.of(0, 0, 0, 0, ...littleEndian(slot, 8), bump)
  await send(await signed(authority, [{ programAddress: TABLES, accounts, data: create }]))
  // An instruction of more would not fit a transaction.
  for (let from = 0; from < addresses.length; from += 20) {
    const part = addresses.slice(from, from + 20)
    const listed = part.flatMap((one) => [...encoder.encode(one)])
    const extend = Uint8Array.of(2, 0, 0, 0, ...littleEndian(BigInt(part.length), 8), ...listed)
    await send(await signed(authority, [{ programAddress: TABLES, accounts, data: extend }]))
  }
  node.advance()
  return table
}

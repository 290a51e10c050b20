import type { Address } from '@solana/kit'
import { present, sha256Hex } from '../../core/index.js'
import type { SolanaLibraries } from './libraries.js'
import type { Machine } from './machine.js'
import type { SolanaMessage } from './sent.js'
import { holdingIn, mintIn, type TokenHolding } from './tokens.js'

/** Accounts of a transaction, in the order in which its instructions count them. */
export interface SentAccounts {
  readonly all: readonly Address[]
  readonly loaded: { readonly writable: readonly Address[]; readonly readonly: readonly Address[] }
}

/** What an account holds at some moment. */
export interface Holding {
  readonly lamports: bigint
  readonly token:
    | (TokenHolding & { readonly program: Address; readonly decimals: number })
    | undefined
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const ADVANCE_NONCE = 4
/** Where a nonce account has its value. */
const NONCE_AT = 40
/** What a lookup table has before its addresses. */
const TABLE_HEADER_BYTES = 56
const ADDRESS_BYTES = 32

/** What messages refer to, read from accounts. */
export class Resolver {
  readonly #kit: SolanaLibraries['kit']
  readonly #machine: Machine

  constructor({ kit }: SolanaLibraries, machine: Machine) {
    this.#kit = kit
    this.#machine = machine
  }

  /** What a table does not have is left out: the machine refuses such a transaction. */
  accountsOf(message: SolanaMessage): SentAccounts {
    const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : []
    const named = (indexes: 'writableIndexes' | 'readonlyIndexes') =>
      lookups.flatMap((lookup) =>
        lookup[indexes].flatMap((index) => this.#inTable(lookup.lookupTableAddress, index))
      )
    const loaded = { writable: named('writableIndexes'), readonly: named('readonlyIndexes') }
    return { all: [...message.staticAccounts, ...loaded.writable, ...loaded.readonly], loaded }
  }

  holdings(addresses: readonly Address[]): readonly Holding[] {
    return addresses.map((address) => {
      const account = this.#machine.account(address)
      const token = holdingIn(this.#kit, account)
      const mint = token && mintIn(this.#kit, this.#machine.account(token.mint))
      const lamports = account?.lamports ?? 0n
      if (account === undefined || token === undefined || mint === undefined) {
        return { lamports, token: undefined }
      }
      const { decimals } = mint
      return { lamports, token: { ...token, program: account.owner, decimals } }
    })
  }

  /** Value of the nonce account that a message begins with advancing. */
  nonceOf(message: SolanaMessage): string | undefined {
    const address = this.#nonceAccount(message)
    const account = address && this.#machine.account(address)
    if (!account || account.data.length < NONCE_AT + ADDRESS_BYTES) return undefined
    return this.#kit.getAddressDecoder().decode(account.data, NONCE_AT)
  }

  /** Gives the nonce account of a message its next value, as nodes do when it has failed. */
  advanceNonce(message: SolanaMessage): void {
    const address = this.#nonceAccount(message)
    const account = address && this.#machine.account(address)
    if (!account) return
    const data = Uint8Array.from(account.data)
    const blockhash = this.#kit.getBase58Encoder().encode(this.#machine.blockhash)
    const label = new TextEncoder().encode('DURABLE_NONCE')
    data.set(Buffer.from(sha256Hex(Uint8Array.from([...label, ...blockhash])), 'hex'), NONCE_AT)
    this.#machine.put(address, { ...account, data })
  }

  #nonceAccount({ instructions, staticAccounts }: SolanaMessage): Address | undefined {
    const [first] = instructions
    if (first === undefined || first.data === undefined) return undefined
    if (staticAccounts[first.programAddressIndex] !== SYSTEM_PROGRAM) return undefined
    if (first.data.length !== 4 || first.data[0] !== ADVANCE_NONCE) return undefined
    const [place = -1] = first.accountIndices ?? []
    return staticAccounts[place]
  }

  #inTable(table: Address, index: number): readonly Address[] {
    const at = TABLE_HEADER_BYTES + ADDRESS_BYTES * index
    const data = this.#machine.account(table)?.data
    if (data === undefined || data.length < at + ADDRESS_BYTES) return []
    return [present(this.#kit.getAddressDecoder().decode(data, at), 'an address of a table')]
  }
}

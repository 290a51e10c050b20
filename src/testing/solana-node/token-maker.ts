import type { Address } from '@solana/kit'
import { testingError } from '../../core/index.js'
import type { SolanaLibraries } from './libraries.js'
import type { Machine } from './machine.js'
import type { SolanaMint } from './solana-mint.js'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  holdingData,
  holdingIn,
  mintData,
  mintIn,
  TOKEN_PROGRAM,
  type TokenMint
} from './tokens.js'

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address

/** Puts accounts where a test wants them, past the programs that own them. */
export class TokenMaker {
  readonly #kit: SolanaLibraries['kit']
  readonly #machine: Machine

  constructor({ kit }: SolanaLibraries, machine: Machine) {
    this.#kit = kit
    this.#machine = machine
  }

  fund(text: string, lamports: bigint): void {
    const address = this.#address(text)
    const empty = { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }
    const account = this.#machine.account(address) ?? empty
    this.#machine.put(address, { ...account, lamports: account.lamports + lamports })
  }

  lamports(address: string): bigint {
    return this.#machine.account(this.#address(address))?.lamports ?? 0n
  }

  units(address: string): bigint | undefined {
    return holdingIn(this.#kit, this.#machine.account(this.#address(address)))?.units
  }

  async makeMint(given: SolanaMint): Promise<void> {
    const { address, decimals = 9, authority, balances = {} } = given
    const signer = authority === undefined ? undefined : this.#address(authority)
    this.#putMint(this.#address(address), { authority: signer, supply: 0n, decimals })
    for (const [owner, units] of Object.entries(balances)) await this.give(address, owner, units)
  }

  async give(mintText: string, owner: string, units: bigint): Promise<string> {
    const mint = this.#address(mintText)
    const known = mintIn(this.#kit, this.#machine.account(mint))
    if (known === undefined) {
      throw testingError('testing.chain_invalid', { problem: `${mintText} is no mint` })
    }
    const address = await this.addressOf(mintText, owner)
    const held = this.units(address) ?? 0n
    const data = holdingData(this.#kit, { mint, owner: this.#address(owner), units: held + units })
    this.#put(address, data)
    this.#putMint(mint, { ...known, supply: known.supply + units })
    return address
  }

  async addressOf(mint: string, owner: string): Promise<Address> {
    const encoder = this.#kit.getAddressEncoder()
    const seeds = [this.#address(owner), TOKEN_PROGRAM, this.#address(mint)]
    const [address] = await this.#kit.getProgramDerivedAddress({
      programAddress: ASSOCIATED_TOKEN_PROGRAM,
      seeds: seeds.map((seed) => encoder.encode(seed))
    })
    return address
  }

  #putMint(address: Address, mint: TokenMint): void {
    this.#put(address, mintData(this.#kit, mint))
  }

  #put(address: Address, data: Uint8Array): void {
    const lamports = this.#machine.rentExempt(BigInt(data.length))
    this.#machine.put(address, { lamports, owner: TOKEN_PROGRAM, data, executable: false })
  }

  #address(text: string): Address {
    if (this.#kit.isAddress(text)) return text
    throw testingError('testing.chain_invalid', { problem: `${text} is no address` })
  }
}

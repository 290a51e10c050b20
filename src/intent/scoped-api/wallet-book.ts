import { EffectFailure } from '../../code/index.js'
import {
  type Hash,
  intentError,
  isJsonObject,
  type Json,
  type TallyError
} from '../../core/index.js'
import type { HostState } from './host-capability.js'
import { SUPPLY_MAX } from './wallet-amounts.js'

/** Funds that are kept for one purpose; only the package that reserved them may use them. */
export interface Reservation {
  readonly id: string
  readonly account: string
  readonly amount: bigint
  readonly packageId: string
}

/**
 * The wallet of one asset as state under the root (semantics.md K6):
 *
 * ```
 * wallet/<asset>/supply                  "1000"
 * wallet/<asset>/accounts/<account>      {"balance":"100","reserved":"30"}: absent when empty
 * wallet/<asset>/reservations/<id>       {"account":..,"amount":"30","package":..}
 * ```
 *
 * Owns: the entries below `wallet/<asset>/`. Does not own: who may ask, and how amounts are written
 * in requests.
 *
 * Invariants, at the end of every operation, whether it was done or refused:
 * - H1 The balances of all accounts add up to the supply.
 * - H2 0 <= reserved <= balance in every account; what is available is the difference.
 * - H3 What is reserved in an account is the sum of its open reservations.
 * - H4 A refused operation has written nothing.
 */
export class WalletBook {
  readonly #state: HostState
  readonly #prefix: string

  constructor(state: HostState, asset: string) {
    this.#state = state
    this.#prefix = `wallet/${asset}/`
  }

  get supply(): bigint {
    const text = this.#state.get(`${this.#prefix}supply`)
    return text === undefined ? 0n : this.#amount(text, 'supply')
  }

  account(name: string): { readonly balance: bigint; readonly reserved: bigint } {
    const entry = this.#state.get(`${this.#prefix}accounts/${name}`)
    if (entry === undefined) return { balance: 0n, reserved: 0n }
    const { balance = null, reserved = null } = isJsonObject(entry) ? entry : {}
    const key = `accounts/${name}`
    return { balance: this.#amount(balance, key), reserved: this.#amount(reserved, key) }
  }

  reservation(id: string): Reservation | undefined {
    const entry = this.#state.get(this.#reservationKey(id))
    if (!isJsonObject(entry)) return undefined
    const { account, amount = null, package: packageId } = entry
    if (typeof account !== 'string' || typeof packageId !== 'string') throw this.#broken(id)
    return { id, account, amount: this.#amount(amount, id), packageId }
  }

  /** Names of the accounts that hold something, sorted. */
  async accounts(): Promise<readonly string[]> {
    return this.#names('accounts/')
  }

  /** Ids of the open reservations, sorted. */
  async reservations(): Promise<readonly string[]> {
    return this.#names('reservations/')
  }

  /** Adds to an account and to the supply. */
  mint(account: string, amount: bigint): void {
    const supply = this.supply + amount
    if (supply > SUPPLY_MAX) throw refused('supply_exceeded', { supply: String(this.supply) })
    const { balance, reserved } = this.account(account)
    this.#setSupply(supply)
    this.#setAccount(account, { balance: balance + amount, reserved })
  }

  /** Takes from what is available in an account, and from the supply. */
  burn(account: string, amount: bigint): void {
    const { balance, reserved } = this.#withAvailable(account, amount)
    this.#setSupply(this.supply - amount)
    this.#setAccount(account, { balance: balance - amount, reserved })
  }

  /** Moves what is available from one account to another. */
  transfer(move: { readonly from: string; readonly to: string; readonly amount: bigint }): void {
    const { from, to, amount } = move
    if (from === to) throw refused('same_account', { account: from })
    const source = this.#withAvailable(from, amount)
    this.#move({ ...move, source: { ...source, balance: source.balance - amount } })
  }

  /** Keeps a part of what is available for later. */
  reserve(reservation: Reservation): void {
    const { id, account, amount, packageId } = reservation
    if (this.reservation(id) !== undefined) throw refused('reservation_exists', { id })
    const { balance, reserved } = this.#withAvailable(account, amount)
    this.#setAccount(account, { balance, reserved: reserved + amount })
    const entry = { account, amount: String(amount), package: packageId }
    this.#state.set(this.#reservationKey(id), entry)
  }

  /** Gives reserved funds back to what is available. */
  release(id: string, packageId: string): Reservation {
    const reservation = this.#own(id, packageId)
    const { balance, reserved } = this.account(reservation.account)
    this.#setAccount(reservation.account, { balance, reserved: reserved - reservation.amount })
    this.#state.delete(this.#reservationKey(id))
    return reservation
  }

  /** Moves reserved funds, all of them, to another account. */
  settle(id: string, options: { readonly to: string; readonly packageId: string }): Reservation {
    const { to, packageId } = options
    const reservation = this.#own(id, packageId)
    const { account, amount } = reservation
    if (account === to) throw refused('same_account', { account })
    const { balance, reserved } = this.account(account)
    this.#state.delete(this.#reservationKey(id))
    const source = { balance: balance - amount, reserved: reserved - amount }
    this.#move({ from: account, to, amount, source })
    return reservation
  }

  #move(move: {
    readonly from: string
    readonly to: string
    readonly amount: bigint
    readonly source: { readonly balance: bigint; readonly reserved: bigint }
  }): void {
    const { from, to, amount, source } = move
    const target = this.account(to)
    this.#setAccount(from, source)
    this.#setAccount(to, { ...target, balance: target.balance + amount })
  }

  #own(id: string, packageId: string): Reservation {
    const reservation = this.reservation(id)
    // Another package's reservation is no reservation to this one: it learns nothing of it.
    if (reservation?.packageId !== packageId) throw refused('unknown_reservation', { id })
    return reservation
  }

  #withAvailable(name: string, amount: bigint): { balance: bigint; reserved: bigint } {
    const { balance, reserved } = this.account(name)
    const available = balance - reserved
    if (available < amount) {
      const details = { account: name, available: String(available), wanted: String(amount) }
      throw refused('insufficient_funds', details)
    }
    return { balance, reserved }
  }

  #setSupply(supply: bigint): void {
    const key = `${this.#prefix}supply`
    if (supply === 0n) this.#state.delete(key)
    else this.#state.set(key, String(supply))
  }

  // An empty account has no entry, so that its state is the same as before it was first used.
  #setAccount(name: string, { balance, reserved }: { balance: bigint; reserved: bigint }): void {
    const key = `${this.#prefix}accounts/${name}`
    if (balance === 0n) this.#state.delete(key)
    else this.#state.set(key, { balance: String(balance), reserved: String(reserved) })
  }

  #reservationKey(id: string | Hash): string {
    return `${this.#prefix}reservations/${id}`
  }

  async #names(below: string): Promise<readonly string[]> {
    const prefix = this.#prefix + below
    return (await this.#state.list(prefix)).map((key) => key.slice(prefix.length))
  }

  #amount(text: Json, what: string): bigint {
    if (typeof text !== 'string' || !/^(?:0|[1-9][0-9]{0,77})$/.test(text)) throw this.#broken(what)
    return BigInt(text)
  }

  #broken(what: string): TallyError {
    return intentError('intent.malformed_wallet', { key: this.#prefix + what })
  }
}

function refused(reason: string, details: Json): EffectFailure {
  return new EffectFailure(reason, { definite: true, details })
}

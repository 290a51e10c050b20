import { type Json, lazySchema } from '../../core/index.js'
import { type HostCapability, stateful } from './host-capability.js'
import { accountName, amountText, assetName, OWN_ACCOUNT } from './wallet-amounts.js'
import { WalletBook } from './wallet-book.js'

/**
 * The wallet as packages see it: they spend from the account `self` only, whatever they ask. All
 * amounts are text (see `wallet-amounts.ts`); all of it is state of the unit, so a transfer is in
 * the unit's receipt or did not happen.
 */

const reservationId = lazySchema((z) =>
  z.string().regex(/^[0-9a-f]{64}$/, 'a reservation is named by its hash')
)

const transfer = lazySchema((z) =>
  z.union([
    z.strictObject({ to: accountName(), amount: amountText(), asset: assetName() }),
    z.strictObject({ to: accountName(), reservation: reservationId(), asset: assetName() })
  ])
)

/** `{ asset?, account? }` gives `{ asset, account, balance, available, reserved }`. */
const balance = stateful({
  name: 'wallet.balance',
  schema: lazySchema((z) =>
    z.strictObject({ asset: assetName(), account: accountName().default(OWN_ACCOUNT) })
  ),
  perform: ({ state }, { asset, account }) => ({
    asset,
    account,
    ...standing(new WalletBook(state, asset), account)
  })
})

/**
 * `{ asset? }` gives `{ asset, supply, accounts: [{ account, balance, available, reserved }],
 * reservations: [{ id, amount }] }`; of the reservations only the package's own.
 */
const read = stateful({
  name: 'wallet.read',
  schema: lazySchema((z) => z.strictObject({ asset: assetName() })),
  async perform({ state, packageId }, { asset }) {
    const book = new WalletBook(state, asset)
    const accounts = await book.accounts()
    const reservations = await book.reservations()
    return {
      asset,
      supply: String(book.supply),
      accounts: accounts.map((account) => ({ account, ...standing(book, account) })),
      reservations: reservations.flatMap((id) => {
        const found = book.reservation(id)
        return found?.packageId === packageId ? [{ id, amount: String(found.amount) }] : []
      })
    }
  }
})

/**
 * `{ to, amount, asset? }`, or `{ to, reservation, asset? }` for funds that were reserved, gives
 * `{ id, asset, to, amount, balance, available, reserved }`.
 */
const send = stateful({
  name: 'wallet.send',
  schema: transfer,
  perform({ state, packageId, callId }, request) {
    const { to, asset } = request
    const book = new WalletBook(state, asset)
    let amount: bigint
    if ('reservation' in request) {
      amount = book.settle(request.reservation, { to, packageId }).amount
    } else {
      amount = BigInt(request.amount)
      book.transfer({ from: OWN_ACCOUNT, to, amount })
    }
    return { id: callId, asset, to, amount: String(amount), ...standing(book, OWN_ACCOUNT) }
  }
})

/** `{ amount, asset? }` gives `{ reservation, asset, amount, balance, available, reserved }`. */
const reserve = stateful({
  name: 'wallet.reserve',
  schema: lazySchema((z) => z.strictObject({ amount: amountText(), asset: assetName() })),
  perform({ state, packageId, callId }, { amount, asset }) {
    const book = new WalletBook(state, asset)
    book.reserve({ id: callId, account: OWN_ACCOUNT, amount: BigInt(amount), packageId })
    return { reservation: callId, asset, amount, ...standing(book, OWN_ACCOUNT) }
  }
})

/** `{ reservation, asset? }` gives `{ reservation, asset, amount, balance, available, .. }`. */
const release = stateful({
  name: 'wallet.release',
  schema: lazySchema((z) => z.strictObject({ reservation: reservationId(), asset: assetName() })),
  perform({ state, packageId }, { reservation, asset }) {
    const book = new WalletBook(state, asset)
    const { amount } = book.release(reservation, packageId)
    return { reservation, asset, amount: String(amount), ...standing(book, OWN_ACCOUNT) }
  }
})

/** `{ amount, asset?, to? }` gives `{ asset, to, amount, supply }`. */
const mint = stateful({
  name: 'bridge.mint',
  schema: lazySchema((z) =>
    z.strictObject({
      amount: amountText(),
      asset: assetName(),
      to: accountName().default(OWN_ACCOUNT)
    })
  ),
  perform({ state }, { amount, asset, to }) {
    const book = new WalletBook(state, asset)
    book.mint(to, BigInt(amount))
    return { asset, to, amount, supply: String(book.supply) }
  }
})

/** `{ amount, asset? }`, from `self`, gives `{ asset, amount, supply }`. */
const burn = stateful({
  name: 'bridge.burn',
  schema: lazySchema((z) => z.strictObject({ amount: amountText(), asset: assetName() })),
  perform({ state }, { amount, asset }) {
    const book = new WalletBook(state, asset)
    book.burn(OWN_ACCOUNT, BigInt(amount))
    return { asset, amount, supply: String(book.supply) }
  }
})

function standing(book: WalletBook, account: string): Readonly<Record<string, Json>> {
  const { balance, reserved } = book.account(account)
  return {
    balance: String(balance),
    available: String(balance - reserved),
    reserved: String(reserved)
  }
}

export const walletCapabilities: readonly HostCapability[] = [
  balance,
  read,
  send,
  reserve,
  release,
  mint,
  burn
]

import { accountOf, amountOf, type Intent, type WalletApi } from './requests.js'

/** Serves the wallet's intents. A failure is a result of type `error`: nothing of it is kept. */
export async function run(intent: Intent, api: WalletApi): Promise<unknown> {
  const { payload } = intent
  const asset = payload.asset === undefined ? {} : { asset: payload.asset }
  try {
    switch (intent.action) {
      case 'wallet.balance':
        return await api.wallet.balance(asset)
      case 'wallet.send':
        return await send(intent, api, asset)
      case 'wallet.reserve': {
        const { reservation, available } = await api.wallet.reserve({
          amount: amountOf(payload),
          ...asset
        })
        return { reservation, available }
      }
      case 'wallet.mintFC':
        return await api.bridge.mint({ amount: amountOf(payload), ...asset })
      case 'wallet.burnFC':
        return await api.bridge.burn({ amount: amountOf(payload), ...asset })
      default:
        return { type: 'error', message: `unknown action ${intent.action}` }
    }
  } catch (error) {
    return { type: 'error', message: messageOf(error) }
  }
}

/** Reserves first and settles then: what was checked cannot be spent in between. */
async function send(intent: Intent, api: WalletApi, asset: { readonly asset?: string }) {
  const { payload } = intent
  const to = await accountOf(payload, api)
  const amount = amountOf(payload)
  const { reservation } = await api.wallet.reserve({ amount, ...asset })
  if (payload.dry === true) {
    await api.wallet.release({ reservation, ...asset })
    return { sent: false, to, amount }
  }
  const { id, balance } = await api.wallet.send({ to, reservation, ...asset })
  return { sent: true, payment: id, to, amount, balance }
}

function messageOf(error: unknown): string {
  if (error instanceof Error && 'reason' in error) return String(error.reason)
  return error instanceof Error ? error.message : String(error)
}

/** What this package is asked, and what it asks of the host. */
export interface Intent {
  readonly action: string
  readonly payload: {
    readonly target?: string
    readonly amount?: string | number
    readonly asset?: string
    readonly dry?: boolean
    /** Results of earlier steps. */
    readonly $deps?: Readonly<
      Record<string, { readonly valid?: boolean; readonly account?: string }>
    >
  }
}

interface Asset {
  readonly asset?: string
}

export interface WalletApi {
  readonly wallet: {
    balance(request: Asset): Promise<{ readonly available: string }>
    reserve(
      request: Asset & { readonly amount: string }
    ): Promise<{ readonly reservation: string; readonly available: string }>
    release(request: Asset & { readonly reservation: string }): Promise<unknown>
    send(
      request: Asset & { readonly to: string; readonly reservation: string }
    ): Promise<{ readonly id: string; readonly balance: string }>
  }
  readonly bridge: {
    mint(request: Asset & { readonly amount: string }): Promise<unknown>
    burn(request: Asset & { readonly amount: string }): Promise<unknown>
  }
  readonly contacts: {
    read(request: {
      readonly name: string
    }): Promise<{ readonly contact: { readonly account: string } | null }>
  }
}

/** An amount as text; whole numbers are taken too, since people write them in documents. */
export function amountOf({ amount }: Intent['payload']): string {
  if (typeof amount === 'number' && Number.isSafeInteger(amount)) return String(amount)
  if (typeof amount === 'string') return amount
  throw new Error('an amount is a whole number')
}

/**
 * The account of a contact that an earlier step found, of one that is known, or the name itself.
 */
export async function accountOf(
  { target, $deps = {} }: Intent['payload'],
  api: WalletApi
): Promise<string> {
  const found = Object.values($deps).find(({ valid }) => valid === true)
  if (found?.account !== undefined) return found.account
  if (typeof target !== 'string') throw new Error('a payment has a target')
  const { contact } = await api.contacts.read({ name: target })
  return contact?.account ?? target
}

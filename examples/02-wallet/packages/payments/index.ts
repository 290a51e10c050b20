interface Intent {
  readonly payload: {
    readonly target?: string
    readonly amount?: string | number
    /** Port of the payment service on this machine. */
    readonly port?: number
  }
}

interface Api {
  readonly network: {
    request(request: object): Promise<{ readonly body: string }>
  }
  readonly storage: {
    get(key: string): unknown
    set(key: string, value: unknown): void
  }
}

/** Asks a payment service; the request carries a key by which the service knows it again. */
export async function run({ payload }: Intent, api: Api): Promise<unknown> {
  const { target = '', amount = '', port = 80 } = payload
  const { body } = await api.network.request({
    url: `http://127.0.0.1:${port}/payments`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: target.toLowerCase(), amount: String(amount) }),
    timeoutMs: 500,
    okOnly: true
  })
  const { payment } = JSON.parse(body)
  const made = (api.storage.get('made') as number | undefined) ?? 0
  api.storage.set('made', made + 1)
  return { sent: true, payment, to: target, amount: String(amount), through: 'payments' }
}

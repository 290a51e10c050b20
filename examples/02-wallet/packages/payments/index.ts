interface Intent {
  readonly action: string
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
export async function run({ action, payload }: Intent, api: Api): Promise<unknown> {
  if (action === 'payments.configure') {
    api.storage.set('port', payload.port)
    return { port: payload.port }
  }
  const { target = '', amount = '' } = payload
  const { body } = await api.network.request({
    url: `http://127.0.0.1:${api.storage.get('port')}/payments`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: target.toLowerCase(), amount: String(amount) }),
    timeoutMs: 500,
    okOnly: true
  })
  const { payment } = JSON.parse(body)
  return { sent: true, payment, to: target, amount: String(amount), through: 'payments' }
}

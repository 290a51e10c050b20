interface Intent {
  readonly action: string
  readonly payload: { readonly recipient?: string; readonly message?: string }
}

interface Api {
  readonly contacts: {
    read(request: {
      readonly name: string
    }): Promise<{ readonly contact: { readonly account: string } | null }>
  }
  readonly messages: {
    send(request: { readonly to: string; readonly text: string }): Promise<{ at: number }>
    list(request: { readonly to: string }): Promise<unknown>
  }
}

export async function run({ action, payload }: Intent, api: Api): Promise<unknown> {
  const { recipient = '', message = '' } = payload
  const { contact } = await api.contacts.read({ name: recipient })
  if (contact === null) return { type: 'error', message: `unknown contact ${recipient}` }
  const to = contact.account
  if (action === 'messages.list') return api.messages.list({ to })
  const { at } = await api.messages.send({ to, text: message })
  return { delivered: true, to, at }
}

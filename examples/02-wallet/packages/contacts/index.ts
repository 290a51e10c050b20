interface Intent {
  readonly action: string
  readonly payload: {
    readonly recipient?: string
    readonly name?: string
    readonly account?: string
  }
}

interface Api {
  readonly contacts: {
    read(request: {
      readonly name: string
    }): Promise<{ readonly contact: { readonly name: string; readonly account: string } | null }>
    import(request: { readonly contacts: readonly object[] }): Promise<{ imported: number }>
  }
}

export async function run({ action, payload }: Intent, api: Api): Promise<unknown> {
  if (action === 'contacts.add') {
    const { name, account } = payload
    return api.contacts.import({ contacts: [{ name, account }] })
  }
  const { recipient = '' } = payload
  const { contact } = await api.contacts.read({ name: recipient })
  if (contact === null) return { type: 'error', message: `unknown contact ${recipient}` }
  return { valid: true, name: contact.name, account: contact.account }
}

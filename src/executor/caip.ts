/** The parts of a CAIP-2 chain id, `eip155:1`; undefined when the text is none. */
export function chainParts(
  text: string
): { readonly namespace: string; readonly reference: string } | undefined {
  const parts = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})$/.exec(text)
  if (parts === null) return undefined
  const [, namespace = '', reference = ''] = parts
  return { namespace, reference }
}

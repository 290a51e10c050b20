const secretParts =
  /private[_-]?key|mnemonic|passphrase|password|secret|api[_-]?key|authorization|bearer|credential/i
const secretNames =
  /^(?:seed|seed_?phrase|signatures?|raw|raw_?tx|raw_?transaction|signed_?transaction)$/i

/** Whether a member, header or variable of this name is never shown, whatever it holds. */
export function isSecretName(name: string): boolean {
  return secretParts.test(name) || secretNames.test(name)
}

const credentialParts = /(?:^|[_-])(?:key|token|auth|cookie|sig|pass|pwd)/i

/** The same of a header, a variable or a part of a query, where `token` is no coin. */
export function isCredentialName(name: string): boolean {
  return isSecretName(name) || credentialParts.test(name)
}

const address = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]}]+/gi

/** A text without addresses, whatever they hold: any of them may have a key in it. */
export function withoutAddresses(text: string): string {
  return text.replace(address, '[address]')
}

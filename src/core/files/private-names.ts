/**
 * What looks like credentials, by name or by content. No list is complete: it keeps what people
 * usually have beside their work from being read by mistake, and stands behind the root that a host
 * gives, not in its place.
 */

const data = String.raw`(?:\.(?:json|ya?ml|toml|txt|ini|env|csv|xml|properties|dat|bak|enc))?$`
const privateNames: readonly RegExp[] = [
  /\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|ovpn|gpg|keytab|tfstate|tfvars|env)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.|$)/,
  /^env\./,
  /^tally\.config\./,
  /(?:^|[_.-])service[_-]?account[\w.-]*\.json$/,
  new RegExp(`^(?:secrets?|credentials?|passwords?|passwd|shadow|htpasswd)${data}`),
  new RegExp(`^(?:private[_-]?keys?|keystore|wallet|mnemonic|seed[_-]?phrase)${data}`)
]

/** Whether a file or directory of this name is left alone. */
export function isPrivateName(name: string): boolean {
  const lower = name.toLowerCase()
  return privateNames.some((pattern) => pattern.test(lower))
}

const privateContents: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY/,
  // A key file of tallystick, wherever a copy of it lies.
  /"format"\s{0,8}:\s{0,8}"tally-key\//
]

/** Whether a text holds a key, whatever its file is called. */
export function hasPrivateContent(text: string): boolean {
  return privateContents.some((pattern) => pattern.test(text))
}

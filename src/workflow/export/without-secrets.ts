import { isJsonObject, isSecretName, type Json } from '../../core/index.js'

/** As AIS writes what must not be shown. */
const HIDDEN = '[REDACTED]'
/** Signed transactions: any who has the bytes can send them. */
const signed: ReadonlySet<string> = new Set(['raw', 'raw_tx', 'signature', 'mnemonic', 'seed'])

/** JSON with secret members hidden; journals hide what the ledger keeps private before this. */
export function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => withoutSecrets(one))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretName(name) || signed.has(name) ? HIDDEN : withoutSecrets(member)
    ])
  )
}

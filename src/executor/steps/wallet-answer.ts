import { isJsonObject, type Json } from '../../core/index.js'

/** What a wallet outside is asked by `kind` of its wait. */
export const handOverKind = 'sign_and_send'

/** Hashes of what a wallet has sent, by the wrong ones that it gave. */
export type Corrected = Readonly<Record<string, string>>

const hashForms = {
  eip155: /^0x[0-9a-fA-F]{64}$/,
  solana: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
} as const

/**
 * The hash, or first signature, that a wallet gives for what it has sent; undefined: the answer
 * holds none, or none of the form that transactions of the chain have. Without a chain, either.
 */
export function handedHash(value: Json, chain = ''): string | undefined {
  const given = isJsonObject(value)
    ? (value['hash'] ?? value['tx_hash'] ?? value['signature'] ?? null)
    : value
  return typeof given === 'string' && isHashOn(chain, given) ? given : undefined
}

function isHashOn(chain: string, text: string): boolean {
  const namespace = chain.slice(0, chain.indexOf(':'))
  if (namespace === 'eip155' || namespace === 'solana') return hashForms[namespace].test(text)
  return Object.values(hashForms).some((form) => form.test(text))
}

/** What is looked for in place of the hash that a wallet gave. */
export function correctedHash(corrected: Corrected, given: string): string {
  return Object.hasOwn(corrected, given) ? (corrected[given] ?? given) : given
}

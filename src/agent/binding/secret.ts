import { readFile } from 'node:fs/promises'
import { EffectFailure } from '../../block/index.js'

/** `env:NAME` or `file:PATH`: where a secret is, never the secret itself (semantics.md A3). */
const reference = /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/

export type Environment = Readonly<Record<string, string | undefined>>

/** Whether text says where a secret is. */
export function isSecretReference(text: string): boolean {
  return reference.test(text)
}

/**
 * The secret behind a reference. Throws a definite `EffectFailure` `secret_missing` or
 * `secret_not_reference`; neither says what was found.
 */
export async function readSecret(text: string, environment: Environment): Promise<string> {
  if (!isSecretReference(text)) {
    throw new EffectFailure('secret_not_reference', { definite: true })
  }
  const name = text.slice(text.indexOf(':') + 1)
  const found = text.startsWith('env:')
    ? environment[name]
    : await readFile(name, 'utf8').catch(() => undefined)
  const secret = found?.trim()
  if (secret === undefined || secret === '') {
    throw new EffectFailure('secret_missing', { definite: true, details: { reference: text } })
  }
  return secret
}

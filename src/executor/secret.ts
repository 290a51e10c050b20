import { open } from 'node:fs/promises'
import { limits } from '../core/index.js'

/** Where secrets named `env:NAME` are looked up; usually `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

const reference = /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/

/** Whether a text says where a secret is, `env:NAME` or `file:PATH`. */
export function isSecretReference(text: string): boolean {
  return reference.test(text)
}

/** The secret behind a reference, without line ends around it; undefined when there is none. */
export async function readSecret(
  text: string,
  environment: Environment
): Promise<string | undefined> {
  const name = text.slice(text.indexOf(':') + 1)
  const found = text.startsWith('env:') ? environment[name] : await fileText(name)
  const secret = found?.trim()
  return secret === '' ? undefined : secret
}

async function fileText(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      return size > limits.SECRET_BYTES_MAX ? undefined : await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch {
    // Which paths exist on this machine is not for a diagnostic.
    return undefined
  }
}

/** Where secrets named `env:NAME` are looked up; usually `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where secrets are; the caller hands both in, and so decides what may be read. */
export interface SecretSources {
  readonly environment: Environment
  /** Undefined: nothing is there, or nothing that will do. Usually {@link readSecretFile}. */
  readonly readFile: (path: string) => Promise<string | undefined>
}

const reference = /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/

/** Whether a text says where a secret is, `env:NAME` or `file:PATH` (semantics.md A3). */
export function isSecretReference(text: string): boolean {
  return reference.test(text)
}

/** What stands behind a reference, as it is; undefined for no reference and for no secret. */
export async function readSecret(
  text: string,
  { environment, readFile }: SecretSources
): Promise<string | undefined> {
  if (!isSecretReference(text)) return undefined
  const name = text.slice(text.indexOf(':') + 1)
  const found = text.startsWith('env:') ? environmentValue(environment, name) : await readFile(name)
  return found?.trim() === '' ? undefined : found
}

function environmentValue(environment: Environment, name: string): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined
}

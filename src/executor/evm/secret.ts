import { type Environment, readSecret, readSecretFile } from '../../core/index.js'

/** A key or an endpoint behind a reference, without blanks around it; undefined: there is none. */
export async function secretBehind(
  reference: string,
  environment: Environment
): Promise<string | undefined> {
  return (await readSecret(reference, { environment, readFile: readSecretFile }))?.trim()
}

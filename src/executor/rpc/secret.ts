import { type Environment, type Redactor, readSecretFile } from '../../core/index.js'

/**
 * A key or an endpoint behind a reference, without blanks around it; the redactor learns it.
 * Undefined: there is none.
 */
export async function secretBehind(
  reference: string,
  { environment, redactor }: { readonly environment: Environment; readonly redactor: Redactor }
): Promise<string | undefined> {
  return (await redactor.read(reference, { environment, readFile: readSecretFile }))?.trim()
}

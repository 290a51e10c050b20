import { EffectFailure } from '../../code/index.js'
import {
  type Environment,
  isSecretReference,
  type Redactor,
  readSecretFile
} from '../../core/index.js'

/**
 * The secret behind a reference, without blanks around it; the redactor learns it. Throws a
 * definite `EffectFailure` `secret_missing` or `secret_not_reference`; neither says what was found.
 */
export async function secretBehind(
  reference: string,
  { environment, redactor }: { readonly environment: Environment; readonly redactor: Redactor }
): Promise<string> {
  if (!isSecretReference(reference)) {
    throw new EffectFailure('secret_not_reference', { definite: true })
  }
  const found = await redactor.read(reference, { environment, readFile: readSecretFile })
  if (found === undefined) {
    throw new EffectFailure('secret_missing', { definite: true, details: { reference } })
  }
  return found.trim()
}

import { EffectFailure } from '../../block/index.js'
import {
  type Environment,
  isSecretReference,
  readSecret,
  readSecretFile
} from '../../core/index.js'

/**
 * The secret behind a reference, without blanks around it. Throws a definite `EffectFailure`
 * `secret_missing` or `secret_not_reference`; neither says what was found.
 */
export async function secretBehind(reference: string, environment: Environment): Promise<string> {
  if (!isSecretReference(reference)) {
    throw new EffectFailure('secret_not_reference', { definite: true })
  }
  const found = await readSecret(reference, { environment, readFile: readSecretFile })
  if (found === undefined) {
    throw new EffectFailure('secret_missing', { definite: true, details: { reference } })
  }
  return found.trim()
}

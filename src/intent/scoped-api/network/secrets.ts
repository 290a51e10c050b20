import { EffectFailure } from '../../../code/index.js'
import { type Environment, readSecret, readSecretFile } from '../../../core/index.js'

/** Gives the value behind `env:NAME` or `file:PATH`; rejects when there is none. */
export type ResolveSecret = (reference: string) => Promise<string>

/** Secrets of an environment and of files, without the line end that editors leave behind. */
export function secretsOf(environment: Environment): ResolveSecret {
  return async (reference) => {
    const found = await readSecret(reference, { environment, readFile: readSecretFile })
    if (found === undefined) throw secretFailure('secret_missing', reference)
    return found.replace(/\r?\n$/, '')
  }
}

export function secretFailure(reason: string, reference: string): EffectFailure {
  return new EffectFailure(reason, { definite: true, details: { reference } })
}

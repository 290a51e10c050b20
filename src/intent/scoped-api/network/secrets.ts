import { EffectFailure } from '../../../block/index.js'
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

/**
 * Takes secrets out of what a server answered, before it is sealed: one that sends back what it
 * was sent must not put it into a receipt. Spellings that servers use are covered, not every
 * conceivable one.
 */
export function redactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const spellings = [...secrets].flatMap(([reference, value]) =>
    [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
      Buffer.from(value).toString('hex')
    ].map((spelling) => [spelling, `[${reference}]`] as const)
  )
  // The longest first: a short one may be a part of it.
  spellings.sort(([left], [right]) => right.length - left.length)
  return (text) =>
    spellings.reduce((rest, [spelling, name]) => rest.replaceAll(spelling, () => name), text)
}

import { isJsonObject, type Json, Redactor } from '../../core/index.js'

/** Where a response holds what must not be sealed: object keys and array places, from the top. */
export type SecretPath = readonly (string | number)[]

/** Keeps a secret elsewhere and gives the reference that is sealed in its place (A5). */
export type KeepSecret = (secret: Json, path: SecretPath) => Promise<string> | string

/** Where a response has secrets, and where they are kept. */
export interface ResponseSecrets {
  readonly paths: readonly SecretPath[]
  /** Without it the secret is lost, and the reference says `withheld`. */
  readonly keep?: KeepSecret
}

/**
 * A response with `{secretRef}` in place of each secret, and without the secrets' text in any form
 * elsewhere in it: a model's text often repeats what its structured output says.
 */
export async function withheld<Value extends Json>(
  response: Value,
  { paths, keep = () => 'withheld' }: ResponseSecrets
): Promise<Value> {
  let result: Json = response
  const redactor = new Redactor()
  for (const path of paths) {
    const secret = valueAt(result, path)
    if (secret === undefined) continue
    const reference = await keep(secret, path)
    if (typeof secret === 'string') redactor.know(reference, secret)
    result = replacedAt(result, path, { secretRef: reference })
  }
  return (await redactor.inTurns('json', result)) as Value
}

function valueAt(value: Json, path: SecretPath): Json | undefined {
  let at: Json | undefined = value
  for (const step of path) {
    if (Array.isArray(at)) at = typeof step === 'number' ? at[step] : undefined
    else at = isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
  }
  return at
}

function replacedAt(value: Json, [first, ...rest]: SecretPath, by: Json): Json {
  if (first === undefined) return by
  if (Array.isArray(value)) {
    return value.map((inner, at) => (at === first ? replacedAt(inner, rest, by) : inner))
  }
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === String(first) ? replacedAt(inner, rest, by) : inner
    ])
  )
}

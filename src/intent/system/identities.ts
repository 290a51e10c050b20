import {
  type IdentityId,
  isIdentityId,
  isJsonObject,
  isRunId,
  type Json,
  type JsonObject,
  jsonIn,
  lazySchema,
  limits
} from '../../core/index.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

/**
 * State entries `system/identities/<identity>`: every identity that was made from this one.
 *
 *     {"at":..,"by":{"id":..,"kind":..},"label":"what it is for"}
 */
export function madeIdentityKey(identity: string): string {
  return `system/identities/${identity}`
}

/**
 * State entries `system/identity-names/<name>`: what an identity is called at its location, in the
 * chain of the location's main identity.
 *
 *     {"identity":"<64 hex>"}
 */
export const IDENTITY_NAMES_PREFIX = 'system/identity-names/'

/** The identity that has a name, by the state of the main one. */
export function identityCalled(text: string | undefined): IdentityId | undefined {
  return namedIdentity(text === undefined ? undefined : jsonIn(text))
}

/** {@link identityCalled} of the value of a name. */
export function namedIdentity(value: Json | undefined): IdentityId | undefined {
  const { identity } = isJsonObject(value) ? value : {}
  return isIdentityId(identity) ? identity : undefined
}

/** Names of identities: as ids of runs, and none that could be taken for an id. */
export function isIdentityName(text: unknown): text is string {
  return isRunId(text) && !isIdentityId(text)
}

const name = lazySchema((z) => z.string().refine(isIdentityName).optional())
const label = lazySchema((z) => z.string().min(1).max(limits.IDENTITY_LABEL_LENGTH_MAX).optional())
const asked = lazySchema((z) => z.strictObject({ label: label(), name: name() }))
const made = lazySchema((z) =>
  z.strictObject({ identity: z.string().refine(isIdentityId), label: label(), name: name() })
)

/** How an identity that is made is described. */
export interface IdentityAbout {
  readonly label?: string
  readonly name?: string
}

/** What is asked of `system.identity.create`; undefined when it is asked for anything else. */
export function identityAsked(payload: JsonObject): IdentityAbout | undefined {
  const parsed = asked().safeParse(payload)
  return parsed.success ? aboutIn(parsed.data) : undefined
}

function aboutIn(given: {
  readonly label?: string | undefined
  readonly name?: string | undefined
}): IdentityAbout {
  const { label, name } = given
  return { ...(label === undefined ? {} : { label }), ...(name === undefined ? {} : { name }) }
}

/** The identity that an earlier `system.identity.create` has named, by its payload. */
export function identityNamed(payload: Json | undefined): string | undefined {
  const { identity } = isJsonObject(payload) ? payload : {}
  return typeof identity === 'string' ? identity : undefined
}

/**
 * `system.identity.create`: `{ identity, label?, name? }`; the runtime has made its key, and the
 * identity begins once this is durable.
 */
export function createIdentity(work: SystemWork): Json {
  const { port, by, at } = work
  const { identity, ...given } = payloadOf(work, made())
  const { name, ...about } = aboutIn(given)
  if (port.read(madeIdentityKey(identity)) !== undefined) return port.fail('identity_exists')
  const isTaken = name !== undefined && port.read(IDENTITY_NAMES_PREFIX + name) !== undefined
  if (isTaken) return port.fail('name_taken')
  port.write(madeIdentityKey(identity), { at, by: { id: by.id, kind: by.kind }, ...about })
  if (name === undefined) return { identity, ...about }
  port.write(IDENTITY_NAMES_PREFIX + name, { identity })
  return { identity, ...about, name }
}

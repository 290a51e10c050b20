import {
  isIdentityId,
  isJsonObject,
  type Json,
  type JsonObject,
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

const label = lazySchema((z) => z.string().min(1).max(limits.IDENTITY_LABEL_LENGTH_MAX).optional())
const asked = lazySchema((z) => z.strictObject({ label: label() }))
const made = lazySchema((z) =>
  z.strictObject({ identity: z.string().refine(isIdentityId), label: label() })
)

/** What is asked of `system.identity.create`; undefined when it is asked for anything else. */
export function identityAsked(payload: JsonObject): { readonly label?: string } | undefined {
  const parsed = asked().safeParse(payload)
  if (!parsed.success) return undefined
  return parsed.data.label === undefined ? {} : { label: parsed.data.label }
}

/** The identity that an earlier `system.identity.create` has named, by its payload. */
export function identityNamed(payload: Json | undefined): string | undefined {
  const { identity } = isJsonObject(payload) ? payload : {}
  return typeof identity === 'string' ? identity : undefined
}

/**
 * `system.identity.create`: `{ identity, label? }`; the runtime has made its key, and the identity
 * begins once this is durable.
 */
export function createIdentity(work: SystemWork): Json {
  const { port, by, at } = work
  const { identity, label: given } = payloadOf(work, made())
  const about = given === undefined ? {} : { label: given }
  if (port.read(madeIdentityKey(identity)) !== undefined) return port.fail('identity_exists')
  port.write(madeIdentityKey(identity), { at, by: { id: by.id, kind: by.kind }, ...about })
  return { identity, ...about }
}

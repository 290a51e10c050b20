import { isHash, type Json, type JsonObject, lazySchema, limits } from '../../core/index.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

/** State entries `system/published/<name>`: documents that others than the owner may run (K14). */
export const PUBLISHED_PREFIX = 'system/published/'

const name = lazySchema((z) => z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,127}$/))

const publication = lazySchema((z) => {
  const versions = z.record(z.string(), z.string())
  const kinds = { blocks: versions, composites: versions, conditions: versions, repairs: versions }
  return z.strictObject({
    name: name(),
    document: z.string().min(1).max(limits.DOCUMENT_BYTES_MAX),
    definitionHash: z.string().refine(isHash),
    /** Versions to which names alone led then; absent where there are none. */
    pins: z.strictObject(kinds).partial().optional()
  })
})

const withdrawal = lazySchema((z) => z.strictObject({ name: name() }))

/**
 * `system.publish`: `{ name, document, definitionHash, pins? }`, worked out by the runtime from the
 * document. Another one under the name takes its place.
 */
export function publishDocument(work: SystemWork): Json {
  const { port, by, at } = work
  const { name: named, ...published } = payloadOf(work, publication())
  const key = `${PUBLISHED_PREFIX}${named}`
  const replaced = hashIn(recordedState(port).get(key))
  const entry = { at, by: { id: by.id, kind: by.kind }, ...published }
  // Its members are plain JSON: it was parsed from the payload.
  port.write(key, entry as unknown as JsonObject)
  return { name: named, definitionHash: published.definitionHash, replaced }
}

/** `system.withdraw`: `{ name }`; runs that have begun continue. */
export function withdrawDocument(work: SystemWork): Json {
  const { port } = work
  const { name: named } = payloadOf(work, withdrawal())
  const key = `${PUBLISHED_PREFIX}${named}`
  const withdrawn = hashIn(recordedState(port).get(key))
  if (withdrawn === null) {
    const problem = 'no document is published under this name'
    return port.fail('not_published', { name: named, problem })
  }
  port.write(key, undefined)
  return { name: named, withdrawn }
}

function hashIn(entry: Json | undefined): string | null {
  const { definitionHash } = (entry ?? {}) as JsonObject
  return isHash(definitionHash) ? definitionHash : null
}

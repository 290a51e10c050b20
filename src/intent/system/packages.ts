import { grantsOf } from '../../capability/index.js'
import { isHash, type Json, lazySchema, limits } from '../../core/index.js'
import { codeHashIn, installedKey } from '../package-cache.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import type { SystemWork } from './system-work.js'

const id = lazySchema((z) =>
  z
    .string()
    .max(64)
    .regex(/^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/)
)
const removal = lazySchema((z) => z.strictObject({ id: id() }))
const installation = lazySchema((z) =>
  z.strictObject({
    id: id(),
    version: z.string().min(1).max(limits.ACTION_LENGTH_MAX),
    codeHash: z.string().refine(isHash)
  })
)

/**
 * `package.install`: `{ id, version, codeHash }`; the bytes are in the content store already. Other
 * code under the same id takes its place, keeps the data, and needs its own grants (K5).
 */
export function installPackage(work: SystemWork): Json {
  const { port, by, at } = work
  const { id: name, version, codeHash } = payloadOf(work, installation())
  const key = installedKey(name)
  const replaced = codeHashIn(recordedState(port).get(key)) ?? null
  const author = { id: by.id, kind: by.kind }
  if (replaced !== codeHash) port.write(key, { at, by: author, codeHash, version })
  return { package: name, codeHash, replaced }
}

/** `package.uninstall`: `{ id }`; its grants go with it, its data stays. */
export async function uninstallPackage(work: SystemWork): Promise<Json> {
  const { port, identity } = work
  const { id: name } = payloadOf(work, removal())
  const key = installedKey(name)
  const codeHash = codeHashIn(recordedState(port).get(key))
  if (codeHash === undefined) return port.fail('not_installed', { package: name })
  const granted = await port.list(grantsOf({ identity, codeHash }))
  port.write(key, undefined)
  for (const grant of granted) port.write(grant, undefined)
  return { package: name, codeHash, revoked: granted.length }
}

import { ABI_VERSIONS, ENGINE_WASM_SHA256 } from '../../capability/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  lazySchema,
  limits
} from '../../core/index.js'
import { EXPRESSION_PROFILE } from '../../expression/index.js'
import { KERNEL_VERSION } from '../kernel-version.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import type { SystemWork, Versions } from './system-work.js'

/** State entry with the versions under which the receipts after it were made. */
export const VERSIONS_KEY = 'system/versions'

/**
 * Those of this program. `abi` is the oldest interface of packages that it runs: which one a
 * package has is part of its code hash, and of the profile of its receipts.
 */
export const programVersions: Versions = {
  abi: ABI_VERSIONS[0],
  engine: ENGINE_WASM_SHA256,
  expressions: EXPRESSION_PROFILE,
  kernel: KERNEL_VERSION
}

/** Those of a ledger without the entry: what the first release had. Never to be changed. */
const firstVersions: Versions = {
  abi: 'tally-abi/1',
  engine: '105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232',
  expressions: 'tally-cel/1',
  kernel: '1'
}

/** The versions that a state entry says, as text or value. */
export function versionsIn(entry: Json | undefined): Versions {
  const { versions } = isJsonObject(entry) ? entry : {}
  return isJsonObject(versions) ? (versions as unknown as Versions) : firstVersions
}

export function sameVersions(one: Versions, other: Versions): boolean {
  return canonicalize({ ...one }) === canonicalize({ ...other })
}

const upgrade = lazySchema((z) => {
  const version = z.string().min(1).max(limits.ACTION_LENGTH_MAX)
  return z.strictObject({ to: z.record(version, version) })
})

/**
 * `system.upgrade`: `{ to }`, the versions of the program that does it. The receipt tells them from
 * the earlier ones; what comes before it in the chain was made under those.
 */
export function upgradeVersions(work: SystemWork): Json {
  const { port, by, at, versions } = work
  const { to } = payloadOf(work, upgrade())
  const ours = port.recorded === undefined ? versions : versionsThen(port, to)
  if (!sameVersions(to, ours)) {
    const problem = 'they are not those of this program'
    return port.fail('other_versions', { problem, versions: ours })
  }
  const from = versionsIn(recordedState(port).get(VERSIONS_KEY))
  port.write(VERSIONS_KEY, { at, by: { id: by.id, kind: by.kind }, versions: to })
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()
  const changed = names.filter((name) => from[name] !== to[name])
  return { from, to, changed } as unknown as JsonObject
}

/**
 * Versions of the program that did it, which a replay by a later one cannot work out: those that
 * its refusal names, and those that it was asked for if it has agreed.
 */
function versionsThen({ recordedFailure }: SystemWork['port'], to: Versions): Versions {
  const { details } = recordedFailure ?? {}
  const { versions } = isJsonObject(details) ? details : {}
  return isJsonObject(versions) ? (versions as unknown as Versions) : to
}

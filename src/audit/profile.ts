import { ABI_VERSIONS, sandboxProfile } from '../capability/index.js'
import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  runtimeProfile
} from '../core/index.js'
import { EXPRESSION_PROFILE } from '../expression/index.js'

/** The versioned names that receipts of this process carry (formats.md §3 `profile`). */
export function currentProfile(): JsonObject {
  return { ...runtimeProfile(), cel: EXPRESSION_PROFILE }
}

const ours: ReadonlySet<string> = new Set([
  ...ABI_VERSIONS.map((abi) => canonicalize(sandboxProfile(abi))),
  canonicalize(currentProfile())
])

/**
 * Whether what has this profile must come out here as it did there: trusted code of this process,
 * and packages of this sandbox, which does not depend on the Node version (D5).
 */
export function isOurs(profile: Json): boolean {
  return ours.has(canonicalize(profile))
}

/** Whether a receipt with this profile is one of trusted code, not of a package or its sandbox. */
export function isOfTrustedCode(profile: Json): boolean {
  return isJsonObject(profile) && Object.hasOwn(profile, 'cel')
}

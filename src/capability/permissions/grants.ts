import { type Hash, type IdentityId, isPublicKey } from '../../core/index.js'
import { readOnlyCapabilities } from '../manifest/capabilities.js'
import { packageId } from '../manifest/schema.js'
import { approverKey, grantKey, preferenceKey } from './keys.js'
import { mayAdminister, type Principal } from './principal.js'
import type { StatePort, StateReader } from './state.js'

/** The code that a grant is about. Other code under the same package id has no part in it (T18). */
export interface GrantedCode {
  readonly identity: IdentityId
  readonly codeHash: Hash
}

/** Who changes permissions, and when in integer seconds; both stand in the entry. */
export interface Authorship {
  readonly by: Principal
  readonly at: number
}

/** What became of a change of permissions. A refusal leaves the state as it was. */
export type PermissionChange =
  | { readonly ok: true; readonly changed: readonly string[] }
  | {
      readonly ok: false
      readonly code: 'not_permitted' | 'invalid_subject'
      readonly message: string
    }

/** Denied unless the state holds this very grant (semantics.md K5). */
export function isGranted(
  state: StateReader,
  grant: GrantedCode & { readonly capability: string }
): boolean {
  return state.get(grantKey(grant)) !== undefined
}

/** Declared capabilities that are not granted, sorted. */
export function missing(
  state: StateReader,
  code: GrantedCode & { readonly capabilities: readonly string[] }
): readonly string[] {
  return code.capabilities.filter((capability) => !isGranted(state, { ...code, capability })).sort()
}

/** Grants capabilities to one code; those granted already keep their entry. */
export function grant(
  state: StatePort,
  change: GrantedCode & Authorship & { readonly capabilities: readonly string[] }
): PermissionChange {
  if (!mayAdminister(state, change.by)) return notPermitted(change.by)
  const changed = missing(state, change)
  for (const capability of changed) {
    state.set(grantKey({ ...change, capability }), authorship(change))
  }
  return { ok: true, changed }
}

/** Takes grants back; the entries are gone, and the receipt of the change tells who did it. */
export function revoke(
  state: StatePort,
  change: GrantedCode & Authorship & { readonly capabilities: readonly string[] }
): PermissionChange {
  if (!mayAdminister(state, change.by)) return notPermitted(change.by)
  const changed = change.capabilities
    .filter((capability) => isGranted(state, { ...change, capability }))
    .sort()
  for (const capability of changed) state.delete(grantKey({ ...change, capability }))
  return { ok: true, changed }
}

/**
 * What a policy that grants reading without asking would grant: the declared capabilities by which
 * nothing changes. Written with `grant`, so that it is a grant like any other.
 */
export function readOnlyOf(capabilities: readonly string[]): readonly string[] {
  return capabilities.filter((capability) => readOnlyCapabilities.has(capability)).sort()
}

/** Makes one package the provider of a canonical name or an action; null takes it back (K4). */
export function prefer(
  state: StatePort,
  change: Authorship & { readonly subject: string; readonly provider: string | null }
): PermissionChange {
  if (!mayAdminister(state, change.by)) return notPermitted(change.by)
  const { subject, provider } = change
  if (subject === '' || (provider !== null && !packageId().safeParse(provider).success)) {
    return { ok: false, code: 'invalid_subject', message: 'the subject or provider has no name' }
  }
  if (preferred(state, subject) === (provider ?? undefined)) return { ok: true, changed: [] }
  if (provider === null) state.delete(preferenceKey(subject))
  else state.set(preferenceKey(subject), { ...authorship(change), provider })
  return { ok: true, changed: [subject] }
}

/** The package preferred for a subject, if any. */
export function preferred(state: StateReader, subject: string): string | undefined {
  const entry = state.get(preferenceKey(subject))
  if (typeof entry !== 'object' || entry === null || !('provider' in entry)) return undefined
  return typeof entry.provider === 'string' ? entry.provider : undefined
}

/** Lets the holder of a key grant and answer waits, or no longer. Only the owner may (K13). */
export function setApprover(
  state: StatePort,
  change: Authorship & { readonly publicKey: string; readonly isApprover: boolean }
): PermissionChange {
  const { by, publicKey, isApprover } = change
  if (by.kind !== 'owner') return notPermitted(by)
  if (!isPublicKey(publicKey)) {
    return { ok: false, code: 'invalid_subject', message: 'an approver is named by its public key' }
  }
  const key = approverKey(publicKey)
  if ((state.get(key) !== undefined) === isApprover) return { ok: true, changed: [] }
  if (isApprover) state.set(key, authorship(change))
  else state.delete(key)
  return { ok: true, changed: [publicKey] }
}

function authorship({ by, at }: Authorship) {
  return { at, by: { id: by.id, kind: by.kind } }
}

function notPermitted({ kind }: Principal): PermissionChange {
  return {
    ok: false,
    code: 'not_permitted',
    message: `permissions are changed by the owner or an approver, not by a principal "${kind}"`
  }
}

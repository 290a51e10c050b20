import {
  grant,
  grantToPrincipal,
  type PermissionChange,
  type PrincipalGrantOutcome,
  prefer,
  revoke,
  revokeFromPrincipal,
  type StatePort,
  setApprover
} from '../../capability/index.js'
import {
  type Hash,
  isHash,
  type Json,
  type JsonObject,
  lazySchema,
  limits
} from '../../core/index.js'
import { codeHashIn, installedKey } from '../package-cache.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import { isRevoked } from './revoked.js'
import type { SystemWork } from './system-work.js'

const name = lazySchema((z) => z.string().min(1).max(limits.ACTION_LENGTH_MAX))

/** Who is granted; absent: the code itself. */
const principal = lazySchema((z) => z.strictObject({ kind: z.enum(['agent', 'peer']), id: name() }))

const grants = lazySchema((z) =>
  z.strictObject({
    principal: principal().optional(),
    /** Name of the code, for lists of what a principal may use. */
    subject: name().optional(),
    /** Package id: the code that is installed under it. */
    package: name().optional(),
    codeHash: z.string().refine(isHash).optional(),
    capabilities: z.array(name()).min(1).max(limits.MANIFEST_ENTRIES_MAX)
  })
)

/**
 * `system.grant`, `system.revoke`: `{ package | codeHash, capabilities }`; with `principal` what
 * that one may use of the code, by the owner only (K14).
 */
export function changeGrants(work: SystemWork, kind: 'grant' | 'revoke'): Json {
  const { port, identity, by, at } = work
  const given = payloadOf(work, grants())
  const codeHash = given.codeHash ?? installedCode(work, given.package)
  const { capabilities, principal, subject = codeHash } = given
  if (principal !== undefined) {
    const state = statePort(port)
    const change = { identity, principal, codeHash, capabilities, by, at, subject }
    const outcome =
      kind === 'grant' ? grantToPrincipal(state, change) : revokeFromPrincipal(state, change)
    return told(port, outcome, { codeHash, principal })
  }
  const change = kind === 'grant' ? grant : revoke
  return told(port, change(statePort(port), { identity, codeHash, capabilities, by, at }), {
    codeHash
  })
}

const preference = lazySchema((z) =>
  z.strictObject({ subject: name(), provider: name().nullable() })
)

/** `system.prefer`: `{ subject, provider }`; a provider of null takes the preference back. */
export function changePreference(work: SystemWork): Json {
  const { port, by, at } = work
  return told(port, prefer(statePort(port), { ...payloadOf(work, preference()), by, at }), {})
}

const approver = lazySchema((z) => z.strictObject({ publicKey: name(), isApprover: z.boolean() }))

/** `system.approver`: `{ publicKey, isApprover }`; by the owner only. */
export function changeApprover(work: SystemWork): Json {
  const { port, by, at } = work
  const { publicKey, isApprover } = payloadOf(work, approver())
  if (isApprover && isRevoked(recordedState(port), publicKey)) {
    return port.fail('key_revoked', { publicKey })
  }
  return told(port, setApprover(statePort(port), { publicKey, isApprover, by, at }), {})
}

function installedCode({ port }: SystemWork, id: string | undefined): Hash {
  const state = recordedState(port)
  const codeHash = id === undefined ? undefined : codeHashIn(state.get(installedKey(id)))
  return codeHash ?? port.fail('not_installed', { package: id ?? null })
}

function told(
  port: SystemWork['port'],
  change: PermissionChange | PrincipalGrantOutcome,
  about: { readonly codeHash?: Hash; readonly principal?: JsonObject }
): Json {
  if (change.ok) return { ...about, changed: [...change.changed] }
  const { code, message } = change
  return port.fail(code, { message })
}

/** State as the tables of permissions use it. */
export function statePort(port: SystemWork['port']): StatePort {
  return {
    ...recordedState(port),
    set: (key, value) => port.write(key, value),
    delete: (key) => port.write(key, undefined)
  }
}

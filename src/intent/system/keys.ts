import { setApprover } from '../../capability/index.js'
import {
  canonicalize,
  isJsonObject,
  isPublicKey,
  type Json,
  type JsonObject,
  lazySchema,
  type PublicKey
} from '../../core/index.js'
import { recordedState } from '../providers.js'
import { payloadOf } from './payload.js'
import { statePort } from './permissions.js'
import { replacedKey } from './revoked.js'
import type { SystemWork } from './system-work.js'

/** What the receipt of a rotation gives and writes, beside the proof that the ledger checks. */
export function keyRotation(rotation: {
  /** The key that signs the receipt. */
  readonly publicKey: PublicKey
  readonly newPublicKey: PublicKey
  /** Integer seconds. */
  readonly at: number
  /** Who asked for it (K13). */
  readonly principal: Json
}): { readonly resultText: string; readonly writes: ReadonlyMap<string, string> } {
  const { publicKey, newPublicKey, at, principal } = rotation
  const { id = null, kind = null } = isJsonObject(principal) ? principal : {}
  const entry = canonicalize({ at, by: { id, kind }, replacedBy: newPublicKey })
  return {
    resultText: canonicalize({ publicKey: newPublicKey, replaced: publicKey }),
    writes: new Map([[replacedKey(publicKey), entry]])
  }
}

const revocation = lazySchema((z) => z.strictObject({ publicKey: z.string().refine(isPublicKey) }))

/**
 * `system.key.revoke`: `{ publicKey }`, a key that a rotation has replaced. It says for good that
 * the key is not to be trusted: it can be no approver any more.
 */
export function revokeKey(work: SystemWork): Json {
  const { port, by, at } = work
  const { publicKey } = payloadOf(work, revocation())
  const entry = recordedState(port).get(replacedKey(publicKey))
  if (!isJsonObject(entry)) {
    const problem = 'it is no replaced key of this identity; rotate the key in force first'
    return port.fail('unknown_key', { publicKey, problem })
  }
  const author = { id: by.id, kind: by.kind }
  if (entry['revoked'] === undefined) {
    port.write(replacedKey(publicKey), { ...entry, revoked: { at, by: author } })
  }
  setApprover(statePort(port), { publicKey, isApprover: false, by, at })
  return { publicKey, revoked: true } satisfies JsonObject
}

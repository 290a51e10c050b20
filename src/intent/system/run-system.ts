import type { KernelPort } from '../../block/index.js'
import { mayAdminister, type Principal } from '../../capability/index.js'
import { type IdentityId, isJsonObject, type Json } from '../../core/index.js'
import type { Intent } from '../intent.js'
import { KERNEL_HASH, KERNEL_ID, KERNEL_VERSION } from '../kernel-version.js'
import { payloadTextOf } from '../payload-text.js'
import { recordedState } from '../providers.js'
import { installPackage, uninstallPackage } from './packages.js'
import { changeApprover, changeGrants, changePreference } from './permissions.js'

/** A change of the kernel's tables. */
export interface SystemWork {
  readonly port: KernelPort
  readonly identity: IdentityId
  readonly payload: Intent['payload']
  readonly by: Principal
  /** Integer seconds. */
  readonly at: number
}

const changes: Readonly<Record<string, (work: SystemWork) => Json | Promise<Json>>> = {
  'package.install': installPackage,
  'package.uninstall': uninstallPackage,
  'system.approver': changeApprover,
  'system.grant': (work) => changeGrants(work, 'grant'),
  'system.prefer': changePreference,
  'system.revoke': (work) => changeGrants(work, 'revoke')
}

/**
 * A system intent that changes state (K2), by the owner or an approver only (K13). Those that only
 * read are answered by the runtime and leave nothing: here they are refused.
 */
export function runSystem(
  port: KernelPort,
  intent: Intent,
  { identity }: { readonly identity: IdentityId }
): Json | Promise<Json> {
  const { action, payload, raw } = intent
  port.attribute({
    action,
    dappId: KERNEL_ID,
    provider: { kind: 'kernel', id: `${KERNEL_ID}@${KERNEL_VERSION}`, codeHash: KERNEL_HASH },
    payloadText: payloadTextOf(port, intent),
    ...(raw === undefined ? {} : { raw }),
    capabilitiesDeclared: [],
    isInputPrivate: false,
    isOutputPrivate: false
  })
  const change = changes[action]
  if (change === undefined) return port.fail('reads_only', { action })
  const by = principalOf(port.principal)
  if (by === undefined || !mayAdminister(recordedState(port), by)) {
    return port.fail('not_permitted', { action, principal: by?.kind ?? 'unknown' })
  }
  return change({ port, identity, payload, by, at: Math.floor(port.at / 1000) })
}

function principalOf(value: Json): Principal | undefined {
  if (!isJsonObject(value)) return undefined
  const { kind, id } = value
  if (typeof id !== 'string') return undefined
  if (kind === 'owner' || kind === 'agent' || kind === 'peer' || kind === 'package') {
    return { kind, id }
  }
  return undefined
}

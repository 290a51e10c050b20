import { singleStepUnitId } from '../../block/index.js'
import { mayAdminister, principalIn } from '../../capability/index.js'
import type { IntentPort } from '../../code/index.js'
import type { IdentityId, Json, RunId } from '../../core/index.js'
import type { Intent } from '../intent.js'
import { KERNEL_HASH, KERNEL_ID, KERNEL_VERSION } from '../kernel-version.js'
import { payloadTextOf } from '../payload-text.js'
import { recordedState } from '../providers.js'
import { archiveHistory } from './archive.js'
import { eraseSubject } from './erase.js'
import { createIdentity } from './identities.js'
import { revokeKey } from './keys.js'
import { installPackage, uninstallPackage } from './packages.js'
import { changeApprover, changeGrants, changePreference } from './permissions.js'
import { publishDocument, withdrawDocument } from './published.js'
import { quarantineRun, releaseRun } from './quarantine.js'
import { keepSchedule, pauseSchedule, removeSchedule, resumeSchedule } from './schedules.js'
import type { SystemWork, Versions } from './system-work.js'
import { takeOver } from './take-over.js'
import { upgradeVersions } from './versions.js'

const changes: Readonly<Record<string, (work: SystemWork) => Json | Promise<Json>>> = {
  'package.install': installPackage,
  'package.uninstall': uninstallPackage,
  'system.approver': changeApprover,
  'system.archive': archiveHistory,
  'system.erase': eraseSubject,
  'system.grant': (work) => changeGrants(work, 'grant'),
  'system.identity.create': createIdentity,
  'system.key.revoke': revokeKey,
  'system.prefer': changePreference,
  'system.publish': publishDocument,
  'system.quarantine': quarantineRun,
  'system.release': releaseRun,
  'system.revoke': (work) => changeGrants(work, 'revoke'),
  'system.schedule': keepSchedule,
  'system.schedule.pause': pauseSchedule,
  'system.schedule.remove': removeSchedule,
  'system.schedule.resume': resumeSchedule,
  'system.takeover': takeOver,
  'system.upgrade': upgradeVersions,
  'system.withdraw': withdrawDocument
}

/** Only the owner's, also where others may administer (K13). */
const ownerOnly: ReadonlySet<string> = new Set([
  'system.archive',
  'system.erase',
  'system.export',
  'system.identity.create',
  'system.import',
  'system.key.revoke',
  'system.key.rotate',
  'system.publish',
  'system.quarantine',
  'system.release',
  'system.schedule',
  'system.schedule.pause',
  'system.schedule.remove',
  'system.schedule.resume',
  'system.takeover',
  'system.upgrade',
  'system.withdraw'
])

/** What the runtime begins and ends: only it knows what the payload is to name. */
const singleStepOnly: ReadonlySet<string> = new Set([
  'system.archive',
  'system.erase',
  'system.identity.create',
  'system.publish',
  'system.quarantine',
  'system.schedule',
  'system.schedule.pause',
  'system.schedule.remove',
  'system.schedule.resume',
  'system.takeover'
])

/**
 * A system intent that changes state (K2), by the owner or an approver only (K13). Those that only
 * read are answered by the runtime and leave nothing: here they are refused.
 */
export function runSystem(
  port: IntentPort,
  intent: Intent,
  { identity, versions }: { readonly identity: IdentityId; readonly versions: Versions }
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
  const isKept = ownerOnly.has(action)
  if (change === undefined && !isKept) return port.fail('reads_only', { action })
  const by = principalIn(port.principal)
  const may = isKept ? by?.kind === 'owner' : by && mayAdminister(recordedState(port), by)
  if (by === undefined || may !== true) {
    return port.fail('not_permitted', { action, principal: by?.kind ?? 'unknown' })
  }
  const isLone = port.unitId === singleStepUnitId(port.runId as RunId)
  if (change === undefined || (singleStepOnly.has(action) && !isLone)) {
    return port.fail('not_in_documents', {
      problem: 'it is done as an intent of its own, not as a step of a document',
      fix: 'Submit it alone, with tally.intent or "tally intent".'
    })
  }
  return change({ port, identity, payload, by, at: Math.floor(port.at / 1000), versions })
}

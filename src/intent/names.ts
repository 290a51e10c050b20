/**
 * The leaf blocks that do an intent, by what its provider may do outside at most (B9). A composite
 * or a graph runs one with the payload of {@link Intent}; `intent.none` fits atomic composites.
 */
export const intentBlocks = {
  non_idempotent: 'intent',
  idempotent: 'intent.idempotent',
  none: 'intent.none'
} as const

/** Actions that the kernel does itself (K2). */
export const systemIntents = [
  'package.install',
  'package.uninstall',
  'system.approver',
  'system.archive',
  'system.corehash',
  'system.erase',
  'system.export',
  'system.grant',
  'system.identity.create',
  'system.import',
  'system.integrity',
  'system.key.revoke',
  'system.key.rotate',
  'system.packages',
  'system.permissions',
  'system.prefer',
  'system.publish',
  'system.published',
  'system.quarantine',
  'system.recover',
  'system.release',
  'system.replay',
  'system.revoke',
  'system.safe',
  'system.schedule',
  'system.schedule.pause',
  'system.schedule.remove',
  'system.schedule.resume',
  'system.stateroot',
  'system.takeover',
  'system.upgrade',
  'system.verify',
  'system.withdraw'
] as const

export type SystemIntent = (typeof systemIntents)[number]

const systemNames: ReadonlySet<string> = new Set(systemIntents)

export function isSystemIntent(action: string): action is SystemIntent {
  return systemNames.has(action)
}

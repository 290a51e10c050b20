import type { OpenWait } from '../../block/index.js'
import type { RunRecord } from '../../ledger/index.js'

export function isEnded(record: Pick<RunRecord, 'status'>): boolean {
  return record.status !== 'running' && record.status !== 'waiting'
}

/** What a message can end, of a run that is not in memory. */
export function waitsOf(record: RunRecord | undefined): readonly OpenWait[] {
  if (record === undefined || record.status !== 'waiting') return []
  return (record.last as unknown as { readonly waits: readonly OpenWait[] }).waits
}

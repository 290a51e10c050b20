import type { OpenWait } from '../../block/index.js'
import { isJsonObject, type Json } from '../../core/index.js'
import type { RunRecord } from '../../ledger/index.js'

export function isEnded(record: Pick<RunRecord, 'status'>): boolean {
  return record.status !== 'running' && record.status !== 'waiting'
}

/** What a message can end, of a run that is not in memory. What is no wait is left out. */
export function waitsOf(record: RunRecord | undefined): readonly OpenWait[] {
  if (record === undefined || record.status !== 'waiting') return []
  const waits = record.last['waits']
  return Array.isArray(waits) ? (waits as readonly Json[]).flatMap(waitIn) : []
}

/** Its other members are under its digest, which is compared where it is shown or answered. */
function waitIn(value: Json): readonly OpenWait[] {
  if (!isJsonObject(value)) return []
  const { token, digest, reason, actions } = value
  const isNamed = [token, digest, reason].every((member) => typeof member === 'string')
  return isNamed && Array.isArray(actions) ? [value as unknown as OpenWait] : []
}

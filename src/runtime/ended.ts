import type { RunRecord } from '../ledger/index.js'

export function isEnded(record: Pick<RunRecord, 'status'>): boolean {
  return record.status !== 'running' && record.status !== 'waiting'
}

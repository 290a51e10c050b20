import type { LogRecord } from '../ledger-api.js'
import type { Evidence, Receipt } from '../receipt/receipt.js'
import type { RecordItem } from '../record/record.js'

/** The signed records of an item as leaves of the log, beginning at `leaf`. */
export function logRecords(item: RecordItem, leaf: number): readonly LogRecord[] {
  const records: LogRecord[] = []
  if (item.receipt !== undefined) {
    const { text } = item.receipt
    records.push({ kind: 'receipt', leaf, text, receipt: JSON.parse(text) as Receipt })
  }
  if (item.evidence !== undefined) {
    const text = item.evidence
    const evidence = JSON.parse(text) as Evidence
    records.push({ kind: 'evidence', leaf: leaf + records.length, text, evidence })
  }
  return records
}

import type { VerificationReport } from '../../../audit/index.js'
import { shownLine } from './shown-text.js'

export type Failure = NonNullable<VerificationReport['failure']>

/** What is damaged, and where: a failure has the place of the receipt that it is at, or before. */
export function damageText({ index, field, key }: Failure): string {
  const of = key === undefined ? '' : ` of ${shownLine(key)}`
  const [kind = ''] = field.split('.')
  if (kind === 'evidence') return `Evidence${of}, before receipt ${index}, is not what was signed.`
  if (kind === 'journal' || kind === 'journalHash') {
    return `The journal${of}, at receipt ${index}, is not what was written.`
  }
  if (kind === 'note') return `The log is not the one that the note${of} is about.`
  if (ofLedger.has(kind)) return `The ledger is damaged at receipt ${index}.`
  return `Receipt ${index} is not what was signed.`
}

/** Whether the receipt itself is damaged, or what stands beside it. */
export function isOfReceipt({ field }: Pick<Failure, 'field'>): boolean {
  const [kind = ''] = field.split('.')
  return !ofLedger.has(kind) && !['evidence', 'journal', 'journalHash', 'note'].includes(kind)
}

/** Fields that are of no receipt, journal or evidence. */
const ofLedger: ReadonlySet<string> = new Set([
  'commit',
  'derived',
  'head',
  'lock',
  'state',
  'store'
])

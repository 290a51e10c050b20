import type {
  QuarantineMark,
  VerificationReport as StructuralReport,
  VerificationFailure
} from '../ledger/index.js'

import type { Difference } from './difference.js'

/** The first thing found wrong; everything before it stands. */
export interface AuditFailure extends VerificationFailure {
  /** For state: the value before. */
  readonly before?: string
}

/** What a verification found, checked, and did not check. Plain data. */
export interface VerificationReport extends Omit<StructuralReport, 'failure' | 'anchored'> {
  readonly failure?: AuditFailure
  /**
   * Whether everything was executed again too: `ok` says that nothing is contradicted, and code or
   * bodies that are not here contradict nothing (B10).
   */
  readonly complete: boolean
  /**
   * Present where the failure is code that gives something else than what was signed: the records
   * are whole (K10).
   */
  readonly difference?: Difference
  /** Runs that are quarantined, as the state says; all of them, whatever else was found. */
  readonly quarantined: readonly QuarantineMark[]
  /** Receipts that were done again, to the same result and the same changes. */
  readonly reexecuted: number
  /** Failed attempts and rolled back composites that were done again, to the same failure. */
  readonly reexecutedFailures: number
  /** The same by the profile that the receipts name (D5). */
  readonly reexecutedByProfile: Readonly<Record<string, number>>
  /**
   * Log records that notes from outside prove to have been there, of `logSize` (P5). `source` is
   * where the note that covers most comes from; null when none was given or none fits.
   */
  readonly anchored: StructuralReport['anchored'] & { readonly source: string | null }
  readonly elapsedMs: number
  /** All of it in one line, for people. */
  readonly line: string
}

/** The report in one line: `verify: 1 204 receipts, chain ok, signatures ok, state ok, …`. */
export function verificationLine(report: Omit<VerificationReport, 'line'>): string {
  const { receipts, evidence, reexecuted, reexecutedFailures, failure } = report
  const records = plural(evidence, 'evidence record')
  const amount = plural(receipts, 'receipt') + (evidence === 0 ? '' : ` and ${records}`)
  const held = quarantineText(report.quarantined)
  if (failure !== undefined) {
    return `verify: FAILED at ${failureText(failure)}; ${amount} before it${held}`
  }
  const failures = reexecutedFailures === 0 ? '' : ` and ${plural(reexecutedFailures, 'failure')}`
  const isAgain = reexecuted + reexecutedFailures > 0
  const of = reexecuted === receipts ? '' : ` of ${grouped(receipts)}`
  const again = isAgain ? `, re-executed ${grouped(reexecuted)}${of}${failures}` : ''
  const anchored = anchorText(report)
  return `verify: ${amount}, chain ok, signatures ok, state ok${again}; ${anchored}${held}`
}

function quarantineText(marks: readonly QuarantineMark[]): string {
  if (marks.length === 0) return ''
  const named = marks.slice(0, RUNS_SHOWN).map(({ run }) => run)
  const more = marks.length - named.length
  const rest = more > 0 ? ` and ${grouped(more)} more` : ''
  return `; quarantined: ${named.join(', ')}${rest}`
}

/** Quarantined runs that the line names. */
const RUNS_SHOWN = 3

function anchorText({ anchored }: Omit<VerificationReport, 'line'>): string {
  const { upTo, logSize, source, notes } = anchored
  if (source === null) {
    return `not anchored (${notes.length === 0 ? 'no note given' : 'no note fits'})`
  }
  const rest = logSize === upTo ? '' : `, ${grouped(logSize - upTo)} not anchored`
  return `anchored up to ${grouped(upTo)} of ${grouped(logSize)} (note from ${source})${rest}`
}

function failureText({ index, field, signed, computed, key, before }: AuditFailure): string {
  const about = key === undefined ? '' : ` (${shown(key)})`
  const was = before === undefined ? '' : `, was ${shown(before)}`
  return (
    `receipt ${grouped(index)}: ${field}${about}: ` +
    `signed ${shown(signed)}, computed ${shown(computed)}${was}`
  )
}

function plural(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`
}

const SHOWN_LENGTH = 160

function shown(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`
}

/** Digits in groups of three, with plain spaces: `1 204`. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ')
}

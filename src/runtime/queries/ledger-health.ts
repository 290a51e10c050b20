import type { LedgerMode, QuarantineMark } from '../../ledger/index.js'
import { type OpeningCause, type RemediedCause, remedied } from '../opening/opening-remedies.js'
import { quarantineWarning } from '../run/quarantine-refusal.js'
import type { HealthCheck } from './query-types.js'

/** What a ledger says of itself. */
export interface LedgerCondition {
  readonly mode: LedgerMode
  readonly receipts: number
  readonly isFollower: boolean
  readonly quarantined: readonly QuarantineMark[]
}

/** What opening it found, or would find. */
export interface OpeningFindings {
  readonly causes: readonly RemediedCause[]
  readonly warnings: readonly string[]
  readonly notChecked: readonly string[]
}

/** How a ledger is; `pid` is the process that holds it, if one does. */
export function ledgerHealth(
  { mode, receipts, isFollower, quarantined }: LedgerCondition,
  { causes, warnings, notChecked }: OpeningFindings,
  pid: number | undefined
): readonly HealthCheck[] {
  const holder = pid === undefined ? '' : `, held by process ${pid}`
  const held = quarantined.map(({ run }) => run).join(', ')
  const marked = held === '' ? '' : `, quarantined: ${held}`
  const shown = causes.length > 0 && mode !== 'poisoned' ? 'safe' : mode
  const found = `${shown}, ${receipts} receipts${holder}${marked}`
  const rest = notChecked.map(unchecked)
  const ledger = (status: HealthCheck['status'], message: string, fix: string | null = null) => [
    { name: 'ledger', status, message, fix },
    ...rest
  ]
  const [first, ...others] = causes
  if (first !== undefined) {
    const more = others.map(({ message, fix }) => failed(message, fix))
    return [failed(`${found}: ${first.message}`, first.fix), ...more, ...rest]
  }
  if (mode === 'restoring') return ledger('warning', found, restoringFix)
  if (mode !== 'ready') {
    return ledger('failed', found, 'Run "tally verify".')
  }
  if (isFollower) return ledger('warning', `imported, ${found}`, replicaFix)
  const [mark] = quarantined
  if (mark !== undefined) return ledger('warning', found, quarantineWarning(mark))
  if (warnings.length === 0) return ledger('ok', found)
  return ledger('warning', [found, ...warnings].join('; '), replayFix)
}

/**
 * A service gives all causes that it found when it opened the ledger; one of 0.1.0 the first. What
 * opening found goes with its first cause: one that came later stands alone.
 */
export function findingsOf(condition: {
  readonly cause: OpeningCause | null
  readonly causes?: readonly OpeningCause[]
  readonly warnings: readonly string[]
}): OpeningFindings {
  const { cause, causes: found = [], warnings } = condition
  const causes = cause === null ? [] : found[0]?.message === cause.message ? found : [cause]
  return { causes: causes.map(remedied), warnings, notChecked: [] }
}

const restoringFix = 'Once the import has ended, stop the process that holds it, and open it again.'
const replicaFix = 'It can be read and verified; "tally import --take-over" lets it run here.'
const replayFix = 'Run "tally verify --replay" with the configuration that has the code.'

function unchecked(what: string): HealthCheck {
  return { name: 'not checked', status: 'ok', message: what, fix: null }
}

function failed(message: string, fix: string): HealthCheck {
  return { name: 'ledger', status: 'failed', message, fix }
}
